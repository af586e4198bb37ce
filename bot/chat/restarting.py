"""Restart, from the click to a card: look again, show every rung, and propose what is chosen.

The form is opened at once, for Slack takes a click's word for three seconds, and filled when the
machine has answered. Nothing is done by it: those who may approve are asked on a card.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.chat import deciding
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import TooLateError
from bot.chat.looking import again
from bot.chat.mapping import accused, checked_of
from bot.chat.ruling import ruled_proposal
from bot.diagnosis.redact import redact
from bot.errors import BotError
from bot.hosts.model import Rung
from bot.incidents.approval import Approval
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident, IncidentState
from bot.incidents.statement import Kind, Statement
from bot.recovery.ladder import LADDER, RESTARTS, askable, offers
from bot.recovery.service import Recovery
from bot.recovery.world import Seen
from bot.reports.slack import restart_form
from bot.reports.slack.notices import refused
from bot.reports.slack.restart_form import Fits, Form, looking
from bot.reports.slack.values import Action, Refusal
from bot.triage.model import Machine

#: Rungs of the ladder in its order; the two calls beside it have forms of their own.
_SHOWN = tuple(row.rung for row in LADDER if row.number is not None)
_NUMBERS = {row.rung: row.number or 0 for row in LADDER}


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """What a person filled in."""

    incident_id: str
    vm: str
    rung: str
    #: the evidence does not call for it: they say why they want it all the same
    asked: bool
    why: str


async def restart(desk: Desk, asker: Asker, incident: Incident) -> None:
    """Open the form, look at the VM again, and fill the form with the rungs."""
    checked = checked_of(incident)
    one = accused(checked) if checked else None
    if one is None or incident.job_id is None:
        # no scheduler confirms that a machine is of the job: nothing can be chosen
        return await desk.tell(asker, deciding.no_restart(desk, checked, one))
    vm = _vm_name(one)
    try:
        view = await desk.chat.open_view(asker.trigger, looking(vm))
    except TooLateError as error:
        return await desk.explain(asker, error)
    form = await _form(desk, asker, incident, vm)
    return await desk.chat.update_view(view, restart_form.restart(form))


async def _form(desk: Desk, asker: Asker, incident: Incident, vm: str) -> Form:
    about = f"{incident.id} {vm}"
    try:
        if desk.recovery is not None:
            return _filled(about, desk.recovery, await _seen(desk.recovery, incident, vm))
        one = accused_of(await _fresh(desk, asker, incident))
    except BotError as error:
        return Form(about=about, vm=vm, problem=str(error))
    if one is None or _vm_name(one) != vm:
        return Form(about=about, vm=vm, problem=f"The newest look does not accuse {vm} any more.")
    return _kept(about, one)


async def _seen(recovery: Recovery, incident: Incident, vm: str) -> Seen:
    return await recovery.proposer.world.look(incident.id, vm)


def _filled(about: str, recovery: Recovery, seen: Seen) -> Form:
    """Return the form of a VM as it was just seen."""
    limits = recovery.proposer.limits
    offered, may = offers(seen.facts, limits), askable(seen.facts, limits)
    recommended = recovery.proposer.mildest(seen)
    rungs = []
    for rung in _SHOWN:
        offer = offered[rung]
        fits = Fits.OFFERED if offer.offered else Fits.WITH_REASON if rung in may else Fits.NOT_NOW
        if rung not in RESTARTS:
            fits = Fits.BESIDE
        rungs.append(
            restart_form.Rung(
                id=rung.value, number=_NUMBERS[rung], what=offer.what, loses=offer.loses,
                here=seen.losses.get(rung, ()), fits=fits, why=offer.why,
            )
        )  # fmt: skip
    return Form(
        about=about,
        vm=seen.scene.vm_name,
        rungs=tuple(rungs),
        recommended=recommended.rung.value if recommended else "",
    )


def _kept(about: str, one: Machine) -> Form:
    """Return the form where nothing may be changed: what the report's ladder says."""
    rungs = []
    for offer in one.offers:
        rung = Rung(offer.rung)
        if rung not in _SHOWN:
            continue
        fits = Fits.OFFERED if offer.offered else Fits.NOT_NOW
        rungs.append(
            restart_form.Rung(
                id=offer.rung, number=_NUMBERS[rung], what=offer.what, loses=offer.loses,
                fits=fits if rung in RESTARTS else Fits.BESIDE, why=offer.why,
            )
        )  # fmt: skip
    offered = [each.id for each in rungs if each.fits is Fits.OFFERED]
    return Form(about=about, vm=_vm_name(one), rungs=tuple(rungs), recommended=(offered or [""])[0])


async def submitted(desk: Desk, asker: Asker, told: Chosen) -> None:
    """Put what somebody chose before those who may decide."""
    incident = await desk.store.incidents.get(told.incident_id)
    if incident is None or incident.state is not IncidentState.OPEN:
        return await desk.explain(asker, "This incident is over; nothing is asked for.")
    if told.rung not in RESTARTS:
        return await desk.explain(asker, "Nothing was chosen, so nothing is asked for.")
    if desk.recovery is None:
        return await _propose_dry(desk, asker, incident, told)
    return await _propose(desk, desk.recovery, asker, incident, told)


async def _propose(
    desk: Desk, recovery: Recovery, asker: Asker, incident: Incident, told: Chosen
) -> None:
    """Look again, and put the rung on a card if it fits what is seen now."""
    try:
        seen = await _seen(recovery, incident, told.vm)
        scene = seen.scene
        ruling = await ruled_proposal(
            desk, asker, incident, (told.rung,), scene.vm_name, scene.host
        )
        if not ruling.allowed:
            return await desk.explain(asker, ruling.why)
        if told.asked:
            seen = await _asked_for(desk, recovery, asker, seen, told)
        proposal = await recovery.proposer.propose(seen, (told.rung,), by=asker.user)
    except BotError as error:
        return await desk.explain(asker, error)
    if not proposal.made:
        return await deciding.say_open(desk, asker, proposal.approval)
    return await deciding.post_card(desk, incident, proposal.approval)


async def _asked_for(
    desk: Desk, recovery: Recovery, asker: Asker, seen: Seen, told: Chosen
) -> Seen:
    """Record why somebody asks for a rung against the evidence, where that would allow it."""
    rung = Rung(told.rung)
    if rung not in askable(seen.facts, recovery.proposer.limits) or not told.why:
        return seen
    words = redact(told.why).text
    await desk.store.statements.say(
        Statement(
            id=new_id(LONG), incident_id=seen.scene.incident_id, vm_name=seen.scene.vm_name,
            vm_id=seen.scene.vm_id, kind=Kind.ASKED_FOR, about=rung.value, text=words,
            who=asker.user, at=desk.now(),
        )
    )  # fmt: skip
    asked = {**seen.facts.asked_for, rung: words}
    return replace(seen, facts=replace(seen.facts, asked_for=asked))


async def _propose_dry(desk: Desk, asker: Asker, incident: Incident, told: Chosen) -> None:
    """Put the rung on a card where an approved one is only shown, not done."""
    one = accused_of(await _fresh(desk, asker, incident))
    offer = next((each for each in one.offers if each.rung == told.rung), None) if one else None
    if one is None or offer is None or not offer.offered or _vm_name(one) != told.vm:
        why = offer.why if offer else (f"The newest look does not accuse {told.vm} any more.",)
        return await desk.tell(asker, refused(Refusal(action=Action.RESTART, reasons=why[:6])))
    ruling = await ruled_proposal(desk, asker, incident, (offer.rung,), told.vm, one.host)
    if not ruling.allowed:
        return await desk.explain(asker, ruling.why)
    proposal = await desk.store.approvals.propose(_approval(desk, asker, incident, one, told.rung))
    if not proposal.made:
        return await deciding.say_open(desk, asker, proposal.approval)
    return await deciding.post_card(desk, incident, proposal.approval)


async def _fresh(desk: Desk, asker: Asker, incident: Incident) -> Incident:
    """Return the incident with a check that is new enough to rest a step on."""
    at = incident.checked_at
    if incident.job_id is None or (at and desk.now() - at <= desk.services.limits.reading):
        return incident
    await again(desk, asker, incident)
    return await desk.store.incidents.get(incident.id) or incident


def accused_of(incident: Incident) -> Machine | None:
    """Return the machine that an incident's newest check accuses."""
    checked = checked_of(incident)
    return accused(checked) if checked else None


def _approval(desk: Desk, asker: Asker, incident: Incident, one: Machine, rung: str) -> Approval:
    now = desk.now()
    return Approval(
        id=new_id(),
        incident_id=incident.id,
        step=rung,
        chain=(rung,),
        vm_id=one.vm.id if one.vm else "",
        vm_name=_vm_name(one),
        proposed_by=asker.user,
        proposed_at=now,
        digest=deciding.seen(one, rung),
        needs=2 if rung in desk.rules.two_people else 1,
        ready_at=now,
        expires_at=now + desk.rules.approval,
    )


def _vm_name(one: Machine) -> str:
    return one.vm.name if one.vm else one.host
