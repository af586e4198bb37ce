"""Versions of a ticket, what came of mailing it, and what machines answered."""

from __future__ import annotations

import anyio
import pytest

from bot.errors import StoreError
from bot.incidents.ids import LONG, new_id
from bot.incidents.statement import Kind, Statement
from bot.incidents.store import Store
from bot.incidents.ticket import Capture, Mail, Ticket
from tests.behaviour.store.rows import AT, DAY, MINUTE, SECOND, opened

pytestmark = pytest.mark.anyio


def ticket(incident_id: str, **told: object) -> Ticket:
    """Return a version to be kept."""
    made = {"id": new_id(LONG), "incident_id": incident_id, "at": AT, "content": {"title": "t"}}
    return Ticket(**{**made, **told})  # type: ignore[arg-type]


def capture(incident_id: str, number: int) -> Capture:
    """Return what was answered at a look."""
    at = AT + number * MINUTE
    return Capture(
        id=f"look-{number}", incident_id=incident_id, at=at, why="look", outputs={"a": str(number)}
    )


async def test_versions_are_counted_and_audited(store: Store) -> None:
    """Each version stays as it was made; the newest of each open incident is found at once."""
    one = await opened(store)
    await store.tickets.add(ticket(one.id))
    last = await store.tickets.add(ticket(one.id, who="U0KIM", content={"title": "<!channel>"}))
    assert [each.number for each in await store.tickets.of(one.id)] == [1, 2]
    assert await store.tickets.newest_of_open() == (last,)
    deeds = [link.deed async for link in store.audit.links()]
    assert [(each.what, each.who) for each in deeds] == [
        ("ticket_drafted", None), ("ticket_drafted", "U0KIM"),
    ]  # fmt: skip
    assert "channel" not in str(deeds)


async def test_the_bot_drafts_once(store: Store) -> None:
    """Two replicas that see the ERROR at once make one draft, and none after a person's."""
    one = await opened(store)
    made: list[Ticket | None] = []

    async def draft() -> None:
        made.append(await store.tickets.add(ticket(one.id), first=True))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(draft)
    assert len([each for each in made if each is not None]) == 1
    assert len(await store.tickets.of(one.id)) == 1


async def test_a_version_is_mailed_by_one(store: Store) -> None:
    """Of all who confirm at once one sends it; what failed may be tried again, nothing else."""
    one = await opened(store)
    kept = await store.tickets.add(ticket(one.id))
    assert kept is not None
    told = [await store.tickets.begin_mail(kept.id, by=who, at=AT) for who in ("U0KIM", "U0LEE")]
    assert told == [True, False]
    await store.tickets.end_mail(kept.id, Mail.FAILED, "no answer", at=AT + SECOND)
    assert await store.tickets.begin_mail(kept.id, by="U0LEE", at=AT)
    await store.tickets.end_mail(kept.id, Mail.SENT, "support@example.com", at=AT + SECOND)
    assert not await store.tickets.begin_mail(kept.id, by="U0KIM", at=AT)
    with pytest.raises(StoreError):
        await store.tickets.end_mail(kept.id, Mail.SENT, "", at=AT)
    newest = await store.tickets.get(kept.id)
    assert newest is not None
    assert (newest.mail, newest.mail_by) == (Mail.SENT, "U0LEE")


async def test_the_first_and_the_last_captures_stay(store: Store) -> None:
    """What was seen before anything was done is never thrown away, and the rest is bounded."""
    one = await opened(store)
    for number in range(9):
        await store.captures.keep(capture(one.id, number))
    assert [each.id for each in await store.captures.of(one.id)] == [
        f"look-{number}" for number in (0, 4, 5, 6, 7, 8)
    ]


async def test_words_and_answers_are_forgotten(store: Store) -> None:
    """After the time of the settings neither tickets nor captures hold any text."""
    one = await opened(store)
    await store.tickets.add(ticket(one.id))
    await store.captures.keep(capture(one.id, 1))
    await store.forget(AT + DAY)
    assert (await store.tickets.of(one.id))[0].content is None
    assert (await store.captures.of(one.id))[0].outputs is None


async def test_statements_are_found_by_kind(store: Store) -> None:
    """The Home tab asks once for the numbers of all tickets that it lists."""
    one = await opened(store)
    for number, kind in enumerate((Kind.TICKET, Kind.STATE, Kind.TICKET)):
        said = Statement(
            id=f"said-{number}", incident_id=one.id, vm_name="node-8", kind=kind,
            text=str(number), at=AT + number * SECOND,
        )  # fmt: skip
        await store.statements.say(said)
    found = await store.statements.of_kind(Kind.TICKET, [one.id, "another"])
    assert [each.text for each in found[one.id]] == ["0", "2"]
    assert await store.statements.get("said-1") is not None
    assert await store.statements.get("nosuch") is None
