"""Nothing that we say in Slack is lost, said twice, or left showing the past."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from bot.errors import InputError
from bot.incidents.errors import UnknownApprovalError, UnknownIncidentError, UnknownMessageError
from bot.incidents.incident import Entry
from bot.incidents.message import Message, card
from bot.incidents.store import Store, open_store
from tests.behaviour.store.rows import AT, MINUTE, approval, message, opened

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
NEWS = Entry(at=AT, kind="probed")
#: Dies after it has begun to send, at the moment when nobody knows whether Slack got the message.
DYING = """
import asyncio, os, signal, sys
from bot.incidents.store import open_store
from tests.behaviour.store.rows import AT, MINUTE, message, opened

async def main(url):
    async with open_store(url) as store:
        incident = await opened(store)
        for purpose in ("evidence", "parent"):
            kept = await store.messages.own(message(incident.id, purpose))
        assert await store.messages.claim(kept.id, by="dead", at=AT, lease=MINUTE)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(sys.argv[1]))
"""


async def posted(
    store: Store, incident_id: str, purpose: str = "parent", **told: object
) -> Message:
    """Return a message that stands in Slack and shows the first revision."""
    kept = await store.messages.own(message(incident_id, purpose, **told))
    return await store.messages.sent(kept.id, ts=f"1.{purpose}", at=AT, shown=1, digest="d1")


async def test_a_row_is_there_before_the_message(store: Store) -> None:
    """It says what is to be said where, and which revision is due."""
    incident = await opened(store)
    await store.incidents.record(incident.id, NEWS)
    wanted = message(incident.id, thread="1.000100")

    kept = await store.messages.own(wanted)

    assert kept == replace(wanted, due=2)
    assert await store.messages.get(wanted.id) == kept
    assert await store.messages.of(incident.id) == (kept,)


async def test_one_thing_is_said_once_in_a_channel(store: Store) -> None:
    """Who wants it said again gets the row there is; another channel is another message."""
    incident = await opened(store)

    first = await store.messages.own(message(incident.id))
    again = await store.messages.own(message(incident.id))
    elsewhere = await store.messages.own(message(incident.id, channel="C0OTHER"))

    assert again == first
    assert elsewhere.id != first.id


async def test_one_replica_sends(url: str) -> None:
    """Of all that want to say one thing at once, one may."""
    claims: list[Message | None] = []

    async with open_store(url) as one, open_store(url) as other:
        incident = await opened(one)

        async def say(store: Store, by: str) -> None:
            kept = await store.messages.own(message(incident.id))
            claims.append(await store.messages.claim(kept.id, by=by, at=AT, lease=MINUTE))

        async with anyio.create_task_group() as tasks:
            for number, store in enumerate((one, other) * 4):
                tasks.start_soon(say, store, f"replica-{number}")

    (winner,) = [claim for claim in claims if claim is not None]
    assert winner.tries == 1


async def test_who_comes_later_finds_it_sent(store: Store) -> None:
    """The lease ends when the message is sent; then it can be edited."""
    incident = await opened(store)
    kept = await store.messages.own(message(incident.id))
    await store.messages.claim(kept.id, by="replica-1", at=AT, lease=MINUTE)

    sent = await store.messages.sent(
        kept.id, ts="1.2", at=AT + MINUTE, shown=1, digest="d1", thread="1.1"
    )

    assert sent == replace(
        kept, ts="1.2", posted_at=AT + MINUTE, shown=1, digest="d1", thread="1.1", tries=1
    )
    later = await store.messages.claim(kept.id, by="replica-2", at=AT, lease=MINUTE)
    assert later is not None
    assert (later.ts, later.tries) == ("1.2", 1)
    assert await store.messages.at("C0TRAIN", "1.2") == later
    assert await store.messages.at("C0OTHER", "1.2") is None


async def test_a_thread_is_ours_by_its_parent_or_by_our_reply(store: Store) -> None:
    """Our messages in a thread are found, whether its parent is ours or somebody else's."""
    incident = await opened(store)
    parent = await store.messages.own(message(incident.id))
    await store.messages.sent(parent.id, ts="1.2", at=AT, shown=1)
    reply = await store.messages.own(replace(message(incident.id, "evidence"), thread="1.2"))

    found = await store.messages.in_thread("C0TRAIN", "1.2")
    assert {one.id for one in found} == {parent.id, reply.id}
    assert await store.messages.in_thread("C0OTHER", "1.2") == ()
    assert await store.messages.in_thread("C0TRAIN", "9.9") == ()


async def test_the_first_ts_counts(store: Store) -> None:
    """Who has sent it a second time learns which copy to delete."""
    incident = await opened(store)
    kept = await store.messages.own(message(incident.id))
    await store.messages.sent(kept.id, ts="1.1", at=AT, shown=1)

    second = await store.messages.sent(kept.id, ts="2.2", at=AT, shown=5)

    assert (second.ts, second.shown) == ("1.1", 1)


async def test_a_crash_between_insert_and_send_loses_nothing(url: str) -> None:
    """What may have been sent is told from what was not; both are found when the lease is over."""
    ended = subprocess.run(  # noqa: ASYNC221 - there is nothing else to do meanwhile
        [sys.executable, "-c", DYING, url], cwd=ROOT, check=False, capture_output=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()

    async with open_store(url) as store:
        at_once = await store.messages.unsent(since=AT, at=AT)
        later = await store.messages.unsent(since=AT, at=AT + MINUTE)
        tries = {kept.purpose: kept.tries for kept in later}
        parent = next(kept for kept in later if kept.purpose == "parent")
        again = await store.messages.claim(parent.id, by="me", at=AT + MINUTE, lease=MINUTE)

    assert [kept.purpose for kept in at_once] == ["evidence"]
    assert tries == {"evidence": 0, "parent": 1}
    assert again is not None
    assert again.tries == 2


async def test_what_is_too_old_is_not_sent_any_more(store: Store) -> None:
    """A message that could not be sent is not tried for ever."""
    incident = await opened(store)
    kept = await store.messages.own(message(incident.id))

    assert await store.messages.unsent(since=AT, at=AT) == (kept,)
    assert await store.messages.unsent(since=AT + MINUTE, at=AT) == ()


async def test_who_is_told_to_wait_gives_it_back_for_later(store: Store) -> None:
    """Slack says Retry-After: nobody may try before that."""
    incident = await opened(store)
    kept = await store.messages.own(message(incident.id))
    await store.messages.claim(kept.id, by="replica-1", at=AT, lease=MINUTE)

    assert not await store.messages.release(kept.id, by="replica-2")
    assert await store.messages.release(kept.id, by="replica-1", until=AT + 2 * MINUTE)

    late = AT + MINUTE
    assert await store.messages.unsent(since=AT, at=late) == ()
    assert await store.messages.claim(kept.id, by="replica-2", at=late, lease=MINUTE) is None
    assert await store.messages.claim(kept.id, by="replica-2", at=late + MINUTE, lease=MINUTE)


async def test_a_message_is_kept_for_as_long_as_it_is_worked_on(store: Store) -> None:
    """Who holds it says so again and again; a dead holder's is free when its time is over."""
    incident = await opened(store)
    kept = await store.messages.own(message(incident.id))
    await store.messages.claim(kept.id, by="replica-1", at=AT, lease=MINUTE)

    assert not await store.messages.extend(kept.id, by="replica-2", until=AT + 9 * MINUTE)
    assert await store.messages.extend(kept.id, by="replica-1", until=AT + 3 * MINUTE)
    late = AT + 2 * MINUTE
    assert await store.messages.claim(kept.id, by="replica-2", at=late, lease=MINUTE) is None
    assert await store.messages.claim(kept.id, by="replica-2", at=late + MINUTE, lease=MINUTE)
    assert not await store.messages.extend(kept.id, by="replica-1", until=AT + 9 * MINUTE)


async def test_a_change_leaves_messages_behind_until_they_show_it(store: Store) -> None:
    """Each that is live, and none of another incident."""
    incident = await opened(store)
    parent = await posted(store, incident.id)
    await posted(store, incident.id, "paged", live=False)
    await posted(store, (await opened(store, key="other")).id)
    assert await store.messages.behind(at=AT) == ()

    now = await store.incidents.record(incident.id, NEWS)

    (late,) = await store.messages.behind(at=AT)
    assert (late.id, late.shown, late.due, late.digest) == (parent.id, 1, now.revision, "d1")
    await store.messages.claim(late.id, by="replica-1", at=AT, lease=MINUTE)
    assert await store.messages.behind(at=AT) == ()
    assert await store.messages.rendered(late.id, by="replica-1", shown=now.revision, digest="d2")
    assert await store.messages.behind(at=AT + MINUTE) == ()
    kept = await store.messages.get(late.id)
    assert kept is not None
    assert (kept.shown, kept.digest, kept.taken_by) == (now.revision, "d2", None)


async def test_a_change_during_an_edit_is_shown_by_the_next(store: Store) -> None:
    """What was rendered before it does not count for it."""
    incident = await opened(store)
    parent = await posted(store, incident.id)
    await store.incidents.record(incident.id, NEWS)
    await store.messages.claim(parent.id, by="replica-1", at=AT, lease=MINUTE)
    await store.incidents.record(incident.id, NEWS)

    await store.messages.rendered(parent.id, by="replica-1", shown=2)

    (late,) = await store.messages.behind(at=AT)
    assert (late.shown, late.due) == (2, 3)


async def test_an_edit_after_a_lost_lease_does_not_count(store: Store) -> None:
    """A frozen replica's old picture may cover a newer one, so it is drawn again."""
    incident = await opened(store)
    parent = await posted(store, incident.id)
    await store.incidents.record(incident.id, NEWS)
    await store.messages.claim(parent.id, by="frozen", at=AT, lease=MINUTE)
    await store.messages.claim(parent.id, by="replica-2", at=AT + MINUTE, lease=MINUTE)

    assert not await store.messages.rendered(parent.id, by="frozen", shown=2)
    assert await store.messages.behind(at=AT + 2 * MINUTE) != ()


async def test_a_card_follows_its_approval(store: Store) -> None:
    """It is behind when the approval has changed, and not when something else has."""
    incident = await opened(store)
    asked = (await store.approvals.propose(approval(incident.id))).approval
    kept = await posted(store, incident.id, card(asked.id))
    assert (kept.approval_id, kept.due) == (asked.id, 1)

    await store.incidents.record(incident.id, NEWS)
    assert await store.messages.behind(at=AT) == ()

    await store.approvals.expire(AT + 30 * MINUTE)
    (late,) = await store.messages.behind(at=AT)
    assert (late.id, late.due) == (kept.id, 2)


async def test_a_parent_follows_the_approvals(store: Store) -> None:
    """It always shows the current state."""
    incident = await opened(store)
    parent = await posted(store, incident.id)

    await store.approvals.propose(approval(incident.id))

    assert [late.id for late in await store.messages.behind(at=AT)] == [parent.id]


async def test_what_belongs_to_nothing_is_refused(store: Store) -> None:
    """In a sentence."""
    incident = await opened(store)
    other = await opened(store, key="other")
    foreign = (await store.approvals.propose(approval(other.id))).approval

    with pytest.raises(UnknownIncidentError):
        await store.messages.own(message("k7qm2xfr"))
    with pytest.raises(UnknownApprovalError, match="it has no card"):
        await store.messages.own(message(incident.id, card(foreign.id)))
    with pytest.raises(UnknownMessageError, match="There is no message m1"):
        await store.messages.sent("m1", ts="1.1", at=AT, shown=1)
    with pytest.raises(InputError, match="The channel of the message has"):
        message(incident.id, channel="C\0")
    assert await store.messages.claim("m1", by="me", at=AT, lease=MINUTE) is None
