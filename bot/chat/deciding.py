"""A step is proposed, decided once, expires; what an approved one would do is posted as a dry run.

The decision is a compare-and-set in the store: double clicks, deliveries that come again, restarts
and replicas all meet the same row.
"""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256

from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.mapping import accused, approval_shown, checked_of
from bot.chat.rendering import ASKED, DRY_RUN, PROOF
from bot.chat.ruling import ruled
from bot.incidents.approval import Answer, Approval, ApprovalState, Verdict
from bot.incidents.incident import Incident
from bot.incidents.message import card
from bot.incidents.run import RunState
from bot.recovery.policy import Act, Ground
from bot.reports.slack import message, values
from bot.reports.slack.approvals import decided_already, may_not_decide
from bot.reports.slack.notices import refused
from bot.reports.slack.standing import finding_words
from bot.reports.slack.values import Action, Links, Refusal
from bot.triage.model import Checked, Machine

_PROVEN_LATELY = timedelta(days=1)
_LATE_BY_BOT = "The step was decided before."


def seen(one: Machine, rung: str) -> str:
    """Return the digest of what a decision rests on: VM, state, rung and findings."""
    told = [
        one.vm.id if one.vm else one.host,
        one.vm.raw_state if one.vm else "",
        rung,
        sorted(each.finding for each in one.findings),
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


async def _card(desk: Desk, incident: Incident, approval: Approval) -> None:
    parent = await desk.parent(incident)
    if parent is not None:
        await desk.outbox.say(desk.row(incident, card(approval.id), parent=parent))


async def post_card(desk: Desk, incident: Incident, approval: Approval) -> None:
    """Put the card of an approval into its thread."""
    await _card(desk, incident, approval)


async def say_open(desk: Desk, asker: Asker, approval: Approval) -> None:
    """Tell somebody that the step is proposed already."""
    await _say_open(desk, asker, approval)


async def _say_open(desk: Desk, asker: Asker, approval: Approval) -> None:
    await desk.explain(
        asker,
        f"That step is proposed already: its card is in the thread ({approval.vm_name}).",
        next_step="Approve or decline it there.",
    )


async def decide(desk: Desk, asker: Asker, approval_id: str, verdict: Verdict) -> None:
    """Count somebody's click on a card, once, or tell them privately why it does not count."""
    approval = await desk.store.approvals.get(approval_id)
    if approval is None:
        return await desk.explain(asker, f"There is no approval {approval_id} any more.")
    act = Act.APPROVE if verdict is Verdict.APPROVE else Act.DECLINE
    if await _refused(desk, asker, approval, act):
        return None
    if verdict is Verdict.APPROVE and (why := await _changed(desk, approval)):
        await desk.store.approvals.void(approval_id, at=desk.now(), why=why)
    decision = await desk.store.approvals.decide(approval_id, verdict, by=asker.user, at=desk.now())
    approval = decision.approval
    if decision.answer is Answer.DECIDED and approval.state is ApprovalState.APPROVED:
        await begin(desk, approval)
    await desk.outbox.refresh(approval.incident_id)
    if said := await _answer(desk, decision.answer, approval, asker):
        await desk.tell(asker, said)
    return None


async def _refused(desk: Desk, asker: Asker, approval: Approval, act: Act) -> bool:
    """Tell somebody why the policy does not let them, and return whether that is so.

    What is decided already is for the store to say, with by whom and when.
    """
    ruling = await ruled(desk, asker, approval, act)
    if ruling.against in {None, Ground.STATE}:
        return False
    if ruling.against is Ground.PERSON:
        await desk.tell(asker, may_not_decide(await _shown(desk, approval)))
    else:
        who = "The card in the thread shows who is needed."
        glass = f" {desk.rules.command} break-glass {approval.id} VM WHY does without them."
        offered = desk.rules.policy.break_glass and ruling.against in {Ground.SELF, Ground.HOURS}
        await desk.explain(asker, ruling.why, next_step=f"{who}{glass if offered else ''}")
    return True


async def _changed(desk: Desk, approval: Approval) -> str:
    """Say what has changed of what an approval was asked on; empty where nothing has."""
    if approval.state is not ApprovalState.OPEN or desk.recovery is not None:
        return ""  # what is seen at act time counts there
    incident = await desk.store.incidents.get(approval.incident_id)
    checked = checked_of(incident)
    one = accused(checked) if checked else None
    offered = {each.rung for each in one.offers if each.offered} if one else set()
    if one is None or approval.step not in offered:
        return f"That step is not offered for {approval.vm_name} any more."
    if seen(one, approval.step) == approval.digest:
        return ""
    found = ", ".join(finding_words(each.finding) for each in one.findings) or "nothing"
    return f"The newest look is about {one.host} and found: {found}."


async def _answer(
    desk: Desk, answer: Answer, approval: Approval, asker: Asker
) -> message.Message | None:
    """Return what a click that decided nothing is answered with; None where it counted."""
    if answer is Answer.LATE:
        mine = approval.decided_by == asker.user and approval.state is ApprovalState.APPROVED
        if mine:
            # the same click delivered again, after a crash: what it began is finished
            await begin(desk, approval)
        return decided_already(await _shown(desk, approval), now=desk.now())
    sentence = _NOT_COUNTED.get(answer)
    if sentence is not None:
        await desk.explain(asker, sentence, next_step="The card in the thread shows who is needed.")
    return None


_NOT_COUNTED = {
    Answer.SAME_PERSON: "You approved this step before; a second person is needed.",
    Answer.NOT_READY: "The step is not ready to run, so it cannot be approved yet.",
}


async def begin(desk: Desk, approval: Approval) -> None:
    """Begin what was approved, once; where nothing may be changed, post what would be done."""
    if desk.recovery is not None:
        await desk.recovery.begin(approval)
    else:
        await _dry_run(desk, approval)


async def _dry_run(desk: Desk, approval: Approval) -> None:
    """Post the exact plan of an approved step where actions are off, and say so."""
    incident = await desk.store.incidents.get(approval.incident_id)
    parent = await desk.parent(incident) if incident else None
    if incident is not None and parent is not None:
        row = desk.row(incident, f"{DRY_RUN}{approval.id}", parent=parent, live=False)
        await desk.outbox.say(row)


async def ask_for_approval(desk: Desk, asker: Asker, approval_id: str) -> None:
    """Ask those who may decide, by a reply that mentions them, in the name of who may not."""
    approval = await desk.store.approvals.get(approval_id)
    if approval is None or approval.state is not ApprovalState.OPEN:
        return await desk.explain(asker, _LATE_BY_BOT, next_step="The card in the thread says how.")
    incident = await desk.store.incidents.get(approval.incident_id)
    parent = await desk.parent(incident) if incident else None
    if incident is not None and parent is not None:
        purpose = f"{ASKED}{approval.id}:{asker.user}"
        await desk.outbox.say(desk.row(incident, purpose, parent=parent, live=False))
    return None


async def stop(desk: Desk, asker: Asker, approval_id: str) -> None:
    """Stop a chain at its next boundary; whoever may decide may also stop it."""
    approval = await desk.store.approvals.get(approval_id)
    if approval is None or approval.state is not ApprovalState.APPROVED:
        return await desk.explain(asker, "There is nothing to stop.")
    if await _refused(desk, asker, approval, Act.STOP):
        return None
    why = f"Stopped by <@{asker.user}>."
    await desk.store.approvals.void(approval_id, at=desk.now(), why=why, by=asker.user)
    return await desk.outbox.refresh(approval.incident_id)


async def expire(desk: Desk) -> None:
    """Take the buttons off every card that nobody decided in time."""
    for approval in await desk.store.approvals.expire(desk.now()):
        await desk.outbox.refresh(approval.incident_id)


async def say_proofs(desk: Desk, said: set[str]) -> None:
    """Put the proof of each step that has ended into its thread; `said` are those known to be."""
    for run in await desk.store.step_runs.ended_since(desk.now() - _PROVEN_LATELY):
        if run.id in said or run.state is RunState.LEFT_OUT:
            continue
        incident = await desk.store.incidents.get(run.incident_id)
        parent = await desk.parent(incident) if incident else None
        if incident is not None and parent is not None:
            row = desk.row(incident, f"{PROOF}{run.id}", parent=parent, live=False)
            await desk.outbox.say(row)
        said.add(run.id)


async def _shown(desk: Desk, approval: Approval) -> values.Approval:
    incident = await desk.store.incidents.get(approval.incident_id)
    runs = await desk.store.step_runs.of(approval.id)
    return approval_shown(approval, checked_of(incident), desk.rules, runs)


def no_restart(desk: Desk, checked: Checked | None, one: Machine | None) -> message.Message:
    """Return why nothing that restarts anything can be chosen."""
    reasons = tuple(
        dict.fromkeys(
            reason
            for each in (one.offers if one else ())
            if each.rung != "nothing" and not each.offered
            for reason in each.why
        )
    )
    if not reasons and checked is not None:
        reasons = (checked.headline,)
    refusal = Refusal(action=Action.RESTART, reasons=reasons[:6], instead=_instead(checked))
    return refused(refusal, _links(desk, checked))


def _instead(checked: Checked | None) -> str:
    found = checked.diagnosis if checked else None
    return found.next_steps[0] if found and found.next_steps else ""


def why_no_restart(desk: Desk, incident: Incident) -> message.Message:
    """Return why a harmless card has no Restart."""
    checked = checked_of(incident)
    found = checked.diagnosis if checked else None
    reasons = (found.summary,) if found else ()
    refusal = Refusal(action=Action.WHY_NO_RESTART, reasons=reasons, instead=_instead(checked))
    return refused(refusal, _links(desk, checked))


def _links(desk: Desk, checked: Checked | None) -> Links | None:
    return desk.rules.links_of(checked) if checked else None
