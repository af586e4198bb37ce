"""Every view at and over each limit, and with any foreign text in every field of it."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import sys
import typing
import unicodedata
from types import FrameType

import pytest
from hypothesis import example, given, settings

from bot.reports import slack
from bot.reports.slack.message import Json, Message, View
from tests.unit.reports.hostile import BITS, FOREIGN, LEAKED
from tests.unit.reports.judge import judge, objects, strings
from tests.unit.reports.made import ADDRESSES, ALICE, BOB, ONCALL, usual, views

NAMES = tuple(views())
PEOPLE = {ALICE, BOB, ONCALL}


def sent(view: Message | View) -> Json:
    """Return what goes over the wire."""
    return view.to_post() if isinstance(view, Message) else view.to_view()


def _functions() -> frozenset[str]:
    """Return every function that makes a message or a view, wherever in the room it is."""
    found = set()
    for one in pkgutil.iter_modules(slack.__path__):
        module = importlib.import_module(f"{slack.__name__}.{one.name}")
        for name, made in inspect.getmembers(module, inspect.isfunction):
            here = made.__module__ == module.__name__ and not name.startswith("_")
            returned = typing.get_type_hints(made).get("return")
            if here and returned in {Message, View}:
                found.add(f"{one.name}.{name}")
    return frozenset(found - {f"fitting.{kind}" for kind in ("message", "modal", "home")})


def test_the_table_has_every_view() -> None:
    """A view that nobody put into the table would be tried at no limit and with no hostile text."""
    called: set[str] = set()

    def trace(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "").rpartition(".")[2]
            called.add(f"{module}.{frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        views()
    finally:
        sys.setprofile(before)
    assert _functions() - called == frozenset()
    assert len(_functions()) > 20


@pytest.mark.parametrize("name", NAMES)
def test_every_view_is_one_that_slack_takes(name: str) -> None:
    """With texts of everyday length nothing is cut, so nothing is attached."""
    view = views()[name]
    judge(view)
    assert view.attachments == ()


@pytest.mark.parametrize("size", [23, 24, 25, 74, 75, 76, 149, 150, 151, 199, 200, 201])
def test_every_view_fits_at_and_over_each_small_limit(size: int) -> None:
    """A field of any length leaves a view that Slack takes."""
    for view in views(lambda _field, _text: "x" * size).values():
        judge(view)


@pytest.mark.parametrize(
    ("unit", "size"),
    [("x", 2999), ("x", 3000), ("x", 3001)]
    + [(unit, 14_000) for unit in ("x", "<", "\U0001f525", "wo rd\n", '"\\')],
)
def test_every_view_fits_at_and_over_each_large_limit(unit: str, size: int) -> None:
    """The same for long ones, whatever escaping or counting makes of their characters."""
    text = (unit * size)[:size]
    for view in views(lambda _field, _text: text).values():
        judge(view)


@pytest.mark.parametrize("size", [100, 3000, 9000])
def test_what_is_cut_is_attached_whole(size: int) -> None:
    """The last words of every field are in the view or in a file that goes with it."""
    marks: dict[str, str] = {}

    def short(field: str, _text: str) -> str:
        return marks.setdefault(field, f"end{len(marks):03}")

    seen = {name: json.dumps(sent(view)) for name, view in views(short).items()}
    for name, view in views(lambda field, _: f"{'x' * size} {marks[field]}").items():
        shown = json.dumps(sent(view))
        files = b"".join(each.content for each in view.attachments).decode()
        for mark in set(re.findall(r"end\d{3}", seen[name])):
            assert mark in shown or mark in files, (name, mark)


def test_a_text_that_is_cut_says_so() -> None:
    """Nobody takes a part for the whole."""
    for name, view in views(lambda _field, _text: "x" * 9000).items():
        if view.attachments:
            mark = "whole text attached" if isinstance(view, Message) else "…"
            assert mark in json.dumps(sent(view), ensure_ascii=False), name


def test_the_same_values_make_the_same_view() -> None:
    """No clock, no chance: an edit changes only what has changed."""
    first, second = views(), views()
    assert {name: sent(view) for name, view in first.items()} == {
        name: sent(view) for name, view in second.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_control_carries_an_id_and_nothing_else(name: str) -> None:
    """What a click brings back is looked up in the store: a message can be forged or old."""
    ids = re.compile(
        r"(?:[a-z_]+:)?(?:inc_01JDY|apr_01JDZ|run_01JDY)|vm-\d+|home|(?:asked:)?rung_\d"
    )
    for each in objects(list(views()[name].blocks)):
        if each.get("type") == "button" or ("value" in each and "text" in each):
            assert ids.fullmatch(each["value"]), each


_TOKEN = re.compile(r"<[^<>]*>")
_OURS = re.compile(
    rf"<@(?:{ALICE}|{BOB})>|<!subteam\^{ONCALL}>|<!date\^\d+\^[^<>^|]+\|[\d: -]+ UTC>"
)


@settings(max_examples=60)
@given(FOREIGN)
@example("".join(BITS))
@example("a\rb\x1b]0;c")
def test_nothing_foreign_pings_links_styles_or_breaks_out(text: str) -> None:
    """In any field of any view: mentions, links and styles are those that we made, no others."""
    made = views(lambda _field, _text: text)
    for name, view in made.items():
        judge(view)
        for each in objects(sent(view)):
            _is_harmless(name, each)
        for shown in strings(sent(view)):
            assert all(_is_seen(char) for char in shown)


def _is_seen(char: str) -> bool:
    return char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _is_harmless(name: str, each: Json) -> None:
    kind = each.get("type")
    assert kind not in {"broadcast", "emoji", "team", "markdown"}, name
    if kind in {"user", "usergroup"}:
        assert each[f"{kind}_id"] in PEOPLE, name
    if "url" in each:
        assert each["url"] in ADDRESSES, name
    if kind == "plain_text":
        assert each["emoji"] is False, name
        assert not {"<", ">", "\n"} & set(each["text"]), name
    if kind == "mrkdwn":
        assert each["verbatim"] is True, name
        _is_harmless_mrkdwn(each["text"], bold=2)
    if "metadata" in each:
        _is_harmless_mrkdwn(each["text"], bold=0)
        assert "\n" not in each["text"]


def _is_harmless_mrkdwn(text: str, *, bold: int) -> None:
    rest = _TOKEN.sub(lambda found: "" if _OURS.fullmatch(found[0]) else found[0], text)
    assert not {"<", ">", "`", "~", "@"} & set(rest)
    assert not re.search(r"&(?!amp;|lt;|gt;)", rest)
    assert rest.count("*") in {0, bold}
    assert "://" not in rest
    assert not re.search(r"(?<!\w)_\w", rest)
    assert not re.search(r":[a-z_]+:", rest)


def test_secrets_are_shown_nowhere() -> None:
    """Neither in the view nor beside it, nor where an unseen mark was put into one."""
    for hidden in (LEAKED, f"{LEAKED[:6]}\u200b{LEAKED[6:]}", f"\x1b[1m{LEAKED}\x1b[0m"):

        def leaking(_field: str, text: str, key: str = hidden) -> str:
            return f"{text} {key}"

        for name, view in views(leaking).items():
            files = b"".join(each.content for each in view.attachments).decode()
            shown = json.dumps(sent(view)) + files
            assert LEAKED not in re.sub(r"\\u200b|\\ufffd", "", shown), name


@pytest.mark.parametrize("name", NAMES)
def test_the_lock_screen_says_something(name: str) -> None:
    """`text` is set for notifications and screen readers, in words of the message."""
    view = views(usual)[name]
    if isinstance(view, Message):
        assert len(view.text) > 8
