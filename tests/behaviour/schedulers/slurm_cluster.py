"""A whole Slurm cluster on this machine: munge, controller, two nodes, REST service; no slurmdbd.

Every daemon listens on a port that the kernel chose and keeps its files in one folder; nothing of
the machine's own Slurm is touched. Needs root: slurmd starts jobs as their users.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Two nodes with four slots each.
NODES = ("n0", "n1")
#: Long enough for a test to read an ended job before the controller may forget it.
MIN_JOB_AGE = 20

_CONF = """\
ClusterName=hall
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={root}/munge/socket
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={root}/jwt.key
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmdPidFile={root}/%n.pid
SlurmctldPidFile={root}/slurmctld.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
RebootProgram=/bin/true
MinJobAge={age}
KillWait=1
JobCompType={jobcomp}
JobCompLoc={root}/jobcomp.log
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={n0} CPUs=4 RealMemory=1000 State=UNKNOWN
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def free_ports(count: int) -> list[int]:
    """Return ports that the kernel just gave out, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_until(what: str, holds: Callable[[], bool], seconds: float = 60) -> None:
    """Poll until something holds; fail with its name after a time-out."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            message = f"waited {seconds:g} s in vain: {what}"
            raise TimeoutError(message)
        time.sleep(0.1)


@dataclass(kw_only=True)
class SlurmCluster:
    """A running cluster."""

    root: Path
    jobcomp: str = "jobcomp/filetxt"
    rest_port: int = 0
    #: a job that ended right after the start
    forgotten: int = 0
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Start every daemon and wait until both nodes are idle."""
        self.root.chmod(0o755)
        for folder in ("state", "munge", "spool/n0", "spool/n1", "work"):
            (self.root / folder).mkdir(parents=True)
        self._key("munge.key", 64)
        self._key("jwt.key", 32)
        ctld, n0, n1, self.rest_port = free_ports(4)
        self.conf.write_text(
            _CONF.format(
                host=socket.gethostname().split(".")[0],
                root=self.root,
                age=MIN_JOB_AGE,
                jobcomp=self.jobcomp,
                ctld=ctld,
                n0=n0,
                n1=n1,
            )
        )
        self._munge()
        self._spawn("slurmctld", "-D", "-f", str(self.conf))
        for node in NODES:
            self._spawn("slurmd", "-D", "-N", node, "-f", str(self.conf))
        wait_until("both nodes are idle", self._idle)
        self._rest()

    def stop(self) -> None:
        """End every daemon, and the jobs with them."""
        self.command("scancel", "-u", "root", check=False)
        for process in reversed(self._running):
            process.terminate()
        for process in reversed(self._running):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def conf(self) -> Path:
        """Return the cluster's slurm.conf."""
        return self.root / "slurm.conf"

    @property
    def work(self) -> Path:
        """Return the folder from which jobs are submitted."""
        return self.root / "work"

    @property
    def env(self) -> dict[str, str]:
        """Return an environment in which Slurm's commands speak to this cluster."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("SLURM")}
        return {**kept, "SLURM_CONF": str(self.conf)}

    @property
    def rest_url(self) -> str:
        """Return where slurmrestd listens."""
        return f"http://127.0.0.1:{self.rest_port}"

    def command(self, *argv: str, check: bool = True) -> str:
        """Run one of Slurm's commands and return what it printed."""
        code, out, complaint = self.ended(*argv)
        if check and code:
            message = f"{' '.join(argv)}: {complaint}"
            raise AssertionError(message)
        return out.strip()

    def ended(self, *argv: str) -> tuple[int, str, str]:
        """Run one of Slurm's commands and return its exit code, output and complaints."""
        ran = subprocess.run(
            argv, env=self.env, cwd=self.work, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stdout, ran.stderr

    def token(self) -> str:
        """Return a fresh token of root."""
        return self.command("scontrol", "token", "username=root", "lifespan=600").partition("=")[2]

    def submit(self, script: str, *options: str) -> int:
        """Submit a batch script and return its number."""
        path = self.work / f"job-{secrets.token_hex(4)}.sh"
        path.write_text(f"#!/bin/bash\n{script}\n")
        said = self.command("sbatch", "--parsable", *options, str(path))
        return int(said.split(";")[0])

    def state(self, job: int | str) -> str:
        """Return a job's state as the controller has it; empty where it has forgotten the job."""
        shown = self.command("scontrol", "-o", "show", "job", str(job), check=False)
        return shown.partition("JobState=")[2].split(" ")[0]

    def wait_for(self, job: int | str, *states: str, seconds: float = 40) -> None:
        """Wait until a job is in one of these states."""
        wait_until(
            f"job {job} is {' or '.join(states)}", lambda: self.state(job) in states, seconds
        )

    def wait_for_step(self, job: int) -> None:
        """Wait until the first `srun` of a job runs."""
        wait_until(
            f"job {job} has a step",
            lambda: (
                f"StepId={job}.0 " in self.command("scontrol", "-o", "show", "step", check=False)
            ),
        )

    def wait_for_node(self, node: str, word: str) -> None:
        """Wait until a word is in a node's state."""
        wait_until(f"{node} is {word}", lambda: word in self.node_state(node))

    def node_state(self, node: str) -> str:
        """Return a node's state as scontrol prints it."""
        shown = self.command("scontrol", "-o", "show", "node", node)
        return shown.partition(" State=")[2].split(" ")[0]

    def clear(self) -> None:
        """Take away every job, reservation and drain."""
        self.command("scancel", "-u", "root", check=False)
        for line in self.command("scontrol", "-o", "show", "reservation", check=False).splitlines():
            name = line.partition("ReservationName=")[2].split(" ")[0]
            if name:
                self.command("scontrol", "delete", f"reservationname={name}", check=False)
        for node in NODES:
            self.command("scontrol", "cancel_reboot", node, check=False)
            self.command("scontrol", "update", f"nodename={node}", "state=resume", check=False)
        wait_until("both nodes are idle again", self._idle)

    def _idle(self) -> bool:
        shown = self.command("sinfo", "-h", "-N", "-o", "%T", check=False)
        return shown.split() == ["idle"] * len(NODES)

    def _key(self, name: str, size: int) -> None:
        path = self.root / name
        path.write_bytes(secrets.token_bytes(size))
        path.chmod(0o600)

    def _munge(self) -> None:
        folder = self.root / "munge"
        self._spawn(
            *("munged", "--force", "--foreground", "--num-threads=2"),
            f"--key-file={self.root / 'munge.key'}",
            f"--socket={folder / 'socket'}",
            f"--pid-file={folder / 'pid'}",
            f"--log-file={folder / 'log'}",
            f"--seed-file={folder / 'seed'}",
        )
        wait_until("munged listens", (folder / "socket").exists)

    def _rest(self) -> None:
        # slurmrestd refuses to run as root or as SlurmUser
        nobody = pwd.getpwnam("nobody")
        shutil.chown(self.root / "jwt.key", nobody.pw_uid)
        self._spawn(
            *("slurmrestd", "-s", "openapi/v0.0.38", "-a", "rest_auth/jwt"),
            f"127.0.0.1:{self.rest_port}",
            user=nobody.pw_uid,
            group=nobody.pw_gid,
            env={**self.env, "SLURM_JWT": "daemon"},
        )
        wait_until("slurmrestd listens", self._rest_listens)

    def _rest_listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.rest_port)) == 0

    def _spawn(
        self,
        *argv: str,
        user: int | None = None,
        group: int | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        output = (self.root / f"{argv[0]}.{len(self._running)}.out").open("wb")
        groups: Sequence[int] | None = None if group is None else [group]
        with output:
            self._running.append(
                subprocess.Popen(
                    argv,
                    env=env or self.env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    user=user,
                    group=group,
                    extra_groups=groups,
                )
            )
