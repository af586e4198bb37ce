"""Links, progress, pace and identities: the small parts of the flows."""

from __future__ import annotations

import time

import pytest

from bot.chat.errors import (
    AwayError,
    ChatError,
    NotMemberError,
    RefusedError,
    ScopeError,
    TokenError,
    of_slack,
)
from bot.chat.intake import delivery_id
from bot.chat.mapping import checked_of, kept, vms_of
from bot.chat.pace import Pace
from bot.chat.progress import Progress
from bot.chat.rules import Rules
from bot.clouds.timing import utc_now
from bot.incidents.ids import new_id
from bot.incidents.incident import Incident, paste_key
from bot.reports.slack.values import Progress as How
from tests.unit.reports.made import checked


def test_links_are_filled_in() -> None:
    """Templates are filled with what is known, quoted; one that asks for more is left out."""
    rules = Rules(console="https://c.example/{project}/vms/{vm_id}", job="https://j.example/{job}")
    links = rules.links_of(checked())
    assert links.console == "https://c.example/hall/vms/c55f8b50-9587-5256-956e-a5ea712bb374"
    assert links.job == "https://j.example/48213"
    assert Rules(job="https://j.example/{nothing}").links_of(checked()).job == ""


def test_progress_goes_on_in_order() -> None:
    """What a check does now is read, what it did is done, what it left out is not asked."""
    progress = Progress()
    progress.tell("asking the scheduler for 48213")
    progress.tell("asking about 32 machines")
    told = {one.name: one.progress for one in progress.sources}
    assert told == {
        "scheduler": How.DONE, "log": How.SKIPPED, "machines": How.READING, "probes": How.PENDING,
    }  # fmt: skip
    assert progress.changed.is_set()


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("token_revoked", TokenError),
        ("not_in_channel", NotMemberError),
        ("ratelimited", AwayError),
        ("invalid_blocks", RefusedError),
        ("missing_scope", ScopeError),
    ],
)
def test_slacks_words_become_sentences(word: str, kind: type[ChatError]) -> None:
    """Each word of Slack's is of one kind, and its message is a sentence."""
    error = of_slack("chat.postMessage", word, needed="chat:write")
    assert type(error) is kind
    assert str(error).endswith(".")


def test_a_scope_is_named() -> None:
    """The scope that Slack asks for stands in the sentence."""
    assert "files:read" in str(of_slack("files.info", "missing_scope", needed="files:read"))


def test_a_check_survives_the_store() -> None:
    """What is kept and read again is the same check."""
    made = checked()
    incident = Incident(
        id=new_id(), key=paste_key("x"), opened_at=utc_now(), check=kept(made), checked_at=utc_now()
    )
    assert checked_of(incident) == made
    assert [one.id for one in vms_of(made)] == ["gpu-8", "gpu-3"]


def test_what_is_kept_holds_no_secret() -> None:
    """A key in a quoted line does not reach the store."""
    token = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
    made = checked(headline=f"HF_TOKEN={token}")
    assert token not in str(kept(made))


def test_deliveries_that_come_again_have_one_id() -> None:
    """An event's ID, else the trigger's, else the content tells a delivery from the next."""
    assert delivery_id("events_api", {"event_id": "Ev1"}) == "events_api:Ev1"
    assert delivery_id("interactive", {"trigger_id": "1.2"}) == "interactive:1.2"
    one, two = ({"type": "view_closed", "n": n} for n in (1, 2))
    assert delivery_id("interactive", one) == delivery_id("interactive", dict(one))
    assert delivery_id("interactive", one) != delivery_id("interactive", two)


@pytest.mark.anyio
async def test_a_burst_then_one_by_one() -> None:
    """A few messages go at once, the next ones at their pace; channels do not wait for others."""
    pace = Pace(every_s=0.05, burst=2)
    began = time.monotonic()
    for _ in range(4):
        await pace.turn("C1")
    assert time.monotonic() - began >= 0.1 - 0.001
    began = time.monotonic()
    await pace.turn("C2")
    assert pace._next["C2"] <= began + 0.05


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"
