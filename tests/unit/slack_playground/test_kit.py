"""Prove that judging blocks neither crashes nor changes what it judges."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.slack.kit.blocks import BLOCKS
from playground.slack.kit.elements import ELEMENTS
from playground.slack.kit.payload import judge_blocks, judge_view, too_long, view_too_large
from playground.slack.kit.richtext import LEAVES, PARTS
from playground.slack.kit.values import MEMBERS, chosen, initial

#: Words that mean something somewhere in Block Kit, so that nonsense gets past the first rule.
WORDS = sorted(
    {
        *BLOCKS["message"].shapes, *BLOCKS["modal"].shapes, *ELEMENTS, *LEAVES, *PARTS,
        "plain_text", "mrkdwn", "raw_text", "modal", "home", "primary", "danger",
    }
)  # fmt: skip
NAMES = sorted(
    {name for shapes in (ELEMENTS, LEAVES, PARTS) for one in shapes.values() for name in one.fields}
    | {name for one in BLOCKS["message"].shapes.values() for name in one.fields}
    | {"blocks", "submit", "close", "private_metadata"}
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.just("type"), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(VALUES)
def test_any_json_is_judged(value: Any) -> None:  # noqa: ANN401
    """Whatever an app sends, the answer is findings with places, and the value stays the same."""
    before = deepcopy(value)
    for findings in (judge_blocks(value), judge_blocks([value]), judge_view(value)):
        assert all("[json-pointer:/" in one for one in findings)
    if isinstance(value, dict):
        judge_view(value | {"type": "modal", "blocks": [value]})
    assert value == before
    assert not view_too_large(value)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=4), st.text(max_size=40))
def test_right_blocks_stay_right_as_json(sizes: list[int], text: str) -> None:
    """Sections of any text are taken, and judging their JSON again gives the same."""
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": text + "x" * (size + 1)}}
        for size in sizes
    ]
    assert judge_blocks(blocks) == []
    assert judge_blocks(json.loads(json.dumps(blocks))) == []
    assert not too_long(blocks)


def test_every_element_that_holds_a_value_has_its_member() -> None:
    """An input element without a row in `MEMBERS` would lose what people type."""
    without = {"button", "image", "feedback_buttons", "icon_button", "url"}
    assert set(ELEMENTS) - without == set(MEMBERS)


def test_what_was_chosen_has_the_members_type() -> None:
    """Members in the plural hold lists, the others one value or null."""
    for kind, member in MEMBERS.items():
        empty = chosen({"type": kind}, None)
        assert empty == {"type": kind, member: [] if member.endswith("s") else None}
        assert initial({"type": kind}) in (empty, None)
