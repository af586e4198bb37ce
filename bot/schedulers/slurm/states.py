"""Slurm's words for the states of jobs and nodes, in every form its programs print. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.errors import PlacementError
from bot.fleet import nodes
from bot.schedulers.errors import UnreadableAnswerError
from bot.schedulers.model import JobState, NodeFlag

#: Words that are not states of ours by name (`job_state_string` in slurm_protocol_defs.c).
_JOB_WORDS = {
    "LAUNCH_FAILED": JobState.FAILED,
    "RECONFIG_FAIL": JobState.FAILED,
    "STAGE_OUT": JobState.COMPLETING,
    "SIGNALING": JobState.RUNNING,
    "RESIZING": JobState.RUNNING,
    "STOPPED": JobState.SUSPENDED,
    "REQUEUED": JobState.PENDING,
    "REQUEUE_HOLD": JobState.PENDING,
    "REQUEUE_FED": JobState.PENDING,
    "SPECIAL_EXIT": JobState.PENDING,
    "RESV_DEL_HOLD": JobState.PENDING,
    "POWER_UP_NODE": JobState.CONFIGURING,
    "REVOKED": JobState.CANCELLED,
}
#: These flags stand beside a base state and say more than it does.
_OVER_BASE = (JobState.COMPLETING, JobState.CONFIGURING)

#: Words of a node's state beside the base one, in scontrol's, sinfo's and REST's spelling.
_NODE_FLAGS = {
    **dict.fromkeys(("DRAIN", "DRAINED", "DRAINING"), NodeFlag.DRAIN),
    **dict.fromkeys(("RESERVED", "RES"), NodeFlag.RESERVED),
    **dict.fromkeys(("MAINTENANCE", "MAINT"), NodeFlag.MAINTENANCE),
    **dict.fromkeys(
        ("REBOOT", "REBOOT_REQUESTED", "REBOOT_ISSUED", "REBOOT_CANCELED"), NodeFlag.REBOOT
    ),
    **dict.fromkeys(("NOT_RESPONDING", "NO_RESPOND"), NodeFlag.NOT_RESPONDING),
    **dict.fromkeys(
        ("POWERED_DOWN", "POWER_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_UP"),
        NodeFlag.POWERED_DOWN,
    ),
    "COMPLETING": NodeFlag.COMPLETING,
    **dict.fromkeys(("FAIL", "FAILING", "FAILED"), NodeFlag.FAIL),
}
_NODE_BASES = frozenset(
    {"UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE", "INVALID"}
)
#: Marks that sinfo and old scontrol put behind a state (sinfo(1), NODE STATE CODES).
_NODE_MARKS = {
    "*": NodeFlag.NOT_RESPONDING,
    "~": NodeFlag.POWERED_DOWN,
    "#": NodeFlag.POWERED_DOWN,
    "!": NodeFlag.POWERED_DOWN,
    "%": NodeFlag.POWERED_DOWN,
    "$": NodeFlag.MAINTENANCE,
    "@": NodeFlag.REBOOT,
    "^": NodeFlag.REBOOT,
}


def job_state(words: str | Iterable[str]) -> JobState:
    """Return the state of `RUNNING`, `CANCELLED by 0`, `["COMPLETED", "COMPLETING"]`, ….

    Slurm's flags stand beside the base state; one that says that the job is on its way wins.
    """
    given = re.split(r"[+,]", words) if isinstance(words, str) else list(words)
    states = [_one_job_state(word.strip().upper()) for word in given if word.strip()]
    return next(
        (flag for flag in _OVER_BASE if flag in states and not _ended_for_good(states)),
        states[0] if states else JobState.OTHER,
    )


def _ended_for_good(states: list[JobState]) -> bool:
    """Tell whether the base state is an end: a job that cleans up after it has its outcome."""
    return states[0] not in {JobState.RUNNING, JobState.PENDING, JobState.COMPLETING, *_OVER_BASE}


def _one_job_state(word: str) -> JobState:
    first = word.split(" ", 1)[0]
    if first in _JOB_WORDS:
        return _JOB_WORDS[first]
    return JobState(first) if first in JobState.__members__ else JobState.OTHER


def node_state(words: str | Iterable[str]) -> tuple[str, frozenset[NodeFlag]]:
    """Return the base state and the flags of `IDLE+DRAIN`, `mixed*`, `["IDLE", "DRAIN"]`, ….

    A base state that nobody names (`DRAINED` alone) is IDLE for a drained node and ALLOCATED for a
    draining one.
    """
    given = words.split("+") if isinstance(words, str) else list(words)
    base, flags = "", set[NodeFlag]()
    for word in given:
        upper = word.strip().upper()
        while upper and upper[-1] in _NODE_MARKS:
            flags.add(_NODE_MARKS[upper[-1]])
            upper = upper[:-1]
        if upper in _NODE_BASES:
            base = base or upper
        elif upper in _NODE_FLAGS:
            # `REBOOT_CANCELED` lingers after somebody took the wish back
            if upper != "REBOOT_CANCELED":
                flags.add(_NODE_FLAGS[upper])
            base = base or {"DRAINED": "IDLE", "DRAINING": "ALLOCATED"}.get(upper, "")
        elif upper in {"ALLOC", "MIX"}:
            base = base or {"ALLOC": "ALLOCATED", "MIX": "MIXED"}[upper]
    return base or "UNKNOWN", frozenset(flags)


def node_list(text: str) -> tuple[str, ...]:
    """Return the nodes of `n[0-3],m1` in Slurm's order; none for its words for "no nodes"."""
    shown = text.strip()
    if shown.lower() in {"", "(null)", "none", "none assigned", "n/a"}:
        return ()
    try:
        return nodes.node_list(shown)
    except PlacementError as error:
        raise UnreadableAnswerError(f"Slurm's node list {shown[:80]!r} cannot be read.") from error
