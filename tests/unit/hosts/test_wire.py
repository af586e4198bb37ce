"""Prove the wire form: what is sent can be read back, and what comes back is believed in bounds."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.hosts import probes, wire
from bot.hosts.far_side.saying import as_json
from bot.hosts.model import ProbeResult, Row
from bot.hosts.words import Address, HostName, Port, Proof

QUESTION = probes.Question(
    names=(HostName("node-0"),), address=Address("10.0.0.1"), port=Port(29500)
)
ROWS = probes.rows(QUESTION, "product_uuid", Proof("some-id"))
#: Modules that only part of the work needs, which says so where a minimal Debian Python has none.
_OPTIONAL = {"ctypes", "subprocess"}
#: Built in or quick to load; `re` is loaded by the words that need it.
_QUICK = {"_signal", "_socket", "_thread", "binascii", "os", "select", "sys", "time"}
_TYPES_ONLY = {"__future__", "collections.abc", "typing"}


def _result(name: str, output: bytes = b"x", rc: int | None = 0) -> ProbeResult:
    return ProbeResult(name=name, rc=rc, duration=timedelta(milliseconds=5), output=output)


def test_the_far_side_reads_what_was_sent() -> None:
    """Rows survive the way to the far side unchanged."""
    order = wire.read_order(wire.standard_input(ROWS, timedelta(seconds=4)))

    assert order.rows == ROWS
    assert order.within == timedelta(seconds=4)


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_the_order_is_a_python_literal_as_well(words: list[str]) -> None:
    """A far side without a json module reads the same words."""
    row = Row(name="x", argv=tuple(words), timeout=timedelta(seconds=1), most_bytes=9, gate=True)
    text = wire.order([row]).decode()

    assert ast.literal_eval(text) == json.loads(text)
    assert ast.literal_eval(text)["probes"][0]["argv"] == words


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(_VALUES)
def test_the_far_sides_json_is_json(value: object) -> None:
    """What the helper writes without a json module is what json reads."""
    text = as_json(value)

    assert json.loads(text) == value
    assert text.isascii()
    assert "\n" not in text


def _imported(tree: ast.AST) -> set[str]:
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    return imported


def test_the_helper_is_one_program_of_the_standard_library() -> None:
    """The text that travels imports nothing of ours and nothing that a minimal Python lacks."""
    imported = _imported(ast.parse(wire.helper(), feature_version=(3, 8)))

    assert imported - _OPTIONAL - _TYPES_ONLY <= {*_QUICK, "re"}
    assert imported <= {*sys.stdlib_module_names, "collections.abc"}


def test_a_preflight_loads_no_slow_module() -> None:
    """What is sent for a pre-flight is a part, and what that loads at once is quick to load."""
    words = frozenset(probe.argv[0] for probe in probes.PREFLIGHT if probe.argv[0] in wire.WORDS)
    text = wire.helper(words)
    at_once = [node for node in ast.parse(text).body if isinstance(node, ast.Import)]

    assert len(text) < len(wire.helper()) * 0.8
    assert _imported(ast.Module(body=[*at_once], type_ignores=[])) <= _QUICK


def test_every_word_is_where_the_table_says() -> None:
    """Each word's part defines a function of its name."""
    for word, part in wire.WORDS.items():
        module = importlib.import_module(f"bot.hosts.far_side.{part}")
        assert callable(getattr(module, word[1:]))


def test_the_command_is_the_same_for_every_question() -> None:
    """Nothing that was asked is part of the command line."""
    assert "node-0" not in wire.command()
    assert wire.command(sudo=True).count("sudo -n -- ") == 1


def test_answers_are_read_however_they_are_cut() -> None:
    """Chunks of any size give the same results."""
    sent = b"hello from .bashrc\n@shell\n@helper\n" + b"".join(
        wire.line(_result(row.name)) for row in ROWS
    )
    answers = wire.Answers(ROWS)
    for at in range(0, len(sent), 7):
        answers.feed(sent[at : at + 7])

    assert answers.complete
    assert answers.marks == {"@shell", "@helper"}
    assert set(answers.results) == {row.name for row in ROWS}


@given(st.lists(st.binary(max_size=200)))
def test_nothing_that_was_sent_breaks_the_reader(chunks: list[bytes]) -> None:
    """Arbitrary bytes give no result and no error."""
    answers = wire.Answers(ROWS)
    for chunk in chunks:
        answers.feed(chunk)

    assert answers.results == {}


_GOOD = {"name": "lookups", "rc": 0, "ms": 1, "output": ""}


@pytest.mark.parametrize(
    "line",
    [
        {**_GOOD, "name": "never-asked"},
        {**_GOOD, "rc": "0"},
        {**_GOOD, "rc": True},
        {**_GOOD, "ms": None},
        {**_GOOD, "ms": 10**30},
        {**_GOOD, "output": "%%%"},
        {**_GOOD, "output": None},
        {**_GOOD, "output": "QUJD" * 180000},
        {"name": "lookups"},
        [_GOOD],
    ],
)
def test_an_answer_that_breaks_the_form_is_none(line: object) -> None:
    """What was not asked, is mistyped or too long is passed over."""
    answers = wire.Answers(ROWS)
    answers.feed(json.dumps(line).encode() + b"\n")

    assert answers.results == {}


def test_the_first_answer_counts() -> None:
    """A second answer to one row cannot change what was read."""
    answers = wire.Answers(ROWS)
    answers.feed(wire.line(_result("lookups", b"first")) + wire.line(_result("lookups", b"second")))

    assert answers.results["lookups"].output == b"first"


def test_a_gate_that_does_not_hold_ends_the_answer() -> None:
    """Nothing is waited for once the machine has turned out to be another one."""
    answers = wire.Answers(ROWS)
    answers.feed(wire.line(_result("identity", rc=1)))

    assert answers.complete


def test_a_line_without_an_end_is_a_flood() -> None:
    """The reader keeps no more than the longest row allows."""
    answers = wire.Answers(ROWS)
    for _ in range(100):
        answers.feed(b"y" * 65536)

    assert answers.flooded
    assert answers.complete
