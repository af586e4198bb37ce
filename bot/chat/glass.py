"""Approve alone and at any hour, by typing the VM's name and a reason: said before it is done."""

from __future__ import annotations

from datetime import datetime

from bot.chat import deciding
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import ChatError
from bot.chat.rendering import GLASS
from bot.chat.ruling import ruled
from bot.diagnosis.redact import redact
from bot.incidents.approval import Answer, Approval, Decision, Verdict
from bot.incidents.audit import Deed, digest_of
from bot.incidents.incident import Entry
from bot.incidents.message import Message
from bot.incidents.store import Store
from bot.recovery.policy import Act

_LONGEST = 500
_USAGE = "break-glass APPROVAL VM and why nobody else can be waited for"


async def break_glass(desk: Desk, asker: Asker, text: str) -> None:
    """Approve a step alone: `text` is the approval, the VM's name as typed, and the reason."""
    approval_id, typed_vm, reason = (*text.split(maxsplit=2), "", "", "")[:3]
    approval = await desk.store.approvals.get(approval_id) if approval_id else None
    if approval is None:
        usage = f"{desk.rules.command} {_USAGE}"
        return await desk.explain(asker, "That is no approval of mine.", next_step=usage)
    ruling = await ruled(desk, asker, approval, Act.BREAK_GLASS, typed_vm=typed_vm, reason=reason)
    if not ruling.allowed:
        return await desk.explain(asker, ruling.why)
    row = row_of(desk, approval)
    try:
        await noted(desk.store, approval, by=asker.user, reason=reason, at=desk.now())
        await desk.outbox.say(row)
    except ChatError as error:
        why = f"It could not be posted to <#{desk.rules.audit_channel}>: {error}"
        return await desk.explain(asker, why, next_step="Invite me there, then try again.")
    decision = await decided(desk.store, approval, by=asker.user, reason=reason, at=desk.now())
    if decision.answer is not Answer.DECIDED:
        return await desk.explain(asker, "It was decided in the meantime.")
    await deciding.begin(desk, decision.approval)
    return await desk.outbox.refresh(approval.incident_id)


def row_of(desk: Desk, approval: Approval) -> Message:
    """Return the row of what is posted to the audit channel."""
    return message_of(
        approval, team=desk.identity.team, channel=desk.rules.audit_channel, at=desk.now()
    )


def message_of(approval: Approval, *, team: str, channel: str, at: datetime) -> Message:
    """Return a message about a broken glass, once for each approval."""
    return Message(
        id=f"glass-{approval.id}", incident_id=approval.incident_id,
        purpose=f"{GLASS}{approval.id}", team=team, channel=channel, created_at=at, live=False,
    )  # fmt: skip


def words(reason: str) -> str:
    """Return a reason as it is kept and shown: redacted, on one line, not too long."""
    return redact(" ".join(reason.split())).text[:_LONGEST]


async def noted(store: Store, approval: Approval, *, by: str, reason: str, at: datetime) -> None:
    """Keep who breaks the glass and why, before anything comes of it."""
    said = words(reason)
    entry = Entry(at=at, kind="glass_broken", who=by, about=approval.id, text=said)
    await store.incidents.record(approval.incident_id, entry)
    await store.audit.note(
        Deed(
            at=at, what="glass_broken", who=by, incident_id=approval.incident_id,
            about=approval.id, vm_id=approval.vm_id, digest=digest_of(approval.vm_name, said),
        )
    )  # fmt: skip


async def decided(
    store: Store, approval: Approval, *, by: str, reason: str, at: datetime
) -> Decision:
    """Approve by one person alone; of all that race, one decides."""
    return await store.approvals.decide(
        approval.id, Verdict.APPROVE, by=by, at=at, reason=words(reason), alone=True
    )
