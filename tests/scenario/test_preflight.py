"""All machines of a job are asked who resolves whom, from the menu, by command and by mention."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import File, Message
from playground.slack.server import SlackServer
from tests.scenario.logs import PASTE
from tests.scenario.stage import Stage, bot, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"
TITLE = "Who resolves whom: demo:48213"


@pytest.fixture
async def probed(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot with a fleet of nine machines, whose ninth has no resolver."""
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9) as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage:
            yield stage


async def reported(stage: Stage, ada: Acting) -> Message:
    """Ask for the job and return its report."""
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await stage.report(HERE)
    await stage.idle()
    return report


async def pressed(stage: Stage, who: Acting, report: Message) -> None:
    """Choose Pre-flight all VMs from the menu."""
    incident = (await stage.bot.desk.store.incidents.still_open())[0]
    await in_message(
        who, HERE, report.ts, Press(action_id="more", value=f"preflight:{incident.id}")
    )


def pictures(stage: Stage, thread: str) -> list[File]:
    """Return the pictures in a thread, the oldest first."""
    world = stage.slack.world
    ids = [file for one in stage.messages(HERE) if one.thread_ts == thread for file in one.files]
    return [world.files[one] for one in ids if world.files[one].mimetype == "image/png"]


async def test_all_machines_are_asked_from_the_menu(
    probed: Stage, slack: SlackServer, ada: Acting
) -> None:
    """One reply says how far it is, then who resolves whom; the picture says the same in words."""
    report = await reported(probed, ada)
    await pressed(probed, ada, report)
    reply = await probed.said(HERE, TITLE, "node-8")
    assert reply.thread_ts == report.ts
    said = text_of(reply)
    assert "no answer" in said
    assert "node-[0-7]: all 18 names" in said
    await probed.idle()
    edits = [one.args for one in slack.calls("chat.update") if one.args["ts"] == reply.ts]
    assert any(" of 9 machines" in one["text"] for one in edits)
    drawn = pictures(probed, report.ts)[-1]
    assert drawn.alt_text.startswith("Who resolves whom, 9 machines by 18 names.")
    assert "node-8" in drawn.alt_text
    assert drawn.data.startswith(b"\x89PNG")


async def test_a_second_click_while_it_is_asked_starts_nothing(
    probed: Stage, slack: SlackServer, ada: Acting
) -> None:
    """Two people press at once: one pre-flight, and the other is told where to look."""
    report = await reported(probed, ada)
    await pressed(probed, ada, report)
    await pressed(probed, slack.act_as("grace"), report)
    await until(
        lambda: [
            one
            for who in ("ada", "grace")
            for one in probed.whispers(HERE, who)
            if "A pre-flight of this job is under way" in one
        ]
    )
    await probed.said(HERE, TITLE)
    await probed.idle()
    assert len([one for one in probed.messages(HERE) if TITLE in text_of(one)]) == 1


async def test_a_later_one_has_a_reply_of_its_own(probed: Stage, ada: Acting) -> None:
    """What was found before stays where it was, and can be compared."""
    report = await reported(probed, ada)

    def replies() -> list[Message]:
        return [one for one in probed.messages(HERE) if TITLE in text_of(one)]

    await pressed(probed, ada, report)
    await until(lambda: len(replies()) == 1)
    await probed.idle()
    await pressed(probed, ada, report)
    await until(lambda: len(replies()) == 2)
    await probed.idle()
    # the check's own, and one of each pre-flight
    assert len(pictures(probed, report.ts)) == 3


async def test_by_command_for_a_job_that_nobody_asked_about(probed: Stage, ada: Acting) -> None:
    """The job is looked at first, so that there is a thread; then its machines are asked."""
    await ada.commands(HERE, "/nccl-dns preflight 48213")
    report = await probed.report(HERE)
    reply = await probed.said(HERE, TITLE)
    assert reply.thread_ts == report.ts


async def test_by_mention_in_the_thread(probed: Stage, ada: Acting) -> None:
    """In an incident's thread its job needs no name."""
    report = await reported(probed, ada)
    ada.says(HERE, "@nccl-dns preflight", thread_ts=report.ts)
    await probed.said(HERE, TITLE)


async def test_asked_for_in_another_channel(probed: Stage, ada: Acting) -> None:
    """It is shown in the one thread, and whoever asked elsewhere is told where that is."""
    report = await reported(probed, ada)
    await ada.commands("incident-room", "/nccl-dns preflight 48213")
    await probed.whispered("incident-room", "ada", "looked at already")
    reply = await probed.said(HERE, TITLE)
    assert reply.thread_ts == report.ts


async def test_without_a_job_there_is_nothing_to_ask(stage: Stage, ada: Acting) -> None:
    """A paste names no machines of a job, and a bare word in a channel names no job."""
    await ada.commands(HERE, "/nccl-dns preflight")
    await stage.whispered(HERE, "ada", "no job is named", "/nccl-dns preflight 48213")
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await stage.idle()
    await pressed(stage, ada, report)
    await stage.whispered(HERE, "ada", "of a pasted log", "Nothing was done")
    assert not [one for one in stage.messages(HERE) if "Pre-flight of" in text_of(one)]


async def test_help_lists_it(stage: Stage, ada: Acting) -> None:
    """What works is in the list."""
    await ada.commands(HERE, "/nccl-dns help")
    await stage.whispered(HERE, "ada", "/nccl-dns preflight JOB")
