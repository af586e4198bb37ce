"""How an incident ends: its parent, and one summary with times."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.incidents.incident import Entry, Incident
from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from tests.scenario.logs import PASTE
from tests.scenario.stage import Stage, bot, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@pytest.fixture
async def probed(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot with a fleet of nine machines, whose ninth has no resolver."""
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9) as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage:
            yield stage


def summaries(stage: Stage) -> list[Message]:
    """Return the summaries in the channel."""
    return [one for one in stage.messages(HERE) if text_of(one).startswith("Summary: ")]


async def only(stage: Stage) -> Incident:
    """Return the one open incident."""
    (found,) = await stage.bot.desk.store.incidents.still_open()
    return found


async def test_dismissed_is_summed_up_once(probed: Stage, slack: SlackServer, ada: Acting) -> None:
    """One reply has the outcome and what happened when, by whom; a second click adds nothing."""
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await probed.report(HERE)
    await probed.idle()
    incident = await only(probed)
    await restart(ada, HERE, report)
    card = await probed.said(HERE, "Approve? node-8")
    await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="decline"))
    await until(lambda: "Declined: node-8" in text_of(card))
    await in_message(ada, HERE, report.ts, Press(action_id="more", value=f"dismiss:{incident.id}"))
    summary = await probed.said(HERE, "Summary: demo:48213")
    said = text_of(summary)
    assert summary.thread_ts == report.ts
    for words in ("Dismissed", "It took", "asked, @U0ENGINEER", "looked at: ", "step proposed"):
        assert words in said
    assert "declined" in said
    assert "Dismissed by @U0ENGINEER" in text_of(report)
    # what was found is no reason for dismissing it
    assert "resolver failed" not in text_of(report).partition("Dismissed by ")[2].partition("\n")[0]
    await probed.idle()
    assert len(summaries(probed)) == 1


async def test_whoever_ends_it_each_replica_would_say_it(
    slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """An end that nobody clicked is summed up, too, by one of the replicas that see it."""
    told = settings(slack, tmp_path)
    async with bot(slack, told) as first, bot(slack, told):
        await ada.commands(HERE, f"/nccl-dns {PASTE}")
        await first.report(HERE)
        await first.idle()
        incident = await only(first)
        desk = first.bot.desk
        entry = Entry(at=desk.now(), kind="closed", text="The resolver runs again.")
        await desk.store.incidents.close(incident.id, entry)
        summary = await first.said(HERE, "Summary: pasted log")
        assert "Closed: The resolver runs again. No step was carried out." in text_of(summary)
        # both have looked for ended incidents again by the time the next one is said
        await ada.commands(HERE, f"/nccl-dns {PASTE}")
        await first.idle()
        again = await only(first)
        await desk.store.incidents.close(again.id, Entry(at=desk.now(), kind="closed", text="Two."))
        await first.said(HERE, "Closed: Two.")
        assert len(summaries(first)) == 2


async def test_an_incident_without_a_report_has_no_summary(probed: Stage, ada: Acting) -> None:
    """Where nothing came of it, whoever asked is told why, and there is nothing to sum up."""
    await ada.commands(HERE, "/nccl-dns 99")
    await probed.whispered(HERE, "ada", "99", "Nothing was done")
    await probed.idle()
    # a later incident is summed up, and so the one before has been passed over
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await probed.report(HERE)
    await probed.idle()
    incident = await only(probed)
    await in_message(ada, HERE, report.ts, Press(action_id="more", value=f"dismiss:{incident.id}"))
    await probed.said(HERE, "Summary: demo:48213")
    assert len(summaries(probed)) == 1
