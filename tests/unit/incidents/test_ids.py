"""IDs can be said, typed and not guessed, and are not taken for job numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import InputError
from bot.incidents.ids import ALPHABET, LONG, SHORT, new_id, read_id
from bot.incidents.incident import Entry, Incident, job_key, paste_key
from tests.behaviour.store.rows import AT, incident


def test_new_ids_differ_and_start_with_a_letter() -> None:
    """A job's number never does."""
    ids = {new_id() for _ in range(2_000)} | {new_id(LONG) for _ in range(2_000)}

    assert len(ids) == 4_000
    assert {len(one) for one in ids} == {SHORT, LONG}
    assert all(one[0].isalpha() and set(one) <= set(ALPHABET) for one in ids)


@given(st.sampled_from([SHORT, LONG]), st.data())
def test_an_id_is_read_as_people_write_it(length: int, data: st.DataObject) -> None:
    """Upper case, groups, and the letters that look like digits."""
    one = "k" + data.draw(st.text(ALPHABET, min_size=length - 1, max_size=length - 1))
    said = "".join(
        data.draw(st.sampled_from({"0": "0oO", "1": "1iIlL"}.get(char, char + char.upper())))
        for char in one
    )

    assert read_id(f" {said[:4]}-{said[4:]}\n") == one


@pytest.mark.parametrize(
    "typed", ["", "48213", "12345678", "k7qm2xf", "k7qm2xfr9", "k7qm2xf!", "u" * 8]
)
def test_what_is_no_id_is_none(typed: str) -> None:
    """Then it may be a job's."""
    assert read_id(typed) is None


def test_keys_tell_jobs_runs_and_pastes_apart() -> None:
    """However their names are put together, and whatever is in them."""
    keys = [
        job_key("alpha", "48213"), job_key("alpha", "48213", "2"), job_key("alph", "a48213"),
        job_key("alpha", "4821", "3"), paste_key("alpha"), paste_key("\udcff"), paste_key("\0"),
    ]  # fmt: skip

    assert len(set(keys)) == len(keys)
    assert all(len(key) < 80 and key.isascii() for key in keys)
    assert job_key("alpha", "48213") == job_key("alpha", "48213")


def test_texts_that_are_too_long_are_refused() -> None:
    """With what to do instead."""
    Entry(at=AT, kind="said", text="x" * 3_000)
    with pytest.raises(InputError, match=r"3,001 characters; 3,000 are the most, attach"):
        Entry(at=AT, kind="said", text="x" * 3_001)


def test_a_check_without_its_time_is_refused() -> None:
    """Its age is shown and decides when it is forgotten."""
    with pytest.raises(ValueError, match="no time at which it was made"):
        incident(checked_at=None)
    assert Incident(id="k7qm2xfr", key="paste:x", opened_at=AT).check is None
