"""The two modals: what to look at, and which VM it really is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slack_sdk.models.blocks import (
    AlertBlock,
    Block,
    InputBlock,
    InputInteractiveElement,
    Option,
    OptionGroup,
    PlainTextInputElement,
    StaticSelectElement,
)
from slack_sdk.models.blocks.block_elements import FileInputElement

from bot.reports import limits
from bot.reports.limits import Unit
from bot.reports.slack import fitting
from bot.reports.slack.message import View
from bot.reports.slack.parts import line, lines, options, plain, words
from bot.reports.slack.values import LABELS, Action, Callback, Choice, Incident, Input

#: What a person may enter into a text field.
MOST_TEXT = limits.most("plain_text_input.value")
#: What Slack takes as a file in a modal.
MOST_FILE_BYTES = limits.most("file_input.file", Unit.BYTES)
_LONGEST_JOB = 200


def paste(*, back_to: str, recent: Sequence[Choice] = (), problem: str = "") -> View:
    """Return the modal that asks what to look at; one field is enough.

    `back_to` comes back as `private_metadata`: where to post the report. `recent` are jobs that
    failed lately, the newest first. `problem` says why the last attempt could not be used.
    """
    text = PlainTextInputElement(
        action_id=Input.TEXT.value,
        multiline=True,
        max_length=MOST_TEXT,
        focus_on_load=True,
        placeholder=plain("[c10d] The IPv6 network addresses of … cannot be retrieved"),
    )
    job = PlainTextInputElement(
        action_id=Input.JOB.value,
        max_length=_LONGEST_JOB,
        placeholder=plain("48213, slurm:48213 or the job's address"),
    )
    blocks = [
        *_alert(problem, "error"),
        _input(
            Input.TEXT,
            "Log lines",
            text,
            f"Up to {MOST_TEXT:,} characters (Slack's limit). The lines from the first warning on "
            "say most.",
        ),
        _input(
            Input.FILE,
            "Log file",
            FileInputElement(action_id=Input.FILE.value, max_files=1),
            f"Up to {MOST_FILE_BYTES >> 20} MB (Slack's limit). Larger ones, up to 1 GB: share the "
            "file in a channel or with me, then use the shortcut or mention me.",
        ),
        _input(Input.JOB, "Job ID", job, "I read the job's logs where they lie."),
    ]
    if recent:
        chosen = _select(Input.RECENT, recent, "Pick a job")
        blocks.append(_input(Input.RECENT, "Or a job that failed lately", chosen))
    return fitting.modal(
        title="Which VM, and why?",
        submit="Check",
        close="Cancel",
        callback_id=Callback.PASTE.value,
        private_metadata=back_to,
        blocks=blocks,
    )


def wrong_vm(
    incident: Incident, vms: Sequence[Choice], *, current: str = "", problem: str = ""
) -> View:
    """Return the modal in which a person says which VM it really is, and how they know.

    `current` is the name of the VM in the report.
    """
    why = PlainTextInputElement(
        action_id=Input.WHY.value,
        max_length=_LONGEST_WHY,
        placeholder=plain("e.g. the rank printed its host name"),
    )
    now = [lines("now", line("The report is about ", words(current, code=True), "."))]
    menu = _select(Input.VM, vms, LABELS[Action.PICK_VM])
    recorded = "It is recorded with your name."
    fields = (
        _input(Input.VM, "The VM", menu, optional=False),
        _input(Input.WHY, "How do you know?", why, recorded, optional=False),
    )
    nothing = lines("none", line("The job has no VMs that I know of: give a job ID first."))
    return fitting.modal(
        title="Which VM is it?",
        submit="Look at it" if vms else "",
        close="Cancel",
        callback_id=Callback.WRONG_VM.value,
        private_metadata=incident.id,
        blocks=[
            *_alert(problem, "error"),
            *_alert("Nothing is done to a VM by picking it: it is looked at again.", "info"),
            *(now if current else ()),
            *(fields if vms else (nothing,)),
        ],
    )


_LONGEST_WHY = 500


def _alert(text: str, level: str) -> Iterator[Block]:
    if text:
        yield AlertBlock(block_id=f"alert-{level}", text=plain(text), level=level)


def _input(
    name: Input,
    label: str,
    element: InputInteractiveElement,
    hint: str = "",
    *,
    optional: bool = True,
) -> Block:
    return InputBlock(
        block_id=name.value,
        label=plain(label),
        element=element,
        hint=plain(hint) if hint else None,
        optional=optional,
    )


def _select(name: Input, choices: Sequence[Choice], placeholder: str) -> StaticSelectElement:
    """Return a menu; more entries than one list takes are grouped, each group under its ends."""
    most = limits.most("static_select.options", Unit.ITEMS)
    entries = options(choices)
    if len(choices) <= most:
        return StaticSelectElement(
            action_id=name.value,
            placeholder=plain(placeholder),
            options=entries,
        )
    starts = range(0, len(choices), most)
    return StaticSelectElement(
        action_id=name.value,
        placeholder=plain(placeholder),
        option_groups=[_group(choices, entries, start, start + most) for start in starts],
    )


def _group(
    choices: Sequence[Choice], entries: Sequence[Option], start: int, end: int
) -> OptionGroup:
    own = choices[start:end]
    label = plain(f"{own[0].label} to {own[-1].label}")
    return OptionGroup(label=label, options=entries[start:end])
