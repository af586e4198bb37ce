"""The form of a restart: every rung with what it loses on this VM, and why it is offered or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from slack_sdk.models.blocks import (
    AlertBlock,
    Block,
    InputBlock,
    PlainTextInputElement,
    RadioButtonsElement,
)

from bot.reports.slack import fitting
from bot.reports.slack.message import View
from bot.reports.slack.parts import Line, line, lines, options, plain, words
from bot.reports.slack.values import Callback, Choice, Input

_TITLE = "Restart"
_LONGEST_WORDS = 500
#: In front of the value of a rung that wants a person's reason.
_ASKED = "asked:"


class Fits(StrEnum):
    """Whether a rung may be chosen."""

    OFFERED = "offered"
    #: the evidence does not call for it; a person may ask for it, with a reason that is recorded
    WITH_REASON = "with a reason"
    NOT_NOW = "not now"
    #: it changes nothing on the VM, and so is not chosen here
    BESIDE = "beside"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rung:
    """One rung as the form shows it."""

    id: str
    number: int
    what: str
    #: what it loses on any VM, and on this one
    loses: str
    here: tuple[str, ...] = ()
    fits: Fits
    #: the reason for it, or everything that stands against it
    why: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """What a form of a restart shows."""

    #: comes back with the submission
    about: str
    vm: str
    rungs: tuple[Rung, ...] = ()
    #: id of the one that the evidence calls for
    recommended: str = ""
    #: sentences on the job: whether this run can still be saved, and until when
    said: tuple[str, ...] = ()
    #: why nothing could be looked at
    problem: str = ""


def looking(vm: str) -> View:
    """Return the form while the VM is still looked at."""
    return fitting.modal(
        title=_TITLE, close="Cancel", callback_id=Callback.RESTART.value,
        blocks=[
            lines("looking", line("Looking at ", words(vm, code=True), " again …")),
            lines("wait", line("This takes some seconds. Nothing is changed.")),
        ],
    )  # fmt: skip


def restart(form: Form) -> View:
    """Return the form in which a person chooses a rung; nothing is done by submitting it."""
    blocks: list[Block] = [*_alerts(form)]
    blocks.append(lines("vm", line("VM: ", words(form.vm, code=True)), *map(line, form.said)))
    choosable = [one for one in form.rungs if one.fits in {Fits.OFFERED, Fits.WITH_REASON}]
    if choosable:
        # first, so that whoever takes what is recommended reads no further
        blocks += _fields(form, choosable)
    blocks += (lines(f"rung-{one.id}", *_rung(one)) for one in form.rungs)
    return fitting.modal(
        title=_TITLE, submit="Ask for it" if choosable else "", close="Cancel",
        callback_id=Callback.RESTART.value, private_metadata=form.about, blocks=blocks,
    )  # fmt: skip


def chosen(value: str) -> tuple[str, bool]:
    """Return the rung that an option stands for, and whether it wants a reason."""
    return value.removeprefix(_ASKED), value.startswith(_ASKED)


def _alerts(form: Form) -> Iterator[Block]:
    if form.problem:
        yield AlertBlock(block_id="alert-error", text=plain(form.problem), level="error")
        return
    one = next((each for each in form.rungs if each.id == form.recommended), None)
    if one is not None:
        said = f"Recommended: {one.number}. {one.what}"
        yield AlertBlock(block_id="alert-info", text=plain(said), level="info")
    else:
        said = "The evidence calls for no restart. Each rung below says why."
        yield AlertBlock(block_id="alert-warning", text=plain(said), level="warning")


def _rung(one: Rung) -> Iterator[Line]:
    yield line(words(f"{one.number}. {one.what}", bold=True))
    yield line(words("Loses: ", bold=True), f"{one.loses.removesuffix('.')}.")
    if one.here:
        yield line(words("On this VM: ", bold=True), f"{'; '.join(one.here)}.")
    yield line(words(_SAID[one.fits], bold=True), " ".join(one.why))


_SAID = {
    Fits.OFFERED: "Offered: ",
    Fits.WITH_REASON: "Only with your reason: ",
    Fits.NOT_NOW: "Not now: ",
    Fits.BESIDE: "Here: ",
}


def _fields(form: Form, choosable: Sequence[Rung]) -> Iterator[Block]:
    entries = options([_choice(one) for one in choosable])
    first = next(
        (
            entry
            for one, entry in zip(choosable, entries, strict=True)
            if one.id == form.recommended
        ),
        None,
    )
    yield InputBlock(
        block_id=Input.RUNG.value,
        label=plain("What to ask for"),
        hint=plain("Nothing is done yet: a card asks those who may approve it."),
        element=RadioButtonsElement(
            action_id=Input.RUNG.value, options=entries, initial_option=first
        ),
        optional=False,
    )
    if any(one.fits is Fits.WITH_REASON for one in choosable):
        yield InputBlock(
            block_id=Input.WHY.value,
            label=plain("Your reason"),
            hint=plain("Recorded with your name; needed where the evidence does not call for it."),
            element=PlainTextInputElement(
                action_id=Input.WHY.value, max_length=_LONGEST_WORDS,
                placeholder=plain("e.g. support asked for it, and everything is on /shared"),
            ),
            optional=True,
        )  # fmt: skip


def _choice(one: Rung) -> Choice:
    asked = one.fits is Fits.WITH_REASON
    what = one.what.removesuffix(".")
    note = "against the evidence: say why below" if asked else ""
    return Choice(
        id=f"{_ASKED}{one.id}" if asked else one.id, label=f"{one.number}. {what}", note=note
    )
