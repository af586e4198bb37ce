"""The form of a backup: what goes with the VM, what is kept of it, and where that is copied to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slack_sdk.models.blocks import (
    AlertBlock,
    Block,
    InputBlock,
    PlainTextInputElement,
    StaticMultiSelectElement,
    StaticSelectElement,
)

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message, View
from bot.reports.slack.parts import Names, line, lines, options, people, plain, words
from bot.reports.slack.values import Callback, Choice, Input, Purpose

_LONGEST_WORDS = 500
_TITLE = "Back up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """What a form of a backup shows."""

    #: comes back with the submission
    about: str
    vm: str
    #: sentences on what was found, or why nothing could be
    said: tuple[str, ...]
    #: what can be kept; ids of those that are proposed
    items: tuple[Choice, ...] = ()
    proposed: frozenset[str] = frozenset()
    #: where it can go, the best first
    places: tuple[Choice, ...] = ()
    #: something is wrong, so that only "nothing to keep" can be recorded
    problem: str = ""


def looking(vm: str) -> View:
    """Return the form while the VM is still looked at."""
    return fitting.modal(
        title=_TITLE, close="Cancel", callback_id=Callback.BACK_UP.value,
        blocks=[
            lines("looking", line("Looking at what ", words(vm, code=True), " holds …")),
            lines("wait", line("This takes up to a minute. Nothing is changed.")),
        ],
    )  # fmt: skip


def back_up(form: Form) -> View:
    """Return the form in which a person accepts or picks what is kept, or says that nothing is."""
    blocks: list[Block] = []
    if form.problem:
        blocks.append(AlertBlock(block_id="alert-error", text=plain(form.problem), level="error"))
    blocks.append(lines("vm", line("VM: ", words(form.vm, code=True)), *map(line, form.said)))
    if form.items and form.places:
        blocks += _fields(form)
    blocks.append(_nothing(only=not (form.items and form.places)))
    return fitting.modal(
        title=_TITLE, submit="Go on", close="Cancel", callback_id=Callback.BACK_UP.value,
        private_metadata=form.about, blocks=blocks,
    )  # fmt: skip


def _fields(form: Form) -> Iterator[Block]:
    entries = options(form.items)
    chosen = [
        entry for each, entry in zip(form.items, entries, strict=True) if each.id in form.proposed
    ]
    yield InputBlock(
        block_id=Input.ITEMS.value,
        label=plain("What to keep"),
        hint=plain("Other users' data is shown by owner and size only. What is left out is lost."),
        element=StaticMultiSelectElement(
            action_id=Input.ITEMS.value, placeholder=plain("Choose"), options=entries,
            initial_options=chosen or None,
        ),
        optional=True,
    )  # fmt: skip
    places = options(form.places)
    yield InputBlock(
        block_id=Input.PLACE.value,
        label=plain("Where to"),
        hint=plain("A new folder there, which only the owner of the files may enter."),
        element=StaticSelectElement(
            action_id=Input.PLACE.value, placeholder=plain("Choose"), options=places,
            initial_option=places[0],
        ),
        optional=False,
    )  # fmt: skip


def _nothing(*, only: bool) -> Block:
    hint = "Recorded with your name; the VM may then be stopped and its own disks lost."
    return InputBlock(
        block_id=Input.NOTHING.value,
        label=plain("Nothing to keep" if only else "Or: nothing to keep"),
        hint=plain(hint if only else f"Leave it empty to back up. {hint}"),
        element=PlainTextInputElement(
            action_id=Input.NOTHING.value, max_length=_LONGEST_WORDS,
            placeholder=plain("in your own words, e.g. all checkpoints are on /shared"),
        ),
        optional=not only,
    )  # fmt: skip


def may_not_start(who: Sequence[str]) -> Message:
    """Return the private answer to somebody who may not start a backup: why, and who may."""
    name = Names(1)
    may = list(people(who)) or ["nobody: name approvers in the settings"]
    why = "A backup reads and copies people's files, so those who may approve steps start it."
    return fitting.message(
        blocks=[lines(name("refusal"), line(why, " Nothing was done."), line("May start: ", *may))],
        text=notification(why, "Nothing was done."),
        about={"purpose": Purpose.PRIVATE.value},
    )


def recorded(vm: str) -> Message:
    """Return the private answer to somebody who said that nothing is to be kept."""
    name, said = Names(1), "It is recorded with your name and words that nothing is to be kept on "
    return fitting.message(
        blocks=[lines(name("recorded"), line(said, words(vm, code=True), "."))],
        text=notification(f"{said}{vm}."),
        about={"purpose": Purpose.PRIVATE.value},
    )
