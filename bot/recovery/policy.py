"""Who may do what: person × act × steps × state × channel × scope → allowed, or why not. Pure.

Buttons, words in a channel and the command line all ask `ruling`, and nothing else decides.
What is done is checked against the world once more when it is done (`carrying`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.incidents.approval import ApprovalState
from bot.recovery.hours import Hours


class Act(StrEnum):
    """What somebody wants to do."""

    PROPOSE = "propose"
    #: ask those who may decide
    ASK = "ask"
    APPROVE = "approve"
    #: approve alone and at any hour, by typing the VM's name and a reason
    BREAK_GLASS = "break_glass"
    DECLINE = "decline"
    #: end a chain that is under way
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"


class Ground(StrEnum):
    """What stands against an act."""

    #: whoever asks is no member of the workspace
    STRANGER = "stranger"
    #: is no approver of these steps
    PERSON = "person"
    CHANNEL = "channel"
    #: has asked for the step, or approved it before
    SELF = "self"
    HOURS = "hours"
    #: the machine may not be touched
    SCOPE = "scope"
    #: the question is decided, over, or not yet to be decided
    STATE = "state"
    #: what was typed does not do
    WORDS = "words"
    #: it is off in the settings
    OFF = "off"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """Allowed, or what is against it in a sentence."""

    against: Ground | None = None
    why: str = ""

    @property
    def allowed(self) -> bool:
        """Tell whether nothing is against it."""
        return self.against is None


ALLOWED = Ruling()


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Whoever wants something."""

    user: str
    #: user groups of the policy that they are in
    groups: frozenset[str] = frozenset()
    #: why they are not answered at all; empty for full members of the workspace
    refused: str = ""

    def among(self, ids: frozenset[str]) -> bool:
        """Tell whether ids of people or groups name them."""
        return self.user in ids or bool(self.groups & ids)


@dataclass(frozen=True, kw_only=True, slots=True)
class Matter:
    """What it is about."""

    #: steps of the chain; empty where it is about none
    steps: tuple[str, ...] = ()
    vm: str = ""
    #: of the approval; None where there is none yet
    state: ApprovalState | None = None
    #: its time is over, though nobody has said so yet
    past: bool = False
    proposed_by: str | None = None
    first_by: str | None = None
    #: where the incident's report is; empty where it has none
    home: str = ""
    #: where it is asked; empty at the command line
    channel: str = ""
    #: an open incident's report is in that channel
    incident_here: bool = False
    incident_open: bool = True
    #: why settings keep the VM out of reach; empty where they do not
    untouchable: str = ""
    #: what was typed to break the glass
    typed_vm: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """What settings say of who may do what."""

    #: ids of people and groups who decide
    approvers: frozenset[str] = frozenset()
    #: step → ids of those who decide instead
    of_step: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: step → channels whose incidents it may be approved in; a step that is not named: any
    channels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: steps that whoever asked for them may approve, too; None for all
    own: frozenset[str] | None = None
    #: outside of them the steps below are approved by `always` alone; None for any time
    hours: Hours | None = None
    hours_steps: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()
    break_glass: bool = False

    @property
    def ids(self) -> frozenset[str]:
        """Return everybody that is named."""
        return self.approvers.union(self.always, *self.of_step.values())

    @property
    def groups(self) -> frozenset[str]:
        """Return the user groups that are named: Slack's ids of groups begin with S."""
        return frozenset(one for one in self.ids if one.startswith("S"))

    def who(self, step: str) -> frozenset[str]:
        """Return who decides about a step."""
        return self.of_step.get(step, self.approvers)

    def deciders(self, steps: tuple[str, ...]) -> tuple[str, ...]:
        """Return who is mentioned where steps wait for a decision: groups first."""
        found = [self.who(step) for step in steps] or [self.approvers]
        # one decision covers the chain, so that whoever may decide about a part is no use
        both = frozenset.intersection(*found) or frozenset().union(*found)
        return tuple(sorted(both, key=lambda one: (not one.startswith("S"), one)))

    def decides(self, person: Person, steps: tuple[str, ...] = ()) -> bool:
        """Tell whether somebody is an approver: of all these steps, or of any where none is."""
        if not steps:
            return person.among(self.approvers.union(*self.of_step.values()))
        return all(person.among(self.who(step)) for step in steps)


def ruling(policy: Policy, act: Act, person: Person, matter: Matter, at: datetime) -> Ruling:
    """Return whether somebody may do something now, or what is against it."""
    if person.refused:
        return Ruling(against=Ground.STRANGER, why=person.refused)
    for rule in _RULES[act]:
        found = rule(policy, act, person, matter, at)
        if not found.allowed:
            return found
    return ALLOWED


def _against(ground: Ground, why: str) -> Ruling:
    return Ruling(against=ground, why=why)


# -- rules: each is allowed, or says what is against it


def _approver(p: Policy, _a: Act, who: Person, m: Matter, _at: datetime) -> Ruling:
    if p.decides(who, m.steps):
        return ALLOWED
    about = f" about {_spoken(m.steps)}" if m.steps else ""
    return _against(Ground.PERSON, f"You are none of those who may decide{about}.")


def _pauses(p: Policy, _a: Act, who: Person, m: Matter, _at: datetime) -> Ruling:
    """Let anybody in an incident's channel stop things: that harms nobody."""
    if m.incident_here or p.decides(who):
        return ALLOWED
    why = "No incident is open in this channel; pause where its report is, or ask an approver."
    return _against(Ground.CHANNEL, why)


def _at_home(_p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    if not m.channel or m.channel == m.home:
        return ALLOWED
    return _against(Ground.CHANNEL, "That is done in the thread of its incident alone.")


def _where(p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    for step in m.steps:
        allowed = p.channels.get(step)
        if allowed is not None and m.home not in allowed:
            named = ", ".join(f"<#{one}>" for one in sorted(allowed)) or "no channel"
            why = f"{_spoken((step,))} is approved for incidents of {named} alone."
            return _against(Ground.CHANNEL, _upper(why))
    return ALLOWED


def _reach(_p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    return _against(Ground.SCOPE, m.untouchable) if m.untouchable else ALLOWED


def _not_own(p: Policy, _a: Act, who: Person, m: Matter, _at: datetime) -> Ruling:
    if m.proposed_by != who.user or p.own is None or p.own.issuperset(m.steps):
        return ALLOWED
    why = "You have asked for this step, and whoever asks may not approve it: somebody else has to."
    return _against(Ground.SELF, why)


def _in_hours(p: Policy, _a: Act, who: Person, m: Matter, at: datetime) -> Ruling:
    held = p.hours_steps.intersection(m.steps)
    if p.hours is None or not held or p.hours.hold(at) or who.among(p.always):
        return ALLOWED
    by = f"; until then {_mentioned(p.always)} may" if p.always else ""
    why = f"{_spoken(tuple(sorted(held)))} is approved {p.hours.text} alone{by}."
    return _against(Ground.HOURS, _upper(why))


def _still_open(_p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    if m.state is ApprovalState.OPEN and not m.past:
        return ALLOWED
    word = "expired" if m.past else (m.state or "gone")
    return _against(Ground.STATE, f"That question is {word}, so there is nothing to decide.")


def _second(_p: Policy, _a: Act, who: Person, m: Matter, _at: datetime) -> Ruling:
    if m.first_by != who.user:
        return ALLOWED
    return _against(Ground.STATE, "You approved this step before; a second person is needed.")


def _begun(_p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    if m.state is ApprovalState.APPROVED:
        return ALLOWED
    return _against(Ground.STATE, "There is nothing to stop.")


def _going_on(_p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    if m.incident_open:
        return ALLOWED
    return _against(Ground.STATE, "The incident is over; ask about the job again first.")


def _glass(p: Policy, _a: Act, _w: Person, m: Matter, _at: datetime) -> Ruling:
    if not p.break_glass:
        return _against(Ground.OFF, "Breaking the glass is off (actions.policy.break_glass).")
    if m.typed_vm != m.vm:
        return _against(Ground.WORDS, f"Type the VM's name as the card has it: {m.vm}.")
    if len(m.reason.split()) < _WORDS_OF_A_REASON:
        return _against(Ground.WORDS, "Say in a few words why nobody else can be waited for.")
    return ALLOWED


_WORDS_OF_A_REASON = 3
_RULES = {
    Act.PROPOSE: (_at_home, _going_on, _reach, _where),
    Act.ASK: (_at_home, _still_open),
    Act.APPROVE: (
        _approver, _at_home, _where, _still_open, _second, _not_own, _in_hours, _reach,
    ),
    Act.BREAK_GLASS: (_approver, _at_home, _where, _still_open, _glass, _reach),
    Act.DECLINE: (_approver, _at_home, _still_open),
    Act.STOP: (_approver, _at_home, _begun),
    Act.PAUSE: (_pauses,),
    Act.RESUME: (_approver,),
}  # fmt: skip


def _spoken(steps: tuple[str, ...]) -> str:
    return ", ".join(step.replace("_", " ") for step in steps)


def _mentioned(ids: frozenset[str]) -> str:
    return ", ".join(sorted(ids))


def _upper(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
