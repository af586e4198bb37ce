"""An incident is one thread for one failure, whoever asks and however often."""

from __future__ import annotations

from dataclasses import fields, replace
from types import MappingProxyType

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.errors import InputError
from bot.incidents.approval import ApprovalState
from bot.incidents.columns import json_text
from bot.incidents.errors import UnknownIncidentError
from bot.incidents.ids import new_id
from bot.incidents.incident import Change, Entry, Incident, IncidentState, job_key, paste_key
from bot.incidents.store import Store, open_store
from tests.behaviour.store.rows import (
    AT,
    CHECK,
    DAY,
    MINUTE,
    SECOND,
    approval,
    incident,
    message,
    opened,
)

pytestmark = pytest.mark.anyio


def over(minutes: int = 5, who: str | None = "U0LEE") -> Entry:
    """Return the entry that ends an incident."""
    return Entry(at=AT + minutes * MINUTE, kind="closed", who=who, text="job runs again")


async def test_an_incident_comes_back_as_it_was_opened(store: Store) -> None:
    """Every field survives; the first revision stands in the timeline."""
    asked = incident()
    given_by_caller = [field.name for field in fields(asked)][: -len(("state", "r", "at", "by"))]
    assert all(getattr(asked, name) for name in given_by_caller if name != "reopened_from")

    assert await store.incidents.open(asked) == Change(incident=asked, made=True)

    assert await store.incidents.get(asked.id) == asked
    assert await store.incidents.timeline(asked.id) == (
        Entry(at=AT, kind="opened", who="U0KIM", revision=1),
    )


async def test_a_key_with_an_open_incident_folds(store: Store) -> None:
    """Many ranks, people and channels come to one thread."""
    first = await opened(store)

    again = await store.incidents.open(incident(channel="C0OTHER", asked_by="U0LEE"))
    other = await store.incidents.open(incident(key=job_key("alpha", "48213", "run 2")))

    assert again == Change(incident=first, made=False)
    assert other.made
    assert await store.incidents.open_of(first.key) == first


async def test_replicas_that_open_at_once_open_one(url: str) -> None:
    """Of all that race, on two stores, one makes the incident and the others are told which."""
    keys = [job_key("alpha", str(number)) for number in range(6)]
    made: dict[str, list[bool]] = {key: [] for key in keys}
    ids: dict[str, set[str]] = {key: set() for key in keys}

    async def ask(store: Store, key: str) -> None:
        change = await store.incidents.open(incident(key=key))
        made[key].append(change.made)
        ids[key].add(change.incident.id)

    async with open_store(url) as one, open_store(url) as other, anyio.create_task_group() as tasks:
        for key in keys:
            for store in (one, other, one, other):
                tasks.start_soon(ask, store, key)

    assert all(sorted(answers) == [False, False, False, True] for answers in made.values())
    assert all(len(found) == 1 for found in ids.values())


async def test_what_fails_again_is_opened_anew_and_names_the_last(store: Store) -> None:
    """A closed thread is not revived; the new one links to it."""
    first = await opened(store)
    await store.incidents.close(first.id, over())

    second = await opened(store, opened_at=AT + 9 * MINUTE)
    await store.incidents.close(second.id, over(10), state=IncidentState.DISMISSED)
    third = await opened(store, opened_at=AT + 11 * MINUTE)

    assert (second.reopened_from, third.reopened_from) == (first.id, second.id)


async def test_an_open_one_is_found_behind_a_younger_closed_one(store: Store) -> None:
    """Clocks of replicas differ, so that the open one may look older than one that is over."""
    ahead = await opened(store, opened_at=AT + MINUTE)
    await store.incidents.close(ahead.id, over())
    behind = await opened(store, opened_at=AT)

    assert await store.incidents.open(incident()) == Change(incident=behind, made=False)


async def test_an_id_that_is_taken_is_not_taken_over(store: Store) -> None:
    """The incident gets another ID."""
    first = await opened(store)

    second = await opened(store, id=first.id, key=paste_key("gai -3"))

    assert second.id != first.id
    assert await store.incidents.get(first.id) == first


async def test_what_ended_lately_is_found(store: Store) -> None:
    """Closed or dismissed, the first to end first; what is open or ended before is left out."""
    first, second = await opened(store), await opened(store, key="second")
    await opened(store, key="third")
    await store.incidents.close(second.id, over(2), state=IncidentState.DISMISSED)
    await store.incidents.close(first.id, over(5))

    found = await store.incidents.ended_since(AT)
    assert [one.id for one in found] == [second.id, first.id]
    assert [one.id for one in await store.incidents.ended_since(AT + 3 * MINUTE)] == [first.id]


async def test_it_is_closed_once(store: Store) -> None:
    """Who comes late learns who closed it, and when."""
    first = await opened(store)

    closed = await store.incidents.close(first.id, over())
    late = await store.incidents.close(first.id, over(6, who="U0MAX"))

    assert closed.made
    assert late == Change(incident=closed.incident, made=False)
    told = late.incident
    assert (told.state, told.closed_by, told.closed_at, told.revision) == (
        IncidentState.CLOSED, "U0LEE", AT + 5 * MINUTE, 2,
    )  # fmt: skip
    assert await store.incidents.open_of(first.key) is None


async def test_what_is_over_asks_nothing_more(store: Store) -> None:
    """No button of a closed thread can still move a machine."""
    first = await opened(store)
    asked = (await store.approvals.propose(approval(first.id))).approval

    await store.incidents.close(first.id, over())

    kept = await store.approvals.get(asked.id)
    assert kept is not None
    assert (kept.state, kept.reason) == (ApprovalState.VOIDED, "The incident is over.")


async def test_every_change_is_one_revision_and_one_entry(store: Store) -> None:
    """The timeline tells all of it in order."""
    first = await opened(store)
    probed = Entry(at=AT + SECOND, kind="probed", text="resolver failed on node-8")
    checked = Entry(at=AT + MINUTE, kind="checked", who="U0LEE", about="M1")

    await store.incidents.record(first.id, probed)
    later = await store.incidents.keep_check(first.id, {"headline": "healed"}, checked)

    assert (later.revision, later.check, later.checked_at) == (
        3,
        {"headline": "healed"},
        checked.at,
    )
    assert await store.incidents.get(first.id) == later
    assert (await store.incidents.timeline(first.id))[1:] == (
        replace(probed, revision=2),
        replace(checked, revision=3),
    )


async def test_of_two_checks_the_later_counts(store: Store) -> None:
    """Whichever arrives first: a slow look at the past hides nothing new."""
    first = await opened(store, checked_at=AT + MINUTE)

    kept = await store.incidents.keep_check(first.id, {}, Entry(at=AT, kind="checked"))

    assert kept == first


async def test_changes_at_once_lose_nothing(url: str) -> None:
    """Each of 24 by two replicas is in the timeline, under a revision of its own."""
    async with open_store(url) as one, open_store(url) as other:
        first = await opened(one)
        async with anyio.create_task_group() as tasks:
            for number in range(24):
                entry = Entry(at=AT, kind="probed", text=str(number))
                tasks.start_soon((one, other)[number % 2].incidents.record, first.id, entry)

        kept = await one.incidents.timeline(first.id)

    assert [entry.revision for entry in kept] == list(range(1, 26))
    assert {entry.text for entry in kept[1:]} == {str(number) for number in range(24)}


async def test_an_unknown_incident_is_said_so(store: Store) -> None:
    """A stale link answers with a sentence."""
    assert await store.incidents.get("k7qm2xfr") is None
    with pytest.raises(UnknownIncidentError, match="There is no incident k7qm2xfr"):
        await store.incidents.record("k7qm2xfr", over())
    with pytest.raises(UnknownIncidentError):
        await store.incidents.close("k7qm2xfr", over())


async def test_lists_are_newest_first_and_of_one_workspace(store: Store) -> None:
    """What is open, and what is recent."""
    for number, team in enumerate(["T0ACME", "T0OTHER", "T0ACME"]):
        await opened(store, key=str(number), opened_at=AT + number * MINUTE, team=team)
    two, one, zero = await store.incidents.recent()
    await store.incidents.close(two.id, over())

    assert await store.incidents.still_open() == (one, zero)
    assert [one.key for one in await store.incidents.recent(team="T0ACME")] == ["2", "0"]
    assert await store.incidents.still_open(team="T0ACME") == (zero,)
    assert [one.key for one in await store.incidents.over()] == ["2"]
    assert await store.incidents.over(team="T0OTHER") == ()
    assert len(await store.incidents.recent(limit=2)) == 2


async def test_texts_are_forgotten_by_their_age(store: Store) -> None:
    """Who, when, IDs and digests stay: the history can still be counted."""
    old = await opened(store)
    await store.incidents.record(old.id, Entry(at=AT + 2 * DAY, kind="probed", text="new"))
    await store.incidents.close(old.id, replace(over(), text="old"))
    new = await opened(store, key="new", opened_at=AT + 2 * DAY, checked_at=AT + 2 * DAY)

    assert await store.forget(AT + DAY) == 2

    kept = await store.incidents.get(old.id)
    assert kept is not None
    assert (kept.check, kept.checked_at, kept.key) == (None, AT, old.key)
    assert [entry.text for entry in await store.incidents.timeline(old.id)] == ["", "new", ""]
    assert [entry.who for entry in await store.incidents.timeline(old.id)] == [
        "U0KIM",
        None,
        "U0LEE",
    ]
    assert await store.incidents.get(new.id) == new
    assert await store.forget(AT + DAY) == 0


async def test_forgetting_edits_no_message(store: Store) -> None:
    """What stands in Slack is Slack's to keep or to delete."""
    old = await opened(store)
    parent = await store.messages.own(message(old.id))
    await store.messages.sent(parent.id, ts="1.1", at=AT, shown=1)

    await store.forget(AT + DAY)

    assert await store.messages.behind(at=AT) == ()


@pytest.mark.parametrize(
    "foreign",
    ["a\0b", "lone \udcff surrogate", "'; DROP TABLE incidents; --", "\U0001f525é", "x" * 10**6],
)
async def test_a_check_survives_whatever_text_it_quotes(store: Store, foreign: str) -> None:
    """NUL and half surrogates too, which PostgreSQL's own JSON refuses."""
    check = {**CHECK, foreign: [foreign, {"deep": foreign}]}

    first = await opened(store, check=MappingProxyType(check))

    kept = await store.incidents.get(first.id)
    assert kept is not None
    assert kept.check == check


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(check=st.dictionaries(st.text(st.characters(exclude_categories=())), JSON, max_size=4))
async def test_any_json_survives(store: Store, check: dict[str, object]) -> None:
    """Whatever shape a check takes."""
    first = await opened(store, key=new_id(), check=check)

    kept = await store.incidents.get(first.id)

    assert kept is not None
    assert kept.check == check


async def test_foreign_text_in_the_timeline_is_marked(store: Store) -> None:
    """What no database holds is replaced, as in the names of jobs."""
    first = await opened(store)

    await store.incidents.record(first.id, Entry(at=AT, kind="said", text="a\0b \udcff c"))

    assert (await store.incidents.timeline(first.id))[1].text == "a\ufffdb ? c"


@pytest.mark.parametrize("value", [float("nan"), b"bytes", {1, 2}, AT])
async def test_what_is_no_json_is_refused(store: Store, value: object) -> None:
    """In a sentence, and nothing is opened."""
    with pytest.raises(InputError, match=r"not JSON: .+\.$"):
        await store.incidents.open(incident(check={"at": value}))

    assert await store.incidents.recent() == ()


async def test_an_error_carries_no_text_of_others(url: str) -> None:
    """What a database refuses may be a secret that nobody has redacted."""
    async with open_store(url) as store:
        first = await opened(store)
        async with store.database.writing() as connection:
            await connection.exec_driver_sql("DROP TABLE timeline")
        with pytest.raises(Exception, match="timeline") as caught:
            await store.incidents.record(first.id, Entry(at=AT, kind="said", text="hf_s3cret"))

    error: BaseException | None = caught.value
    while error is not None:
        assert "hf_s3cret" not in str(error)
        error = error.__cause__


def test_json_is_read_and_written_by_any_tool() -> None:
    """One line of ASCII."""
    assert json_text({"é\0": [1, None]}) == '{"\\u00e9\\u0000":[1,null]}'


async def test_many_folds_and_ends_keep_one_open(url: str) -> None:
    """However opening and closing mix, two of a key are never open."""
    async with open_store(url) as one, open_store(url) as other:

        async def open_and_close(store: Store) -> Incident:
            change = await store.incidents.open(incident())
            await store.incidents.close(change.incident.id, over())
            return change.incident

        async with anyio.create_task_group() as tasks:
            for store in (one, other, one, other, one, other):
                tasks.start_soon(open_and_close, store)

        assert await one.incidents.still_open() == ()
        kept = await one.incidents.recent()

    assert sum(one.reopened_from is None for one in kept) == 1
