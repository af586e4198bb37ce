"""The report: the one parent of an incident's thread, which always shows how things stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from slack_sdk.models.blocks import (
    Block,
)

from bot.reports.slack import fitting
from bot.reports.slack.controls import controls
from bot.reports.slack.footing import pointers, readings
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Line,
    Names,
    Piece,
    about,
    aged,
    block_id,
    header,
    line,
    lines,
    moment,
    person,
    words,
)
from bot.reports.slack.proofs import carried
from bot.reports.slack.standing import (
    Fault,
    Standing,
    failing_ranks,
    shown_state,
    standing,
    told,
)
from bot.reports.slack.values import (
    CLOSED,
    Choice,
    Incident,
    Links,
    Progress,
    Purpose,
    Source,
    Stage,
)
from bot.triage.model import Checked, Machine

_MENDED = (
    "Names resolve there again: see whether the job goes on by itself, or run it again. Probe "
    "again looks at everything anew."
)
#: More machines than these are in the thread.
_MOST_MACHINES = 3
_PLACED = {
    "log": "the log places the rank there",
    "launch": "placed by the launch, not by the log",
    "guess": "a guess",
    "asked": "picked by a person",
}


def report(
    checked: Checked,
    incident: Incident,
    *,
    now: datetime,
    links: Links | None = None,
    vms: Sequence[Choice] = (),
    data_safe: bool = False,
    again: Sequence[Source] = (),
) -> Message:
    """Return the parent of a thread.

    `vms` are the job's, for a person to pick from where the placement is a guess. `data_safe`: what
    the VM holds is backed up, or somebody said that nothing is to be kept. `again`: how far it is
    read anew, while it is.
    """
    stands = standing(checked, data_safe=data_safe or incident.data_safe)
    name = Names(incident.revision)
    # a guess is settled before anything else is read
    first = stands.fault is Fault.GUESS and bool(vms) and incident.stage is Stage.OPEN
    blocks = [
        header(name("title"), _title(checked, stands, incident)),
        *_again(again, name),
        *([lines(name("steps"), *carried(incident.steps, now))] if incident.steps else []),
        lines(name("cause"), *_cause(checked, stands)),
        *(controls(incident, stands, vms) if first else ()),
        lines(name("facts"), *_facts(checked, stands, now)),
        *(
            [lines(name("data"), line(words("Data: ", bold=True), incident.data))]
            if incident.data
            else []
        ),
        *_next(incident, stands, name),
        *(() if first else _closing(incident, stands, vms, now)),
        lines(name("readings"), *readings(checked, incident, now)),
        *pointers(links or Links(), name),
    ]
    return fitting.message(
        blocks=blocks,
        text=notification(
            f"{_title(checked, stands, incident)}.", *_said(checked, stands, incident)
        ),
        about=about(incident, Purpose.REPORT),
    )


def _again(sources: Sequence[Source], name: Names) -> Iterator[Block]:
    """Say that it is read anew, and what is being read."""
    if sources:
        doing = next((one for one in sources if one.progress is Progress.READING), None)
        said = (doing.said or doing.name) if doing else "it has begun"
        yield lines(name("again"), line(words("Looking again: ", bold=True), said))


def _next(incident: Incident, stands: Standing, name: Names) -> Iterator[Block]:
    if incident.stage not in CLOSED:
        step = _MENDED if incident.mended else stands.next_step
        yield lines(name("next"), line(words("Next: ", bold=True), step))


def _title(checked: Checked, stands: Standing, incident: Incident) -> str:
    if incident.mended and incident.stage not in CLOSED:
        return f"{incident.mended}: mended and proven"
    return _found(checked, stands, incident)


def _found(checked: Checked, stands: Standing, incident: Incident) -> str:
    if incident.stage in CLOSED:
        return f"{incident.stage.value.capitalize()}: {incident.job or 'pasted log'}"
    match stands.fault:
        case Fault.HARMLESS:
            return "No restart: the warnings are harmless"
        case Fault.GUESS:
            return f"Which VM? {stands.accused[0].host} is a guess"
        case Fault.SHARED:
            return f"Not one VM's fault: {_what(checked, checked.machines)}"
        case Fault.NOWHERE:
            return f"No VM known: {_what(checked, ())}"
        case Fault.MACHINE:
            more = len(stands.accused) - 1
            others = f" and {more} more" if more else ""
            return f"{stands.accused[0].host}{others}: {_what(checked, stands.accused)}"


def _what(checked: Checked, machines: Sequence[Machine]) -> str:
    """Say in a few words what is wrong."""
    found = next(filter(None, map(told, machines)), "")
    if found or checked.diagnosis is None:
        return found or ("something is wrong" if checked.wrong else "nothing found")
    return str(checked.diagnosis.cause).replace("_", " ")


def _cause(checked: Checked, stands: Standing) -> Iterator[Line]:
    about = (*stands.accused, *checked.machines)[:1]
    found = next((each for one in about for each in one.findings), None)
    said = checked.headline
    if stands.fault is Fault.HARMLESS and checked.diagnosis is not None:
        said = checked.diagnosis.summary
    elif found is not None and not told(about[0]).startswith("VM in "):
        said = found.why
    yield line(words(said), words(f" Confidence: {checked.confidence}.", bold=True))


def _facts(checked: Checked, stands: Standing, now: datetime) -> Iterator[Line]:
    ranks = failing_ranks(checked, stands.accused)
    yield line(words(f"{_whose(stands)}: ", bold=True), ranks or _no_ranks(stands))
    for one in stands.accused[:_MOST_MACHINES]:
        yield from _machine(one, now)
    if (more := len(stands.accused) - _MOST_MACHINES) > 0:
        yield line(f"{more} more VMs are in the thread.")
    if not stands.accused and checked.machines:
        asked = ", ".join(one.host for one in checked.machines[:_MOST_MACHINES])
        yield line(words("Asked as a sample: ", bold=True), asked)
        yield from _state(checked.machines[0], now, of=f" of {checked.machines[0].host}")
    job = checked.job
    if job is not None:
        who = f" of {job.user}" if job.user else ""
        yield line(
            words("Job: ", bold=True), f"{job.cluster}:{job.id} {job.name}{who}, {job.state}"
        )


def _whose(stands: Standing) -> str:
    return "Warned" if stands.fault is Fault.HARMLESS else "Failing"


def _no_ranks(stands: Standing) -> str:
    if stands.fault is Fault.SHARED:
        return "every rank that was seen, all in the same way"
    return "no rank" if stands.fault is Fault.HARMLESS else "the rank is not named in the log"


def _machine(one: Machine, now: datetime) -> Iterator[Line]:
    vm = one.vm
    if vm is None:
        why = one.vm_problem or "no cloud is configured"
        yield line(words("VM: ", bold=True), words(one.host, code=True))
        yield line(words("API state: ", bold=True), f"not read: {why}")
    else:
        kind = " ".join(filter(None, (vm.type, vm.location)))
        yield line(words("VM: ", bold=True), words(vm.name, code=True), f" {kind}")
        # alone, so that it is whole on a phone
        yield line(words(vm.id, code=True))
    yield from _state(one, now)
    because = (
        f"{one.because} ({_PLACED[one.known_from]})" if one.because else _PLACED[one.known_from]
    )
    yield line(words("Why this VM: ", bold=True), because)
    if one.held:
        yield line(words("Held by somebody else: ", bold=True), one.held)


def _state(one: Machine, now: datetime, of: str = "") -> Iterator[Line]:
    if one.vm is not None:
        state = words(shown_state(one.vm.raw_state), code=True)
        yield line(words(f"API state{of}: ", bold=True), state, *_read(one.vm.read_at, now))


def _read(at: datetime, now: datetime) -> tuple[Piece, ...]:
    return (" read ", aged(at, now))


def _closing(
    incident: Incident, stands: Standing, vms: Sequence[Choice], now: datetime
) -> Iterator[Block]:
    """Return the controls, or what ended the incident."""
    if incident.stage in CLOSED:
        at = (" at ", moment(incident.closed_at, now)) if incident.closed_at else ()
        ended = words(f"{incident.stage.value.capitalize()} by ", bold=True)
        why = f": {incident.closed_because}" if incident.closed_because else ""
        said = line(ended, person(incident.closed_by), *at, why or ".")
        yield lines(block_id("closed", incident.revision), said)
    else:
        yield from controls(incident, stands, vms)


def _said(checked: Checked, stands: Standing, incident: Incident) -> Iterator[str]:
    """Say the rest for the lock screen: ranks, state, what to do."""
    ranks = failing_ranks(checked, stands.accused)
    if ranks:
        yield f"{_whose(stands)}: {ranks}."
    for one in stands.accused[:1]:
        if one.vm is not None:
            yield f"{one.vm.name} is {shown_state(one.vm.raw_state)}."
    if incident.stage not in CLOSED:
        yield f"Next: {stands.next_step}"
