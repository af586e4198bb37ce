"""Who may approve what, where and when: the settings, and the policy that they come to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from bot.recovery.hours import Hours
from bot.recovery.policy import Policy
from bot.settings.part import Part
from bot.settings.slack import Ids

if TYPE_CHECKING:
    from bot.settings.tree import Settings

StepName = Literal[
    "restart_resolver", "reboot", "reset", "stop_start", "stop_for_support", "start", "back_up"
]
STEP_NAMES: tuple[str, ...] = get_args(StepName)


def _hours(text: str) -> str:
    if text:
        Hours.parse(text)
    return text


class PolicySettings(Part):
    """Who may approve what, where and when, beside [slack.approvers]."""

    step_approvers: dict[StepName, Ids] = {}  # noqa: RUF012 - pydantic copies it
    """Step → people and user groups who alone decide about it: {reset = ["S0614TZR7"]}."""
    step_channels: dict[StepName, Ids] = {}  # noqa: RUF012 - pydantic copies it
    """Step → channels whose incidents it may be approved in: {stop_start = ["C0123ABCD"]}."""
    self_approval: bool | tuple[StepName, ...] = True
    """Whether whoever asked for a step may approve it, or for which steps: ["restart_resolver"]."""
    hours: Annotated[str, AfterValidator(_hours)] = ""
    """When the steps below may be approved: "Mon-Fri 09:00-18:00 Europe/Berlin"; empty: always."""
    hours_steps: tuple[StepName, ...] = ("reboot", "reset", "stop_start")
    always: Ids = ()
    """People and user groups who may approve these at any hour, such as those on call."""
    escalate_to: Ids = ()
    """People and user groups who are called, too, where nobody has decided in time."""
    break_glass: bool = False
    """Let an approver approve alone and at any hour by typing the VM's name and a reason."""
    audit_channel: Annotated[str, Field(pattern=r"^([CG][A-Z0-9]{2,30})?$")] = ""
    """Where each broken glass is posted; needed for it."""


def _accounts(told: dict[str, str]) -> dict[str, str]:
    for account, user in told.items():
        if not re.fullmatch(r"[UW][A-Z0-9]{2,30}", user):
            raise ValueError(f"{account}: {user!r} is no id of a person in Slack, as U024BE7LH is")
    return told


#: Account of the operating system → a person's id in Slack.
Accounts = Annotated[dict[str, str], AfterValidator(_accounts)]


def policy_of(settings: Settings) -> Policy:
    """Return who may do what."""
    told = settings.actions.policy
    named = settings.slack.approvers if settings.slack else None
    own = told.self_approval
    return Policy(
        approvers=frozenset((*named.users, *named.groups)) if named else frozenset(),
        of_step={step: frozenset(ids) for step, ids in told.step_approvers.items()},
        channels={step: frozenset(ids) for step, ids in told.step_channels.items()},
        own=None if own is True else frozenset(own or ()),
        hours=Hours.parse(told.hours) if told.hours else None,
        hours_steps=frozenset(told.hours_steps),
        always=frozenset(told.always),
        break_glass=told.break_glass and bool(told.audit_channel),
    )
