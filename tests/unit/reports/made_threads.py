"""Replies that tell how things go and what they came to, made of any texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.reports.slack.approvals import card
from bot.reports.slack.escalated import escalated
from bot.reports.slack.glass import glass
from bot.reports.slack.message import Message, View
from bot.reports.slack.preflights import asking, preflighted
from bot.reports.slack.proofs import proof
from bot.reports.slack.report import report
from bot.reports.slack.switched import switched
from bot.reports.slack.updates import revised, status, unread
from bot.reports.slack.values import Asking, Decision, Proven, Standing, Step, Stopped, Told
from tests.unit.reports.made import (
    ALICE,
    ASKED,
    BOB,
    NOW,
    ONCALL,
    Text,
    approval,
    checked,
    decided,
    incident,
    sources,
    usual,
)


def steps(*, text: Text = usual) -> tuple[Step, ...]:
    """Return steps of a chain in every state."""
    return tuple(
        Step(
            what=text("step.what", "Restart systemd-resolved in the guest."),
            state=state,
            said=text("step.said", "It runs again."),
            done=3,
            total=8,
            unit=text("step.unit", "GB"),
            began_at=ASKED,
            ended_at=NOW,
        )
        for state in Standing
    )


def proven(state: Standing, *, text: Text = usual) -> Proven:
    """Return how a step ended, with its outputs."""
    return Proven(
        id="run_01JDY",
        incident="inc_01JDY",
        revision=2,
        vm=text("proven.vm", "gpu-8"),
        step=replace(steps(text=text)[0], state=state),
        outputs={
            text("output.name", "systemctl show systemd-resolved"): text(
                "output", "ActiveState=active"
            ),
            "getent ahosts gpu-0": "",
        },
    )


def threads(*, text: Text = usual) -> Mapping[str, Message | View]:
    """Return the replies that tell how things go and what they came to."""
    one, seen = incident(text=text), checked(text=text)
    said = text("preflight.said", "looking names up")
    headline = text("preflight.headline", "gpu-8 gets no answer for 6 of 8 names.")
    rest = text("preflight.rest", "gpu-[0-7]: all 8 names\ngpu-8: no answer (-3): 6 names")
    why = text("stopped.why", "somebody is on gpu-8")
    held = Stopped(what="Paused", by=ALICE, at=ASKED, why=why)
    return {
        "switched on": switched(
            one, held, may_resume=(BOB, ONCALL), command="/nccl-dns", now=NOW
        ),
        "switched off": switched(
            one, replace(held, over=True), may_resume=(BOB, ONCALL), command="/nccl-dns", now=NOW
        ),
        "glass broken": glass(
            approval(text=text), by=BOB, why=text("glass.why", "The run ends at noon."), at=ASKED,
            permalink=one.permalink, now=NOW,
        ),
        "escalated": escalated(
            approval(text=text), called=(BOB, ONCALL), number=1, now=NOW
        ),
        "escalated to nobody": escalated(approval(text=text), called=(), number=0, now=NOW),
        "approval, stopped": card(
            replace(approval(text=text), stopped=(held,)), now=NOW
        ),
        "report, looking again": report(seen, one, now=NOW, again=sources(text=text)),
        "pre-flight, elsewhere": asking(one, None, now=NOW),
        "pre-flight, under way": asking(
            one, Asking(by=ALICE, began_at=ASKED, said=said, done=3, total=8), now=NOW
        ),
        "pre-flight, begun": asking(one, Asking(by=ALICE, began_at=ASKED, said=said), now=NOW),
        "pre-flight": preflighted(
            one, Told(by=ALICE, at=NOW, headline=headline, rest=rest), now=NOW
        ),
        "proof": proof(proven(Standing.PASSED, text=text), mentioned=(BOB, ONCALL), now=NOW),
        "proof, failed": proof(
            proven(Standing.FAILED, text=text), mentioned=(BOB, ONCALL), now=NOW
        ),
        "approval, carried out": card(
            replace(decided(Decision.APPROVED, text=text), steps=steps(text=text)), now=NOW
        ),
        "status": status(
            (one,), level=text("level", "2 of 3 (probe)"),
            missing=(text("missing", "No cloud is set."),), stopped=(held,), now=NOW,
        ),
        "revised": revised(
            one, by=ALICE, added=text("added", "rank-0.log"), before=text("before", "It was."),
            after=text("after", "It is."),
        ),
        "unread": unread(one, text("unread", "No cluster knows it.")),
    }  # fmt: skip
