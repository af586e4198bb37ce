"""Read Slurm's JSON: REST v0.0.38 to v0.0.43 and `--json` of the commands, which print the same.

The shapes are those of Slurm's sources (`src/plugins/openapi/v0.0.38/*.c` in 22.05 and the tables
`PARSER_ARRAY(JOB_INFO)`, `(NODE)`, `(JOB)`, `(STEP)` of `src/plugins/data_parser/v0.0.39` to
`v0.0.43`):

========  =================  =============  ============================  =====================
version   numbers            job_state      exit_code                     job_resources.nodes
========  =================  =============  ============================  =====================
v0.0.38   plain, null        text           plain wait status             text
v0.0.39   {set, number}      text           {set, number}, wait status    text
v0.0.40   same, times too    list           {return_code, signal}         text
v0.0.41+  same               list           same                          {list: text, count, …}
========  =================  =============  ============================  =====================

One tolerant reader takes all of them, since releases answer for several versions at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.schedulers.model import (
    FAILED_STATES,
    DistributionFrom,
    Job,
    JobState,
    KnownFrom,
    Node,
    Step,
)
from bot.schedulers.select import agreed_distribution
from bot.schedulers.slurm.states import job_state, node_list, node_state

Json = Mapping[str, object]

#: Slurm's "not set" and "infinite" of 16, 32 and 64 bits (`NO_VAL` in slurm.h).
_NO_VALUES = frozenset(
    {0xFFFE, 0xFFFF, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF}
)


def number(value: object) -> int | None:
    """Return an integer from `5`, `"5"` or `{"set": true, "number": 5}`; None where not set."""
    if isinstance(value, Mapping):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        found = int(value)
    except ValueError:
        return None
    return None if found in _NO_VALUES else found


def moment(value: object) -> datetime | None:
    """Return the time of a Unix stamp in any of the forms; None for 0 and for not set."""
    seconds = number(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds and 0 < seconds < 1 << 36 else None


def text(value: object) -> str:
    """Return a text, empty for null and Slurm's spelling of it."""
    if isinstance(value, Mapping):
        return text(value.get("name"))
    if not isinstance(value, str | int) or isinstance(value, bool):
        return ""
    return "" if value in {"(null)", "None", "N/A"} else str(value)


def words(value: object) -> tuple[str, ...]:
    """Return a list of words, given as a list or as one text."""
    if isinstance(value, str):
        return tuple(word for word in value.split(",") if word)
    if isinstance(value, Sequence):
        return tuple(str(word) for word in value)
    return ()


def mapping(value: object) -> Json:
    """Return an object, empty where the answer has none."""
    return value if isinstance(value, Mapping) else {}


def rows(value: object) -> tuple[Json, ...]:
    """Return the objects of a list."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(one for one in value if isinstance(one, Mapping))


def exit_of(value: object) -> tuple[int | None, int | None]:
    """Return exit code and signal from a wait status or from `{"return_code", "signal"}`."""
    if isinstance(value, Mapping) and ("return_code" in value or "status" in value):
        signal = mapping(value.get("signal"))
        found = number(signal.get("id", signal.get("signal_id")))
        code = number(value.get("return_code"))
        # v0.0.38 and v0.0.39 write -127 beside a signal
        return None if code is not None and code < 0 else code, found or None
    status = number(value)
    return (None, None) if status is None else ((status >> 8) & 0xFF, (status & 0x7F) or None)


def errors(answer: Json) -> tuple[str, ...]:
    """Return what an answer says went wrong, one sentence each; warnings are not errors."""
    found = []
    for one in rows(answer.get("errors")):
        parts = dict.fromkeys((text(one.get("error")), text(one.get("description"))))
        code = number(one.get("error_number", one.get("errno")))
        said = ": ".join(part for part in parts if part)
        found.append(f"{said} ({code})" if code else said)
    return tuple(found)


def job_of(row: Json, cluster: str) -> Job:
    """Return a job from the controller's record of it."""
    state_words = row.get("job_state")
    state = job_state(state_words if isinstance(state_words, str) else words(state_words))
    code, signal = exit_of(row.get("exit_code"))
    array_job = number(row.get("array_job_id")) or None
    het_job = number(row.get("het_job_id")) or None
    over = state not in {JobState.PENDING, JobState.RUNNING, JobState.CONFIGURING, JobState.OTHER}
    return Job(
        id=str(number(row.get("job_id")) or ""),
        cluster=cluster,
        state=state,
        raw_state="+".join(words(state_words)),
        reason=text(row.get("state_reason")),
        name=text(row.get("name")),
        user=text(row.get("user_name")),
        partition=text(row.get("partition")),
        nodes=_nodes_of(row),
        ntasks=number(row.get("tasks")) or None,
        ntasks_per_node=number(row.get("tasks_per_node")) or None,
        stdout=text(row.get("stdout_expanded")) or text(row.get("standard_output")),
        stderr=text(row.get("stderr_expanded")) or text(row.get("standard_error")),
        work_dir=text(row.get("current_working_directory")),
        command=text(row.get("command")),
        excluded=_listed(row.get("excluded_nodes")),
        batch_host=text(row.get("batch_host")),
        batch=_flag(row.get("batch_flag")),
        exit_code=code,
        exit_signal=signal,
        submitted_at=moment(row.get("submit_time")),
        started_at=None if state is JobState.PENDING else moment(row.get("start_time")),
        ended_at=moment(row.get("end_time")) if over else None,
        restarts=number(row.get("restart_cnt")) or 0,
        array_job=array_job,
        array_task=number(row.get("array_task_id")) if array_job else None,
        het_job=het_job,
        het_offset=number(row.get("het_job_offset")) if het_job else None,
    )


def _nodes_of(row: Json) -> tuple[str, ...]:
    named = text(row.get("nodes"))
    if named:
        return node_list(named)
    inside = mapping(row.get("job_resources")).get("nodes")
    return node_list(text(mapping(inside).get("list")) or text(inside))


def _listed(value: object) -> tuple[str, ...]:
    """Return node names from a text, or from a list as v0.0.40 and later write it."""
    return node_list(text(value) if isinstance(value, str) else ",".join(words(value)))


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def accounted_job_of(row: Json, cluster: str) -> Job:
    """Return a job from the accounting database (`/slurmdb/…/job/ID`, `sacct --json`)."""
    told = mapping(row.get("state"))
    current = told.get("current")
    state = job_state(current if isinstance(current, str) else words(current))
    code, signal = exit_of(row.get("exit_code"))
    if code == 0 and state in FAILED_STATES:
        # v0.0.38 and v0.0.39 call every exit a success (`DUMP_FUNC(JOB_EXIT_CODE)`)
        code = None
    time = mapping(row.get("time"))
    array = mapping(row.get("array"))
    het = mapping(row.get("het"))
    array_job = number(array.get("job_id")) or None
    het_job = number(het.get("job_id")) or None
    steps = tuple(step_of(one) for one in rows(row.get("steps")))
    layout = agreed_distribution(steps)
    return Job(
        id=str(number(row.get("job_id")) or ""),
        cluster=cluster,
        state=state,
        raw_state="+".join(words(current)),
        reason=text(told.get("reason")),
        name=text(row.get("name")),
        user=text(row.get("user")),
        partition=text(row.get("partition")),
        nodes=node_list(text(row.get("nodes"))),
        steps=steps,
        distribution=layout,
        distribution_from=DistributionFrom.STEP if layout else None,
        stdout=text(row.get("stdout_expanded")) or text(row.get("stdout")),
        stderr=text(row.get("stderr_expanded")) or text(row.get("stderr")),
        work_dir=text(row.get("working_directory")),
        exit_code=code,
        exit_signal=signal,
        submitted_at=moment(time.get("submission")),
        started_at=moment(time.get("start")),
        ended_at=moment(time.get("end")),
        array_job=array_job,
        array_task=number(array.get("task_id")) if array_job else None,
        het_job=het_job,
        het_offset=number(het.get("job_offset")) if het_job else None,
        known_from=KnownFrom.ACCOUNTING,
    )


def step_of(row: Json) -> Step:
    """Return a step from the accounting database; its ID is a text, a number or an object."""
    named = mapping(row.get("step"))
    identity = named.get("id")
    if isinstance(identity, Mapping):
        plain = text(identity.get("step_id"))
    else:
        plain = text(identity).rpartition(".")[2]
    state = row.get("state")
    nodes = mapping(row.get("nodes"))
    return Step(
        id=plain,
        name=text(named.get("name")),
        state=job_state(state if isinstance(state, str) else words(state)),
        nodes=node_list(text(nodes.get("range"))) or words(nodes.get("list")),
        ntasks=number(mapping(row.get("tasks")).get("count")),
        distribution=_known_distribution(text(mapping(row.get("task")).get("distribution"))),
    )


def _known_distribution(word: str) -> str | None:
    return None if word.lower() in {"", "unknown"} else word


def node_of(row: Json, cluster: str) -> Node:
    """Return a node from the controller's record of it."""
    state = row.get("state")
    told = (*words(state), *words(row.get("state_flags")))
    # v0.0.38 keeps a wish to reboot in fields of its own; INVALID is "none"
    base, flags = node_state(told)
    return Node(
        name=text(row.get("name")),
        cluster=cluster,
        state=base,
        flags=flags,
        raw_state="+".join(word.upper() for word in told),
        reason=text(row.get("reason")),
        reason_by=text(row.get("reason_set_by_user")) if row.get("reason") else "",
        reason_at=moment(row.get("reason_changed_at")) if row.get("reason") else None,
        reservation=text(row.get("reservation")),
        address=text(row.get("address")),
        hostname=text(row.get("hostname")),
        partitions=words(row.get("partitions")),
        booted_at=moment(row.get("boot_time")),
    )
