"""Every way in, at the level of pastes: command, mention, direct message, shortcut, files."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest
import zstandard

from playground.slack import modal
from playground.slack.acting import Acting
from playground.slack.server import SlackServer
from tests.scenario.logs import PASTE, example
from tests.scenario.stage import Stage, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


async def test_pasted_lines_after_the_command(stage: Stage, ada: Acting) -> None:
    """A paste names machine and cause, and offers no step that loses anything on its word."""
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    assert "node-8" in text_of(report)
    assert "Level 0 of 3 (paste)" in text_of(report)
    assert not report.thread_ts or report.thread_ts == report.ts


async def test_help_and_status_are_for_one_person(stage: Stage, ada: Acting) -> None:
    """Help and status are seen by whoever asked, and by nobody else."""
    await ada.commands(HERE, "/nccl-dns help")
    await stage.whispered(HERE, "ada", "Which rank, which VM, and why", "/nccl-dns check JOB")
    await ada.commands(HERE, "/nccl-dns status")
    await stage.whispered(HERE, "ada", "Open: 0", "0 of 3 (paste)")
    assert not [one for one in stage.messages(HERE) if one.bot_id]


async def test_a_job_of_no_cluster_is_explained(stage: Stage, ada: Acting) -> None:
    """Without a cluster a job ID cannot be looked up, and the person is told what is missing."""
    await ada.commands(HERE, "/nccl-dns check 48213")
    said = await stage.whispered(HERE, "ada", "No cluster")
    assert "Nothing was done" in said


async def test_a_word_that_is_nothing_is_explained(stage: Stage, ada: Acting) -> None:
    """One word that is no job is an error with the forms of a job's ID."""
    await ada.commands(HERE, "/nccl-dns nonsense")
    await stage.whispered(HERE, "ada", "nonsense", "is no job ID")


async def test_the_command_alone_opens_a_form(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """An empty form is sent back with a sentence; a filled one becomes a report where it began."""
    await ada.commands(HERE, "/nccl-dns")
    view = await until(lambda: slack.world.visible_view(ada.id))
    await modal.submit(ada, view, {})
    assert "Fill in one of the fields" in view.errors["pasted_text"]
    await modal.submit(ada, view, {"pasted_text": {"pasted_text": PASTE}})
    assert not view.errors
    assert "node-8" in text_of(await stage.report(HERE))


async def test_a_file_in_the_form(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """A file that was put into the form is read though nobody shared it."""
    await ada.commands(HERE, "/nccl-dns")
    view = await until(lambda: slack.world.visible_view(ada.id))
    file = ada.brings("job.log", example())
    await modal.submit(ada, view, {"pasted_file": {"pasted_file": [file.id]}})
    assert not view.errors
    await stage.report(HERE)


async def test_a_mention_with_text(stage: Stage, ada: Acting) -> None:
    """A mention is answered in its thread; Slack's markup of the paste is undone first."""
    asked = ada.says(HERE, f"@nccl-dns {PASTE}")
    report = await stage.report(HERE)
    assert report.thread_ts == asked.ts
    evidence = await stage.said(HERE, "Lines that bear it out", "node-0.fleet.internal")
    assert "<http" not in text_of(evidence)


async def test_sub_commands_by_mention_in_a_thread(stage: Stage, ada: Acting) -> None:
    """Slash commands do not work in threads, so every word works by mention there."""
    root = ada.says(HERE, "our job hangs")
    ada.says(HERE, "@nccl-dns help", thread_ts=root.ts)
    await stage.whispered(HERE, "ada", "Which rank, which VM, and why")


async def test_a_mention_alone_reads_the_thread(stage: Stage, ada: Acting) -> None:
    """A bare mention in a thread asks about what was written there."""
    root = ada.says(HERE, PASTE)
    ada.says(HERE, "@nccl-dns", thread_ts=root.ts)
    report = await stage.report(HERE)
    assert report.thread_ts == root.ts


async def test_a_direct_message(stage: Stage, ada: Acting, slack: SlackServer) -> None:
    """In a direct message no mention is needed."""
    ada.says("@", PASTE)
    direct = slack.world.direct(ada.id).id
    assert "node-8" in text_of(await stage.report(direct))


async def test_the_shortcut_on_a_message(stage: Stage, ada: Acting) -> None:
    """The shortcut reads the message and answers in its thread."""
    asked = ada.says(HERE, PASTE)
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)
    report = await stage.report(HERE)
    assert report.thread_ts == asked.ts


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".zip"])
async def test_a_shared_file(stage: Stage, ada: Acting, ending: str) -> None:
    """A file is read as it is, or unpacked."""
    asked = ada.shares(HERE, f"job.log{ending}", _packed(example(), ending))
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)
    report = await stage.report(HERE)
    assert report.thread_ts == asked.ts


async def test_a_file_with_a_mention(stage: Stage, ada: Acting) -> None:
    """A file that is shared with a mention is looked at."""
    ada.shares(HERE, "job.log", example(), text="@nccl-dns what is this?")
    await stage.report(HERE)


async def test_a_file_in_our_thread_is_evidence(stage: Stage, ada: Acting) -> None:
    """It revises the verdict in place, and a reply says what it changed."""
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await stage.idle()
    ada.shares(HERE, "rank-0.log", b"nothing of note here\n" * 50, thread_ts=report.ts)
    revised = await stage.said(HERE, "added rank-0.log", "The verdict")
    assert revised.thread_ts == report.ts
    reports = [one for one in stage.messages(HERE) if one.bot_id and one.ts == report.ts]
    assert len(reports) == 1


async def test_a_secret_is_told_to_its_poster_alone(stage: Stage, ada: Acting) -> None:
    """Whoever pastes a token is told privately to delete and rotate it; nobody sees it again."""
    token = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
    ada.says(HERE, f"@nccl-dns {PASTE}\nHF_TOKEN={token}")
    await stage.whispered(HERE, "ada", "holds secrets", "Rotate")
    await stage.report(HERE)
    await stage.idle()
    assert not [one for one in stage.messages(HERE) if one.bot_id and token in str(one.blocks)]


@pytest.mark.parametrize("ending", ["", ".gz", ".zip"])
async def test_a_secret_in_a_file_is_told_to_who_shared_it(
    stage: Stage, slack: SlackServer, ada: Acting, ending: str
) -> None:
    """It is counted while the file is read, and told to its poster though somebody else asks."""
    token = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
    log = example() + f"\nHF_TOKEN={token}\nmail ops@example.org\n".encode()
    grace = slack.act_as("grace")
    shared = grace.shares(HERE, f"job.log{ending}", _packed(log, ending))
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=shared.ts)
    said = await stage.whispered(HERE, "grace", "holds secrets", "huggingface-token (1)")
    assert "email" not in said
    await stage.report(HERE)
    await stage.idle()
    assert not [one for one in stage.whispers(HERE, "ada") if "secret" in one]
    assert not [one for one in stage.messages(HERE) if one.bot_id and token in str(one.blocks)]


async def test_the_writer_of_a_message_is_told_of_its_secret(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """Whoever takes the shortcut on somebody else's message did not post what it holds."""
    said = slack.act_as("grace").says(HERE, f"{PASTE}\nAWS_SECRET_ACCESS_KEY={'aB3+' * 10}")
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=said.ts)
    await stage.whispered(HERE, "grace", "holds secrets", "Rotate")
    await stage.report(HERE)
    await stage.idle()
    assert not [one for one in stage.whispers(HERE, "ada") if "secret" in one]


async def test_the_same_job_elsewhere_gets_a_link(stage: Stage, ada: Acting) -> None:
    """Buttons live in one place: another channel gets a card that links to the thread."""
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    await stage.report(HERE)
    await stage.idle()
    await ada.commands("incident-room", f"/nccl-dns {PASTE}")
    card = await stage.said("incident-room", "looked at already", "The buttons are in that thread")
    assert "/archives/C0TRAINING/" in str(card.blocks)


async def test_where_the_bot_is_no_member(stage: Stage, ada: Acting) -> None:
    """It says by the command's own address how to invite it, and starts nothing."""
    await ada.commands("general", f"/nccl-dns {PASTE}")
    await stage.whispered("general", "ada", "/invite @nccl-dns", "Nothing was started")
    await stage.idle()
    assert not await stage.bot.desk.store.incidents.still_open()


@pytest.mark.parametrize("who", ["guest", "stranger"])
async def test_outsiders_are_refused(stage: Stage, slack: SlackServer, who: str) -> None:
    """Guests and people of other workspaces are told why, privately, and nothing is read."""
    person = slack.act_as(who)
    channel = "training-oncall" if who == "guest" else "shared-with-vendor"
    person.says(channel, f"@nccl-dns {PASTE}")
    await stage.whispered(channel, who, "I answer")
    await stage.idle()
    assert not [one for one in stage.messages(channel) if one.bot_id]


def _packed(data: bytes, ending: str) -> bytes:
    if ending == ".gz":
        return gzip.compress(data)
    if ending == ".zst":
        return zstandard.compress(data)
    if ending == ".zip":
        room = io.BytesIO()
        with zipfile.ZipFile(room, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("job/rank-8.log", data)
        return room.getvalue()
    return data
