"""Draft a ticket from what is known of an incident: check, statements, runs, operations. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.clouds.model import Operation, VmState
from bot.diagnosis.redact import redact
from bot.incidents.incident import Incident
from bot.incidents.run import Run, RunState
from bot.incidents.statement import Kind, Statement
from bot.incidents.statements import latest
from bot.recovery.facts import MAY_GO, DataStatus
from bot.recovery.told import data_status
from bot.reports.slack.standing import standing
from bot.reports.tickets.ticket import Priority, Ticket, TicketVm, contact_of
from bot.reports.times import has_zone, log_time
from bot.triage.model import Checked, Machine

#: Characters of a text that people edit: less than a field of a form takes.
_MOST = 2_800
_TITLE = 150
_MOST_VMS = 20
#: `h100-80gb-sxm-ib.8x` has eight.
_GPUS = re.compile(r"\.(\d+)x$")
_HOUR = timedelta(hours=1)
_DATA = (Kind.BACKED_UP, Kind.NOTHING_TO_KEEP, Kind.AT_RISK)
_ENDED = {
    RunState.PASSED: "done and proven",
    RunState.FAILED: "did not help",
    RunState.UNKNOWN: "not known how it went",
    RunState.REFUSED: "not done",
    RunState.CANCELLED: "stopped",
}


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a ticket is drafted from."""

    incident: Incident
    checked: Checked
    said: Sequence[Statement] = ()
    runs: Sequence[Run] = ()
    #: step → what it is called
    titles: Mapping[str, str] = field(default_factory=dict)
    #: VM id → its operations; one that is not there was not asked about
    operations: Mapping[str, Sequence[Operation]] = field(default_factory=dict)
    contact: str = ""
    now: datetime


def subjects(checked: Checked) -> tuple[Machine, ...]:
    """Return the machines that a ticket is about: those in ERROR, else those at fault."""
    accused = standing(checked).accused
    in_error = [one for one in accused if one.vm and one.vm.state is VmState.ERROR]
    return tuple(in_error or accused)[:_MOST_VMS]


def drafted(known: Known) -> Ticket | None:
    """Return the draft; None where no machine is known that it could be about."""
    machines = subjects(known.checked)
    if not machines:
        return None
    first_seen = _first_seen(known)
    vms = tuple(_vm(known, one) for one in machines)
    job = known.checked.job
    return Ticket(
        incident=known.incident.id,
        job=f"{job.cluster}:{job.id}" if job else "",
        vms=vms,
        first_seen=first_seen,
        title=_cut(redact(_title(known, vms)).text, _TITLE),
        priority=_priority(known, vms),
        what=_text(_what(known, machines)),
        lines=_text(_lines(known.checked)),
        tried=_text(_tried(known) or ["Nothing has been tried on the VM yet."]),
        impact=_text([_impact(known, vms, first_seen)]),
        contact=_cut(contact_of(known.contact), _MOST),
    )


def data_of(vm: str, said: Sequence[Statement]) -> tuple[DataStatus, str]:
    """Return what is known of the data of a VM, and the words for it."""
    own = [one for one in said if one.vm_name == vm]
    last = latest(own, *_DATA)
    return data_status(own), _one_line(last.text) if last else ""


def _vm(known: Known, one: Machine) -> TicketVm:
    vm = one.vm
    name = vm.name if vm else one.host
    status, words = data_of(name, known.said)
    return TicketVm(
        host=one.host,
        name=name,
        id=vm.id if vm else "",
        project=vm.project if vm else "",
        type=vm.type if vm else "",
        location=vm.location if vm else "",
        state=vm.raw_state if vm else "",
        read_at=vm.read_at if vm else None,
        addresses=vm.private_ips if vm else (),
        found=tuple(_one_line(each.why) for each in one.findings) or _untold(one),
        operations=_operations(known, vm.id if vm else ""),
        data=status.value,
        data_said=words,
        may_go=status in MAY_GO,
    )


def _untold(one: Machine) -> tuple[str, ...]:
    return (_one_line(one.untold),) if one.untold else ()


def _operations(known: Known, vm_id: str) -> tuple[str, ...]:
    if vm_id not in known.operations:
        return ("The API was not asked for its operations.",)
    found = sorted(known.operations[vm_id], key=lambda each: (str(each.started_at), each.id))
    return tuple(map(_operation, found[-10:])) or ("The API lists no operation on it.",)


def _operation(one: Operation) -> str:
    began = f" begun {_at(one.started_at)}" if one.started_at else ""
    why = _one_line(f" ({one.code}: {one.message})".replace(": )", ")")) if one.code else ""
    action = one.action or "operation"
    return f"{action} {one.id}: {one.raw_state or one.state}{began}{' ' if why else ''}{why}"


def _title(known: Known, vms: Sequence[TicketVm]) -> str:
    job, states = known.checked.job, {one.state.removeprefix("STATE_") for one in vms}
    state = f" in {states.pop()}" if len(states) == 1 and states != {""} else ""
    names = vms[0].name if len(vms) == 1 else f"{len(vms)} VMs ({', '.join(v.name for v in vms)})"
    waits = f": job {job.id} on {len(job.nodes)} VMs does not run" if job else ""
    return f"{names}{state}{waits}"


def _priority(known: Known, vms: Sequence[TicketVm]) -> Priority:
    """Propose a label; a person knows what production is, and edits it."""
    job = known.checked.job
    if job is None or not known.checked.wrong:
        return Priority.P3
    return Priority.P1 if len(vms) >= len(job.nodes) else Priority.P2


def _first_seen(known: Known) -> datetime:
    found = [known.incident.opened_at]
    log = known.checked.diagnosis.log if known.checked.diagnosis else None
    if log and log.first_time and has_zone(log.first_time):
        told = log_time(log.first_time, known.now)
        found += [told] if told else []
    found += [one.at for one in known.said if one.kind is Kind.STATE]
    return min(found)


def _what(known: Known, machines: Sequence[Machine]) -> list[str]:
    checked = known.checked
    found = [checked.headline]
    if checked.diagnosis is not None:
        found.append(checked.diagnosis.summary)
    for one in machines:
        ranks = f" (ranks {', '.join(map(str, one.ranks))})" if one.ranks else ""
        found += [f"{one.host}{ranks}: {each.why}" for each in one.findings]
    if checked.compared_with is not None:
        healthy = checked.compared_with.host
        found.append(f"{healthy}, of the same job, was asked the same way for comparison.")
    found.append("Please look at the host below the VM, and tell us before you stop or move it.")
    return found


def _lines(checked: Checked) -> list[str]:
    found = checked.diagnosis.evidence if checked.diagnosis else ()
    texts = [f"{one.file or 'pasted text'}:{one.line}: {_one_line(one.text)}" for one in found]
    return texts or ["No line of a log was read."]


def _tried(known: Known) -> list[str]:
    done = [one for one in known.runs if one.state in _ENDED]
    return [
        f"{_at(one.ended_at)} {known.titles.get(one.step, one.step)} on {one.vm_name}: "
        f"{_ENDED[one.state]}. {_one_line(one.sentence)}"
        for one in done
    ]


def _impact(known: Known, vms: Sequence[TicketVm], since: datetime) -> str:
    lasted = max(known.now - since, timedelta()) / _HOUR
    job, gpus = known.checked.job, _gpus(known, vms)
    if job is None:
        own = f" ({gpus} GPUs)" if gpus else ""
        return f"{len(vms)} VMs{own} cannot be used since {_at(since)}: {lasted:.1f} h so far."
    idle = f" ({gpus} GPUs)" if gpus else ""
    hours = f", {gpus * lasted:,.0f} GPU-hours" if gpus else ""
    who = f" of {job.user}" if job.user else ""
    return (
        f"Job {job.id}{who} on {len(job.nodes)} VMs{idle} is held up since {_at(since)}: "
        f"{lasted:.1f} h{hours} so far."
    )


def _gpus(known: Known, vms: Sequence[TicketVm]) -> int:
    """Return how many GPUs stand idle, by the type of the VMs, else by the log; 0 if unknown."""
    each = {int(found[1]) for one in vms if (found := _GPUS.search(one.type))}
    job, log = known.checked.job, known.checked.diagnosis
    if len(each) == 1:
        return each.pop() * (len(job.nodes) if job else len(vms))
    return (log.world_size or 0) if log else 0


def _at(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" if at else "–"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(rows: Sequence[str]) -> str:
    return _cut(redact("\n".join(rows)).text, _MOST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
