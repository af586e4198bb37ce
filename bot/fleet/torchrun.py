"""Where the ranks of a torchrun job run: only a static rendezvous keeps the order of the hosts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from bot.errors import PlacementError
from bot.fleet.placement import Known, Placement, laid_out

#: Values of `--node-rank` that number the nodes in the order of the step's node list, given one
#: torchrun a node (srun(1): SLURM_NODEID; SLURM_PROCID is the same with one task a node).
_IN_NODE_ORDER = frozenset({"SLURM_NODEID", "SLURM_PROCID"})
_ASSIGNED = re.compile(r"^\w+=", re.ASCII)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?", re.ASCII)
#: Environment variables stand in for options (`torch.distributed.argparse_util.env`).
_PROGRAMS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")


@dataclass(frozen=True, kw_only=True, slots=True)
class Torchrun:
    """What a torchrun command says about placement; None is what it leaves open.

    Source: `torch/distributed/run.py`, whose default rendezvous is `static`.
    """

    #: fewest and most nodes
    nnodes: tuple[int, int] | None = None
    #: None where it is `gpu`, `cpu` or `auto`, or a variable
    nproc_per_node: int | None = None
    rdzv_backend: str = "static"
    #: as written: a number, or a variable of the shell
    node_rank: str | None = None

    @property
    def elastic(self) -> bool:
        """Tell whether the rendezvous hands out node ranks in an order of its own."""
        low, high = self.nnodes or (1, 1)
        return self.rdzv_backend != "static" or low != high


def read_command(text: str) -> Torchrun | None:
    """Return what the torchrun command in a script or a process's command line says.

    None where there is no torchrun, or none with anything after it (`which torchrun`). Raises
    PlacementError where a script holds several that do not agree.
    """
    joined = text.replace("\\\n", " ")
    found: Torchrun | None = None
    for line in joined.splitlines():
        words = _words(line)
        start = next((i for i, word in enumerate(words) if _is_torchrun(word)), None)
        if start is None:
            continue
        after = list(takewhile(_is_argument, words[start + 1 :]))
        if not after:
            continue
        read = _options(after)
        if found not in {None, read}:
            raise PlacementError("the script starts torchrun in more than one way; say which.")
        found = read
    return found


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        # a quote that closes on another line: options before it still stand apart
        words = [word.strip("\"'") for word in line.split()]
    # `bash -c 'torchrun …'` and `LAUNCHER="torchrun …"` hold the command in one word
    return [part for word in words for part in (_inner(word) if "torch" in word else [word])]


def _inner(word: str) -> list[str]:
    return [part.strip("\"'") for part in _ASSIGNED.sub("", word).split()]


def _is_torchrun(word: str) -> bool:
    return word.rsplit("/", 1)[-1].rstrip(")") in _PROGRAMS


def _is_argument(word: str) -> bool:
    """Tell whether a word still belongs to the command: not a redirection, pipe or list."""
    return not word.startswith((">", "<", "|", "&", ";", "1>", "2>"))


def _options(words: Sequence[str]) -> Torchrun:
    told: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in {"-r", "-t"}:
            next(rest, "")
        if word.startswith("-") and not word.startswith("--"):
            continue
        if not word.startswith("--"):
            # the script to run: what follows is not torchrun's
            break
        name, equals, value = word[2:].partition("=")
        name = name.replace("_", "-")
        if name in _FLAGS:
            told[name] = ""
        else:
            told[name] = value if equals else next(rest, "")
    backend = "c10d" if "standalone" in told else told.get("rdzv-backend", "static")
    return Torchrun(
        nnodes=(1, 1) if "standalone" in told else _nodes(told.get("nnodes", "1:1")),
        nproc_per_node=_number(told.get("nproc-per-node", "1")),
        rdzv_backend=backend.lower(),
        node_rank=told.get("node-rank"),
    )


#: Options of torchrun without a value.
_FLAGS = frozenset({"standalone", "module", "no-python", "run-path", "use-env", "help"})


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _nodes(text: str) -> tuple[int, int] | None:
    low, _, high = text.partition(":")
    least, most = _number(low), _number(high or low)
    return None if least is None or most is None else (least, most)


def place(
    command: Torchrun, hosts: Sequence[str], *, nproc_per_node: int | None = None
) -> Placement:
    """Return where the ranks run when torchrun is started once on each host.

    With a static rendezvous, node rank N has the ranks from `N * nproc_per_node` on (by the
    *launch* when the node ranks follow the host list, else a *guess*). With c10d or etcd, nodes
    are numbered as they arrive or by their names, so the order is a *guess*; the log can place
    whole blocks (`settle`, `ranks_together`). `nproc_per_node` fills in for `gpu` or a variable.
    Raises PlacementError without hosts or without a number of ranks a host.
    """
    each = command.nproc_per_node or nproc_per_node
    if not hosts or not each:
        what = "the hosts" if not hosts else "how many ranks torchrun starts on each host"
        raise PlacementError(f"cannot place the ranks without {what}.")
    why_not = _doubt(command, len(hosts))
    return laid_out(
        hosts,
        [node for node in range(len(hosts)) for _ in range(each)],
        known=Known.GUESS if why_not else Known.LAUNCH,
        because=why_not or "static rendezvous: node ranks follow the host list",
        notes=(why_not,) if why_not else (),
    )


def _doubt(command: Torchrun, hosts: int) -> str:
    """Say why the order of the hosts is not known, or nothing where it is."""
    if hosts == 1:
        return ""
    if command.elastic:
        kind = command.rdzv_backend
        return f"the {kind} rendezvous numbers the nodes in an order of its own"
    if command.nnodes is not None and command.nnodes[0] != hosts:
        return f"torchrun expects {command.nnodes[0]} nodes and {hosts} hosts are listed"
    variable = _VARIABLE.fullmatch(command.node_rank or "")
    if variable and variable[1] in _IN_NODE_ORDER:
        return ""
    if command.node_rank is None:
        return "no --node-rank is given, so what numbers the nodes is not known"
    return f"--node-rank is {command.node_rank}, which says nothing about the order of the hosts"
