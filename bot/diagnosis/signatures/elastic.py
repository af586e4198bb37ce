"""Messages of torchrun's agent and of Python."""

from __future__ import annotations

from bot.diagnosis.kinds import Kind
from bot.diagnosis.signatures.row import Signature, sig

#: Messages of torchrun's agent and of Python.
ELASTIC: tuple[Signature, ...] = (
    sig(
        Kind.PY_LOOKUP_FAILED,
        ("gaierror", "getaddrinfo failed"),
        r"^(?:[A-Za-z]\w*: )?(?:socket\.)?gaierror: (?:\[Errno (?P<code>-?\d+)\] ?)?(?P<text>.*)",
        "Python",
        "a look-up failed in this process; the traceback names neither the name nor the rank",
        example="socket.gaierror: [Errno -3] Temporary failure in name resolution",
    ),
    sig(
        Kind.OWN_NAME_FRAME,
        ("_matches_machine_hostname", "gethostby", "get_local_ip", "getaddrinfo("),
        r"in _matches_machine_hostname|in get_(?:local_)?ip\b|in _get_fq_hostname|"
        r"(?:gethostby\w+|getaddrinfo)\(\s*(?:socket\.)?(?:gethostname|getfqdn|os\.uname|"
        r"platform\.node|os\.environ\[.HOSTNAME|this_host\b|hostname\b)",
        "Python, torch 1.9",
        "a frame that looks up the machine's own name",
        example='  File "torch/distributed/elastic/rendezvous/utils.py", line 159, in '
        "_matches_machine_hostname",
    ),
    sig(
        Kind.RDZV_CONNECTION,
        ("RendezvousConnectionError",),
        r"RendezvousConnectionError: (?P<text>The connection to the C10d store has failed)",
        "torch 1.9",
        "the agent lost or never had the rendezvous store",
        example="torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: "
        "The connection "
        "to the C10d store has failed. See inner exception for details.",
    ),
    sig(
        Kind.RDZV_TIMEOUT,
        ("RendezvousTimeoutError", "rendezvous timed out", "Timed out waiting for rendezvous"),
        r"RendezvousTimeoutError|[Rr]endezvous timed out|Timed out waiting for rendezvous",
        "torch 1.9",
        "the other agents did not come in time",
        example="torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
    ),
    sig(
        Kind.RDZV_CLOSED,
        ("RendezvousClosedError", "RendezvousGracefulExitError"),
        r"Rendezvous(?:Closed|GracefulExit)Error",
        "torch 1.9, 2.3",
        "another agent ended the rendezvous: fall-out",
        example="torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
    ),
    sig(
        Kind.NODE_NAMED,
        ("The node ",),
        r"The node '(?P<local>[^'\s]+?)_\d+_\d+' (?:has failed to|attempts "
        r"to|joined|has joined|was)",
        "torch 1.9",
        "names the machine that logs",
        example="The node 'h200-02.pool-b.trn.internal_23781_0' has failed to shutdown the "
        "rendezvous '7741' due to an error of type RendezvousConnectionError.",
    ),
    sig(
        Kind.ELASTIC_AGENT,
        (
            "torch/distributed/run.py",
            "torch/distributed/launcher/api.py",
            "torch/distributed/elastic/",
            "torch.distributed.run:",
            "torch.distributed.launcher",
            "bin/torchrun",
        ),
        r"torch[./]distributed[./](?:run|launcher|elastic)|bin/torchrun",
        "torch 1.9",
        "a torchrun agent runs here: task numbers are node ranks, not ranks",
        example="W1130 17:28:08.208000 296 torch/distributed/run.py:874] ",
    ),
    sig(
        Kind.LAUNCH,
        (
            "rdzv_endpoint",
            "rdzv-endpoint",
            "--standalone",
            "--master_addr",
            "--master-addr",
            "MASTER_ADDR",
            "nnodes",
            "NNODES",
            "NUM_NODES",
            "num_machines",
            "max_nodes",
            "RANK=",
            "node_rank",
            "node-rank",
            "srun -N",
            "#SBATCH -N",
            "--nodes",
            "WORLD INFO DICT",
            "]$ ",
            ":~$",
            ":~/",
            ":~#",
            ":/workspace",
            "group_world_size=",
            "group_rank=",
            "global_ranks=[",
        ),
        r"(?:(?:rdzv_endpoint\s*[:=]|--rdzv[-_]endpoint[= ])\s*['\"]?(?P<endpoint>[^\s'\",]*)|"
        r"(?P<standalone>--standalone)|"
        r"(?:--nnodes[= ]|\bnnodes\s*[=:]\s*|(?:SLURM_|\b)NNODES=|SLURM_(?:JOB_)?NUM_NODES=|"
        r"\bnum_machines['\"]?\s*[:=]\s*|\bmax_nodes\s*[:=]\s*|(?:srun|SBATCH) -N ?|"
        r"\bgroup_world_size=)['\"]?(?P<nnodes>\d+)(?::(?P<most>\d+))?(?![\d-])|"
        r"(?:\bRANK=|--node[-_]rank[= ])(?P<own>\d+)\b|"
        r"--nodes[= ](?P<nodes>\d+)\b(?![\d-])|"
        r"WORLD INFO DICT: \{['\"](?P<lone>[\w.-]+)['\"]: \[[\d, ]*\]\}|"
        r"\bgroup_rank=(?P<group_rank>\d+)|\bglobal_ranks=\[(?P<global_ranks>[\d, -]+)\]|"
        r"(?:^|\s)\[?\w[\w.-]*@(?P<prompt>[A-Za-z0-9][\w.-]*)(?::[~/]| )[^\]$#\n]{0,80}\]?[$#]"
        r"(?:\s|$)|"
        r"(?:--master[-_]addr[= ]|MASTER_ADDR\s*[:=]\s*)['\"]?(?P<master>[\w.:\[\]-]+))",
        "any",
        "how the job was launched",
        example="I1130 17:48:46.642000 23782 torch/distributed/launcher/api.py:254]   rdzv_endpoint"
        "            : 10.42.0.10:29500",
    ),
    sig(
        Kind.HOSTNAME_ASKED,
        (" hostname",),
        r"(?:^|[$#+] )hostname(?: -[sf])?\s*$",
        "any shell",
        "the next line is the name of the machine",
        example="$ hostname",
    ),
    sig(
        Kind.RENDEZVOUS_DONE,
        ("Rendezvous complete", "is complete. Final state"),
        r"Rendezvous complete for workers|Rendezvous version \d+ is complete",
        "torch 1.9",
        "all agents met; the workers' own store comes next",
        example="INFO:torch.distributed.elastic.agent.server.api:[default] Rendezvous complete for "
        "workers. Result:",
    ),
    sig(
        Kind.ROOT_CAUSE,
        ("Root Cause (first observed failure)", "Failures:"),
        r"(?P<root>Root Cause \(first observed failure\))|^Failures:\s*$",
        "torch 1.9",
        "a table follows: host, rank and exit code of the first failure that this agent saw",
        not_means="the first failure of the job: it is the first of one agent",
        example="Root Cause (first observed failure):",
    ),
    sig(
        Kind.TRACEBACK,
        ("Traceback (most recent call last)",),
        r"Traceback \(most recent call last\)",
        "Python",
        "an exception follows; its last line says which",
        example="Traceback (most recent call last):",
    ),
)
