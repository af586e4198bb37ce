"""What each control of a report does: a table from the control to its flow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.chat import backing_up, deciding, looking, restarting, summing
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import TooLateError
from bot.chat.mapping import accused, checked_of, vms_of
from bot.chat.mapping import incident_shown as shown
from bot.chat.preflighting import ask_all
from bot.incidents.approval import Verdict
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Entry, Incident, IncidentState
from bot.incidents.statement import Kind, Statement
from bot.reports.slack.modals import wrong_vm as wrong_vm_form
from bot.reports.slack.notices import refused
from bot.reports.slack.values import Action, Refusal

Flow = Callable[[Desk, Asker, Incident], Awaitable[None]]

#: What a control answers with until its step is built: why not, and what a person can do instead.
_NOT_YET: Mapping[Action, tuple[str, str]] = {
    Action.TICKET: (
        "Drafting a ticket is not part of this version.",
        "The report and its replies hold what support asks for: VM id, state, times, findings.",
    ),
    Action.RERUN: (
        "Re-running a job is not part of this version.",
        "Submit it again by hand once the VM is well.",
    ),
}


async def press(desk: Desk, asker: Asker, action: Action, about: str) -> None:
    """Do what a control asks for; `about` is the incident's id, or an approval's."""
    if action in _DECISIONS:
        return await _DECISIONS[action](desk, asker, about)
    incident = await desk.store.incidents.get(about)
    if incident is None:
        return await desk.explain(asker, f"There is no incident {about} any more.")
    if incident.state is not IncidentState.OPEN:
        by = f" by <@{incident.closed_by}>" if incident.closed_by else ""
        return await desk.explain(asker, f"This incident is over{by}; your click changed nothing.")
    return await _FLOWS[action](desk, asker, incident)


async def pick(desk: Desk, asker: Asker, incident_id: str, host: str) -> None:
    """Look at the machine that somebody picked, if the job has it."""
    incident = await desk.store.incidents.get(incident_id)
    checked = checked_of(incident)
    if incident is None or checked is None:
        return await desk.explain(asker, "There is nothing to pick a VM for any more.")
    if host not in {one.id for one in vms_of(checked)}:
        return await desk.explain(asker, f"{host} is not a machine of this job.")
    one = next((each for each in checked.machines if each.host == host and each.vm), None)
    vm = one.vm if one else None
    picked = Statement(
        id=new_id(LONG), incident_id=incident.id, kind=Kind.PICKED, who=asker.user, at=desk.now(),
        vm_name=vm.name if vm else host, vm_id=vm.id if vm else "",
    )  # fmt: skip
    # what is carried out later rests on who picked the machine
    await desk.store.statements.say(picked)
    return await looking.again(desk, asker, incident, named=(host,))


async def _not_yet(desk: Desk, asker: Asker, action: Action) -> None:
    reason, instead = _NOT_YET[action]
    await desk.tell(asker, refused(Refusal(action=action, reasons=(reason,), instead=instead)))


def _later(action: Action) -> Flow:
    async def flow(desk: Desk, asker: Asker, incident: Incident) -> None:
        del incident
        await _not_yet(desk, asker, action)

    return flow


async def _why_no_restart(desk: Desk, asker: Asker, incident: Incident) -> None:
    await desk.tell(asker, deciding.why_no_restart(desk, incident))


async def _probe_again(desk: Desk, asker: Asker, incident: Incident) -> None:
    await looking.again(desk, asker, incident)


async def _wrong_vm(desk: Desk, asker: Asker, incident: Incident) -> None:
    checked = checked_of(incident)
    one = accused(checked) if checked else None
    form = wrong_vm_form(
        shown(incident), vms_of(checked) if checked else (), current=one.host if one else ""
    )
    try:
        await desk.chat.open_view(asker.trigger, form)
    except TooLateError as error:
        await desk.explain(asker, error)


async def _dismiss(desk: Desk, asker: Asker, incident: Incident) -> None:
    entry = Entry(at=desk.now(), kind="dismissed", who=asker.user)
    await desk.store.incidents.close(incident.id, entry, state=IncidentState.DISMISSED)
    await desk.outbox.refresh(incident.id)
    await summing.say(desk, incident)


async def _approve(desk: Desk, asker: Asker, approval: str) -> None:
    await deciding.decide(desk, asker, approval, Verdict.APPROVE)


async def _stop(desk: Desk, asker: Asker, approval: str) -> None:
    await deciding.stop(desk, asker, approval)


async def _decline(desk: Desk, asker: Asker, approval: str) -> None:
    await deciding.decide(desk, asker, approval, Verdict.DECLINE)


_DECISIONS: Mapping[Action, Callable[[Desk, Asker, str], Awaitable[None]]] = {
    Action.APPROVE: _approve,
    Action.DECLINE: _decline,
    Action.STOP: _stop,
    Action.ASK_FOR_APPROVAL: deciding.ask_for_approval,
}
_FLOWS: Mapping[Action, Flow] = {
    Action.BACK_UP: backing_up.back_up,
    Action.RESTART: restarting.restart,
    Action.WHY_NO_RESTART: _why_no_restart,
    Action.PROBE_AGAIN: _probe_again,
    Action.WRONG_VM: _wrong_vm,
    Action.PICK_VM: _wrong_vm,
    Action.DISMISS: _dismiss,
    Action.PREFLIGHT: ask_all,
    **{action: _later(action) for action in _NOT_YET},
}
