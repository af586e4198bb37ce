"""Back up, from the click to the chain that runs: look, let a person choose, and begin.

The form is opened at once, for Slack takes a click's word for three seconds, and filled when the
machine has answered. Who submits it may decide, so that the form is their approval; a second person
is asked on the card where the settings want two.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.chat import deciding
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import TooLateError
from bot.chat.mapping import accused, checked_of
from bot.diagnosis.redact import redact
from bot.errors import BotError
from bot.hosts.backups import Survey
from bot.incidents.approval import Verdict
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident, IncidentState
from bot.incidents.statement import Kind, Statement
from bot.recovery.backup import words
from bot.recovery.backup.choice import Choice, entries
from bot.recovery.facts import DataStatus
from bot.recovery.service import Recovery
from bot.recovery.steps.back_up import RECENT, BackUp
from bot.recovery.world import Seen
from bot.reports.slack.backup_form import Form, looking, may_not_start, recorded
from bot.reports.slack.backup_form import back_up as form_of
from bot.reports.slack.notices import refused
from bot.reports.slack.values import Action, Refusal
from bot.reports.slack.values import Choice as Listed

_OFF = (
    "Actions are off, or no backup account is set ([actions] enabled, [ssh.backup]).",
    "Copy what is needed from the VM by hand before anything that loses it.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """What a person filled in."""

    incident_id: str
    vm: str
    place: str
    entries: tuple[str, ...]
    #: that nothing is to be kept; goes before everything else
    nothing: str


async def back_up(desk: Desk, asker: Asker, incident: Incident) -> None:
    """Open the form, look at what the VM holds, and fill the form with it."""
    checked = checked_of(incident)
    one = accused(checked) if checked else None
    if one is None:
        why = "No VM is known to be at fault; pick the VM first."
        return await desk.tell(asker, refused(Refusal(action=Action.BACK_UP, reasons=(why,))))
    if desk.recovery is None:
        off = Refusal(action=Action.BACK_UP, reasons=_OFF[:1], instead=_OFF[1])
        return await desk.tell(asker, refused(off))
    if not await _may(desk, asker):
        return await desk.tell(asker, may_not_start(desk.rules.policy.deciders((BackUp.name,))))
    vm = one.vm.name if one.vm else one.host
    try:
        view = await desk.chat.open_view(asker.trigger, looking(vm))
    except TooLateError as error:
        return await desk.explain(asker, error)
    form = await _form(desk, desk.recovery, incident, vm)
    return await desk.chat.update_view(view, form_of(form))


async def _may(desk: Desk, asker: Asker) -> bool:
    """Tell whether somebody decides about backups; when and where, the approval itself asks."""
    person = await desk.people.known(asker.user)
    return desk.rules.policy.decides(person, (BackUp.name,))


async def _form(desk: Desk, recovery: Recovery, incident: Incident, vm: str) -> Form:
    """Look at the VM, and return what was found, or why nothing could be."""
    about = f"{incident.id} {vm}"
    world = recovery.proposer.world
    try:
        seen = await world.look(incident.id, vm)
        found = await world.backups().survey(seen.scene.target, RECENT)
    except BotError as error:
        return Form(about=about, vm=vm, said=(words.CANNOT_BE_SAVED,), problem=str(error))
    await _at_risk(desk, seen, found)
    return _found(incident, about, vm, found)


def _found(incident: Incident, about: str, vm: str, found: Survey) -> Form:
    checked = checked_of(incident)
    job = checked.job if checked else None
    listed = entries(found, job.user if job else "")
    proposed = [one for one in listed if one.proposed]
    size = sum(one.size_bytes for one in proposed)
    said = [words.goes(found)]
    if not found.whole:
        said.append("There is more than could be looked at in time; the list is not complete.")
    if found.unread:
        said.append(f"{found.unread:,} folders could not be read.")
    if proposed:
        said.append(f"Proposed: {words.size(size)}, about {words.estimate(size)}.")
    problem = "" if found.rsync else f"There is no rsync on {vm}: install it there first."
    fits = sorted(found.offered, key=lambda one: (one.free_bytes < size, not one.shared))
    if found.items and not fits:
        problem = (
            problem or "No disk that stays is mounted on the VM, so there is no place to copy to."
        )
        said += [f"{one.shown}: {one.why}" for one in found.places[:5]]
    vms = len(job.nodes) if job else 1
    return Form(
        about=about,
        vm=vm,
        said=tuple(said),
        items=tuple(
            Listed(id=one.id, label=words.called(one), note=words.note(one, vms)) for one in listed
        ),
        proposed=frozenset(one.id for one in proposed),
        places=tuple(
            Listed(
                id=one.id, label=words.placed(one),
                note=f"{words.size(one.free_bytes)} free"
                + (": too little for all" if one.free_bytes < size else ""),
            )
            for one in fits
        ),
        problem=problem,
    )  # fmt: skip


async def _at_risk(desk: Desk, seen: Seen, found: Survey) -> None:
    """Keep what is at risk, where nothing was known of the data so far."""
    if seen.facts.data is not DataStatus.UNKNOWN or not found.size_bytes:
        return
    await desk.store.statements.say(
        _said(
            desk, seen, Kind.AT_RISK, about=str(found.size_bytes), text=words.at_risk(found.items)
        )
    )
    await desk.outbox.refresh(seen.scene.incident_id)


def _said(
    desk: Desk, seen: Seen, kind: Kind, *, about: str = "", text: str, who: str | None = None
) -> Statement:
    scene = seen.scene
    return Statement(
        id=new_id(LONG), incident_id=scene.incident_id, vm_name=scene.vm_name, vm_id=scene.vm_id,
        kind=kind, about=about, text=text, who=who, at=desk.now(),
    )  # fmt: skip


async def submitted(desk: Desk, asker: Asker, told: Submitted) -> None:
    """Begin the backup that somebody chose, or keep their word that nothing is to be kept."""
    incident = await desk.store.incidents.get(told.incident_id)
    if incident is None or incident.state is not IncidentState.OPEN or desk.recovery is None:
        return await desk.explain(asker, "This incident is over; nothing is backed up.")
    if not await _may(desk, asker):
        return await desk.tell(asker, may_not_start(desk.rules.policy.deciders((BackUp.name,))))
    if told.nothing:
        return await _nothing_to_keep(desk, asker, incident, told)
    if not told.entries or not told.place:
        why = "Nothing was chosen, so nothing is backed up."
        return await desk.explain(asker, why, next_step="Press Back up again and choose.")
    return await _begin(desk, desk.recovery, asker, incident, told)


async def _nothing_to_keep(desk: Desk, asker: Asker, incident: Incident, told: Submitted) -> None:
    one = accused(checked) if (checked := checked_of(incident)) else None
    named = one.vm.name if one and one.vm else one.host if one else ""
    await desk.store.statements.say(
        Statement(
            id=new_id(LONG), incident_id=incident.id, vm_name=told.vm,
            vm_id=one.vm.id if one and one.vm and named == told.vm else "",
            kind=Kind.NOTHING_TO_KEEP, text=redact(told.nothing).text, who=asker.user,
            at=desk.now(),
        )
    )  # fmt: skip
    await desk.outbox.refresh(incident.id)
    await desk.tell(asker, recorded(told.vm))


async def _begin(
    desk: Desk, recovery: Recovery, asker: Asker, incident: Incident, told: Submitted
) -> None:
    checked = checked_of(incident)
    owner = checked.job.user if checked and checked.job else ""
    choice = Choice(place=told.place, entries=told.entries)
    try:
        seen = await recovery.proposer.world.look(incident.id, told.vm)
        proposal = await recovery.proposer.propose(
            seen, (BackUp.name,), by=asker.user, further={**choice.kept(), "owner": owner}
        )
    except BotError as error:
        return await desk.explain(asker, error)
    if not proposal.made:
        return await deciding.say_open(desk, asker, proposal.approval)
    # decided before its card is there: nobody is asked for what is approved already
    await deciding.decide(desk, asker, proposal.approval.id, Verdict.APPROVE)
    return await deciding.post_card(desk, incident, proposal.approval)
