"""The controls below a report: three buttons that people expect, and a menu for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slack_sdk.models.blocks import Block, InteractiveElement, StaticSelectElement

from bot.reports.slack.parts import actions, block_id, button, menu, options, plain
from bot.reports.slack.standing import Fault, Standing
from bot.reports.slack.values import LABELS, Action, Choice, Incident

#: What is behind `⋯`.
MORE = (
    Action.PROBE_AGAIN,
    Action.PREFLIGHT,
    Action.RERUN,
    Action.WRONG_VM,
    Action.DISMISS,
)
#: More VMs than these would crowd the message out: a button opens the menu in a modal.
MOST_IN_MENU = 40
_USUAL = (Action.BACK_UP, Action.RESTART, Action.TICKET)
#: Buttons by what is known; one that the evidence forbids answers with the reason.
_BUTTONS = {
    Fault.HARMLESS: (Action.WHY_NO_RESTART,),
    Fault.MACHINE: _USUAL,
    Fault.GUESS: (Action.TICKET,),
    Fault.SHARED: _USUAL,
    Fault.NOWHERE: _USUAL,
}


def controls(incident: Incident, stands: Standing, vms: Sequence[Choice]) -> Iterator[Block]:
    """Return the row of controls: the buttons of the fault, and everything else behind `⋯`.

    Where the VM is a guess, the menu of the job's VMs comes first and nothing that loses is there.
    """
    shown: list[InteractiveElement] = []
    if stands.fault is Fault.GUESS and vms:
        shown.append(_picker(incident, vms))
    for action in _BUTTONS[stands.fault]:
        recommended = action is stands.recommended and not incident.mended
        shown.append(button(action, incident.id, style="primary" if recommended else None))
    shown.append(menu(Action.MORE, MORE, incident.id))
    yield actions(block_id("controls", incident.revision), *shown)


def _picker(incident: Incident, vms: Sequence[Choice]) -> InteractiveElement:
    if len(vms) > MOST_IN_MENU:
        return button(Action.PICK_VM, incident.id, style="primary")
    return StaticSelectElement(
        action_id=Action.PICK_VM.value,
        placeholder=plain(LABELS[Action.PICK_VM]),
        options=options(vms),
    )
