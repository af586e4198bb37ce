"""Messages of launchers, schedulers and shells."""

from __future__ import annotations

from bot.diagnosis.kinds import Kind
from bot.diagnosis.signatures.row import Signature, sig

#: Messages of launchers, schedulers and shells.
LAUNCHERS: tuple[Signature, ...] = (
    sig(
        Kind.TASK_ENDED,
        ("srun: error: ",),
        r"srun: error: (?P<node>[\w.-]+): tasks? (?P<tasks>[\d,\[\]-]+): (?P<how>Exited with exit "
        r"code (?P<exit>\d+)|[A-Z][\w ]*?)(?: \(core dumped\))?\s*$",
        "Slurm",
        "links a task to its machine, and says how it ended",
        example="srun: error: node-2: tasks 4-5: Terminated",
    ),
    sig(
        Kind.CANCELLED,
        ("DUE TO TIME LIMIT", "CANCELLED AT", "forcing job termination", "Job step aborted"),
        r"\*\*\* (?:JOB|STEP) \S+ ON (?P<node>\S+) CANCELLED AT|forcing job termination|"
        r"Job step aborted",
        "Slurm",
        "the tasks that end after this were ended from outside",
        example="slurmstepd: error: *** STEP 9.0 ON node-0 CANCELLED AT 2026-11-30T17:30:03 DUE TO "
        "TIME LIMIT ***",
    ),
    sig(
        Kind.NOT_A_LAUNCHER,
        ("rsync error", "Could not read from remote repository"),
        r"rsync error|Could not read from remote repository",
        "git, rsync",
        "the ssh before this line was a copy's or a clone's, not a launcher's",
        example="fatal: Could not read from remote repository.",
    ),
    sig(
        Kind.SSH_LOOKUP_FAILED,
        ("Could not resolve hostname",),
        r"ssh: Could not resolve hostname (?!\S*git\S*\.|bitbucket|huggingface|hf\.co)"
        r"(?P<host>[^\s]*?): (?P<text>.*)",
        "OpenSSH under mpirun, horovodrun, pdsh",
        "the launcher's machine could not look a worker up",
        example="ssh: Could not resolve hostname horovod-worker-0: Temporary failure in name "
        "resolution",
    ),
    sig(
        Kind.SECTION,
        ("==> ",),
        r"^==> (?P<file>.+?) <==\s*$",
        "tail",
        "what follows stands in this file",
        example="==> logs/h200-01.rank0.log <==",
    ),
    sig(
        Kind.NODES,
        ("NODELIST", "odelist", "pdsh -w", "clush -w"),
        r"(?:SLURM_(?:JOB_|STEP_)?NODELIST\s*[=:]\s*|[Nn]ode[ "
        r"_]?list\s*[=:]\s*|(?:pdsh|clush) -w "
        r"?)['\"]?(?P<nodes>[A-Za-z][\w.-]*(?:\[[\d,-]+\])?[\w.-]*"
        r"(?:,[A-Za-z][\w.-]*(?:\[[\d,-]+\])?[\w.-]*)*)",
        "Slurm",
        "the machines of the job",
        example="SLURM_JOB_NODELIST=node-[0-3]",
    ),
    sig(
        Kind.WORLD_SIZE,
        ("world_size", "world size", "WORLD_SIZE", "initializing ddp with size"),
        r"(?:\bworld[ _]size['\"]?\s*[=:]?\s*|WORLD_SIZE\s*[=:]\s*|initializing ddp with size )"
        r"(?P<world>\d{1,6})\b",
        "any",
        "how many ranks there are to be",
        example="DEBUG 08-02 08:50:03 parallel_state.py:803] world_size=16 rank=0 local_rank=0",
    ),
)
