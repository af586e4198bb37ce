"""Cards of a step that people decide about, in every state, and the answers to late clicks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from slack_sdk.models.blocks import Block

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Line,
    Names,
    Piece,
    actions,
    age,
    button,
    header,
    line,
    lines,
    listed,
    moment,
    people,
    person,
    words,
)
from bot.reports.slack.proofs import ENDED, carried
from bot.reports.slack.switched import stopped_lines
from bot.reports.slack.values import MOVING, Action, Approval, Decision, Purpose, Standing

_TITLES = {
    Decision.WAITING: "Approve?",
    Decision.APPROVED: "Approved:",
    Decision.DECLINED: "Declined:",
    Decision.EXPIRED: "Expired:",
    Decision.VOIDED: "Voided:",
}
_NOTHING_DONE = "Nothing was done."


def card(approval: Approval, *, now: datetime) -> Message:
    """Return the card of a step: what it does, loses and rests on, who may decide, until when.

    Buttons stand on it only while it waits. Those who may decide are mentioned in the text.
    """
    name = Names(approval.revision)
    waits = approval.decision is Decision.WAITING
    title = f"{_title(approval)} {approval.vm}"
    blocks = [
        header(name("title"), title),
        lines(name("step"), *_step(approval)),
        *_lists(approval, name),
        lines(name("decision"), *_decision(approval, now)),
    ]
    if approval.stopped and (waits or _moves(approval)):
        blocks.append(lines(name("stopped"), *stopped_lines(approval.stopped, now)))
    if approval.steps:
        blocks.append(lines(name("steps"), *carried(approval.steps, now)))
    if waits:
        blocks.append(_buttons(approval, name))
    elif _moves(approval):
        blocks.append(actions(name("controls"), button(Action.STOP, approval.id, style="danger")))
    ask = f"Expires in {age(approval.expires_at - now)}." if waits else _outcome(approval)
    return fitting.message(
        blocks=blocks,
        text=notification(
            f"{title}.",
            approval.what,
            f"Loses: {'; '.join(approval.loses) or 'nothing'}.",
            ask,
            mentioned=approval.may_decide if waits else (),
        ),
        about=_about(approval, Purpose.APPROVAL),
    )


def _moves(approval: Approval) -> bool:
    """Tell whether the chain is begun, goes on, and can still be stopped."""
    approved = approval.decision is Decision.APPROVED
    return approved and any(one.state in MOVING for one in approval.steps)


def _title(approval: Approval) -> str:
    """Return how it stands: decided, under way, or how it ended."""
    if not approval.steps or approval.decision is not Decision.APPROVED:
        return _TITLES[approval.decision]
    if _moves(approval):
        return "Under way:"
    ends = [one.state for one in approval.steps if one.state is not Standing.LEFT_OUT]
    return ENDED.get(ends[-1], "Approved:") if ends else "Approved:"


def _about(approval: Approval, purpose: Purpose) -> dict[str, str | int]:
    return {
        "incident": approval.incident,
        "approval": approval.id,
        "purpose": purpose.value,
        "revision": approval.revision,
    }


def _step(approval: Approval) -> Iterator[Line]:
    yield line(words(approval.what, bold=True))
    yield line("VM: ", words(approval.vm, code=True))
    if approval.vm_id:
        yield line(words(approval.vm_id, code=True))


def _lists(approval: Approval, name: Names) -> Iterator[Block]:
    if approval.loses:
        yield listed(name("loses"), map(line, approval.loses), title="What will not come back:")
    else:
        yield lines(name("loses"), line(words("What will not come back: ", bold=True), "nothing"))
    if approval.rests_on:
        yield listed(name("rests-on"), map(line, approval.rests_on), title="It rests on:")
    if approval.plan:
        yield listed(name("plan"), map(line, approval.plan), title="What is done:", style="ordered")


def _decision(approval: Approval, now: datetime) -> Iterator[Line]:
    asked = (person(approval.asked_by), " at ", moment(approval.asked_at, now))
    yield line("Asked by ", *asked)
    yield from _consents(approval, now)
    if approval.decision is Decision.WAITING:
        yield from _waits(approval, now)
    else:
        at = approval.decided_at
        when: tuple[Piece, ...] = (" at ", moment(at, now)) if at else ()
        yield line(words(_SAID[approval.decision], bold=True), *_decider(approval), *when)
        yield line(_outcome(approval))


def _consents(approval: Approval, now: datetime) -> Iterator[Line]:
    for one in approval.consents:
        yield line("Approved by ", person(one.by), " at ", moment(one.at, now))


_SAID = {
    Decision.APPROVED: "Decided",
    Decision.DECLINED: "Declined by ",
    Decision.EXPIRED: "Expired",
    Decision.VOIDED: "Voided",
}


def _decider(approval: Approval) -> tuple[Piece, ...]:
    return (person(approval.decided_by),) if approval.decision is Decision.DECLINED else ()


def _waits(approval: Approval, now: datetime) -> Iterator[Line]:
    needed = "one of them" if approval.needed == 1 else f"{approval.needed} different people"
    who = list(people(approval.may_decide)) or ["nobody: name approvers in the settings"]
    yield line("May approve: ", *who, f" ({needed}; {len(approval.consents)} so far)")
    yield line(
        words("Expires at ", bold=True),
        moment(approval.expires_at, now),
        f" (in {age(approval.expires_at - now)}). Then nothing is done: silence is not consent.",
    )


def _outcome(approval: Approval) -> str:
    """Say in a sentence what became of it, and what to do next."""
    because = f" {approval.because.strip()}" if approval.because.strip() else ""
    match approval.decision:
        case Decision.APPROVED:
            return f"Approved.{because}"
        case Decision.DECLINED:
            return f"Declined.{because} {_NOTHING_DONE}"
        case Decision.EXPIRED:
            return f"Nobody decided in time. {_NOTHING_DONE} Press the button again to ask anew."
        case Decision.VOIDED:
            return f"What it rested on has changed.{because} {_NOTHING_DONE} Probe again first."
        case Decision.WAITING:
            return "It waits for a decision."


def _buttons(approval: Approval, name: Names) -> Block:
    return actions(
        name("controls"),
        button(Action.APPROVE, approval.id, style="primary"),
        button(Action.DECLINE, approval.id, style="danger"),
    )


def may_not_decide(approval: Approval) -> Message:
    """Return the private answer to a click by somebody who may not decide: why, and who may."""
    name = Names(approval.revision)
    who = list(people(approval.may_decide)) or ["nobody: name approvers in the settings"]
    return fitting.message(
        blocks=[
            lines(
                name("refusal"),
                line("You may not decide this step. ", _NOTHING_DONE),
                line("May approve: ", *who),
            ),
            actions(name("controls"), button(Action.ASK_FOR_APPROVAL, approval.id)),
        ],
        text=notification("You may not decide this step.", _NOTHING_DONE),
        about=_about(approval, Purpose.PRIVATE),
    )


def asked(approval: Approval, by: str, *, now: datetime) -> Message:
    """Return the reply by which somebody who may not decide asks those who may: it pings them."""
    name = Names(approval.revision)
    return fitting.message(
        blocks=[
            lines(
                name("asked"),
                line(*people(approval.may_decide), ": ", person(by), " asks you to decide:"),
                line(words(approval.what, bold=True), " VM: ", words(approval.vm, code=True)),
                line("Expires at ", moment(approval.expires_at, now), ". The card is above."),
            )
        ],
        text=notification(
            f"Please decide: {approval.what} VM {approval.vm}.", mentioned=approval.may_decide
        ),
        about=_about(approval, Purpose.APPROVAL_ASKED),
    )


def decided_already(approval: Approval, *, now: datetime) -> Message:
    """Return the private answer to a click that came too late: what was decided, and by whom."""
    name = Names(approval.revision)
    return fitting.message(
        blocks=[
            lines(
                name("late"),
                line("Your click changed nothing: this was decided before."),
                *_decision(approval, now),
            )
        ],
        text=notification("Your click changed nothing.", _outcome(approval)),
        about=_about(approval, Purpose.PRIVATE),
    )


def dry_run(approval: Approval, *, why: str, now: datetime) -> Message:
    """Return what an approved step would have done, exactly, where nothing may be done yet."""
    name = Names(approval.revision)
    steps = approval.plan or (approval.what,)
    return fitting.message(
        blocks=[
            header(name("title"), f"Dry run: {approval.vm}"),
            lines(
                name("what"),
                line(words("Would have: ", bold=True), approval.what),
                *_consents(approval, now),
            ),
            listed(name("plan"), map(line, steps), title="The exact plan:", style="ordered"),
            lines(name("why"), line(words("Nothing was changed. ", bold=True), why)),
        ],
        text=notification(
            f"Dry run on {approval.vm}: would have: {approval.what} Nothing was changed.", why
        ),
        about=_about(approval, Purpose.DRY_RUN),
    )
