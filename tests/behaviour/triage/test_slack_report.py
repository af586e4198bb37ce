"""What Slack is shown of each fault: the button that mends it stands out, and no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.reports.slack.replies import evidence, probes
from bot.reports.slack.report import report
from bot.reports.slack.values import Incident
from bot.triage.check import check
from playground.fleet.faults import FAULTS, break_
from tests.behaviour.triage.test_check import BY_ID, TABLE
from tests.behaviour.triage.world import World
from tests.unit.reports.judge import judge
from tests.unit.reports.seen import primary, said

pytestmark = pytest.mark.anyio

#: fault → the button that is recommended, and how the notification begins
SHOWN = {
    "resolver-failed": (["Restart"], "node-2: resolver failed."),
    "resolver-hung": (["Restart"], "node-2: resolver hung."),
    "resolver-hung-then-restarted": ([], "node-2: resolver hung then restarted."),
    "resolv-conf-overwritten": ([], "node-2: resolv conf overwritten."),
    "search-domain-lost": ([], "node-2: search domain lost."),
    "upstream-dead": (["Draft ticket"], "Not one VM's fault: upstream unreachable."),
    "record-missing": ([], "Not one VM's fault: record missing."),
    "port-blocked": ([], "node-2: rendezvous port blocked."),
    "host-silent": (["Restart"], "node-2: host silent."),
    "login-hangs": ([], "node-2: login hangs."),
}


def test_every_fault_of_the_fleet_is_in_the_table() -> None:
    """A new fault has to be shown as what it is."""
    assert SHOWN.keys() == FAULTS.keys()


@pytest.mark.parametrize("fault", SHOWN)
async def test_each_fault_is_shown_as_what_it_is(fault: str) -> None:
    """From the job's ID to the card: machine, state, finding, and what is recommended."""
    world = World(log=TABLE[fault][0])
    break_(world.network, fault, "node-0" if fault == "record-missing" else "node-2")
    checked = await check(world.services(), BY_ID)
    now = datetime.now(UTC) + timedelta(seconds=5)
    incident = Incident(id="inc_1", job="hall:48213", asked_by="U024BE7LH", asked_at=now)

    card = report(checked, incident, now=now)

    judge(card)
    recommended, begins = SHOWN[fault]
    assert primary(card) == recommended
    assert card.text.startswith(begins)
    assert "RUNNING read" in said(card)
    for reply in (evidence(checked, incident), probes(checked, incident, now=now)):
        judge(reply)
        assert reply.attachments == card.attachments == ()
