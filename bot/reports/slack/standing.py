"""What a check amounts to for the person who reads it: whose fault, what next, which button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.clouds.model import VmState
from bot.diagnosis import Diagnosis
from bot.diagnosis.explain import spelled
from bot.fleet.placement import same_host
from bot.hosts.meanings import NO_LOGIN
from bot.hosts.model import Rung
from bot.recovery.rules import HARMLESS
from bot.reports.slack.values import LABELS, Action
from bot.triage.headline import OVER
from bot.triage.model import Checked, Machine, OfferFacts

#: Rungs behind the button Restart, the mildest first.
RESTARTS = (Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.RESET, Rung.STOP_START)


class Fault(StrEnum):
    """Where the fault is, as far as it is known."""

    #: nothing is broken: a restart would destroy a healthy job
    HARMLESS = "harmless"
    #: one machine or a few, known for sure
    MACHINE = "machine"
    #: a machine, but which one is a guess: a person has to pick it
    GUESS = "guess"
    #: everybody's: no machine is to blame
    SHARED = "shared"
    #: no machine is in view
    NOWHERE = "nowhere"


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What a report is about."""

    fault: Fault
    #: machines at fault, the likeliest first; empty where none is accused
    accused: tuple[Machine, ...]
    #: the button that the evidence recommends
    recommended: Action | None
    #: what to do, in one or two sentences
    next_step: str


def standing(checked: Checked, *, data_safe: bool = False) -> Standing:
    """Return what a check amounts to; `data_safe`: what the VM holds may be lost."""
    accused = tuple(each for each in checked.machines if _is_accused(each, checked.diagnosis))
    fault = _fault(checked, accused)
    about = (accused or checked.machines)[:1]
    offer = _restart(about[0]) if about and fault is Fault.MACHINE else None
    recommended = _recommended(fault, about, offer, data_safe=data_safe)
    return Standing(
        fault=fault,
        accused=accused,
        recommended=recommended,
        next_step=_next_step(checked, fault, recommended, offer, about),
    )


def shown_state(raw: str) -> str:
    """Return the cloud's own word for a state, without the prefix that all of them have."""
    return raw.removeprefix("STATE_")


def finding_words(finding: str) -> str:
    """Return a finding as people say it."""
    return finding.replace("_", " ")


def told(machine: Machine) -> str:
    """Return what is wrong with a machine now, in a few words; empty where nothing is."""
    if machine.vm is not None and machine.vm.state is VmState.ERROR:
        return f"VM in {shown_state(machine.vm.raw_state)}"
    return next((finding_words(each.finding) for each in machine.findings), "")


def failing_ranks(checked: Checked, accused: Sequence[Machine]) -> str:
    """Name the failing ranks and how many there are in all; empty where no rank is known."""
    ranks = {rank for one in accused for rank in one.ranks}
    found = checked.diagnosis
    if not ranks and found is not None:
        ranks = {rank for one in found.affected for rank in one.ranks}
    if not ranks:
        return ""
    world = f" of {found.world_size}" if found is not None and found.world_size else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {spelled(sorted(ranks))}{world}"


def _is_accused(one: Machine, found: Diagnosis | None) -> bool:
    """Tell whether anything says that the fault is this machine's, and not everybody's."""
    if one.vm is not None and one.vm.state is VmState.ERROR:
        return True
    real = [each for each in one.findings if each.finding not in OVER]
    if real:
        return not all(each.fleet_wide for each in real)
    if one.known_from == "asked" or found is None:
        return True
    return any(each.host and same_host(each.host, one.host) for each in found.affected)


def _fault(checked: Checked, accused: Sequence[Machine]) -> Fault:
    in_error = any(one.vm and one.vm.state is VmState.ERROR for one in accused)
    if checked.diagnosis is not None and checked.diagnosis.cause in HARMLESS and not in_error:
        return Fault.HARMLESS
    if accused:
        return Fault.GUESS if accused[0].known_from == "guess" else Fault.MACHINE
    return Fault.SHARED if checked.machines else Fault.NOWHERE


def _restart(one: Machine) -> OfferFacts | None:
    """Return the mildest restart that the evidence allows."""
    offered = {each.rung: each for each in one.offers if each.offered}
    return next((offered[rung] for rung in RESTARTS if rung in offered), None)


def _recommended(
    fault: Fault, about: Sequence[Machine], offer: OfferFacts | None, *, data_safe: bool
) -> Action | None:
    if fault is Fault.HARMLESS:
        return Action.WHY_NO_RESTART
    if fault is Fault.GUESS or not about:
        return None
    if offer is not None:
        way_in = not any(each.finding in NO_LOGIN for each in about[0].findings)
        loses = offer.rung != Rung.RESTART_RESOLVER
        return Action.BACK_UP if loses and way_in and not data_safe else Action.RESTART
    support = any(each.rung == Rung.SUPPORT and each.offered for each in about[0].offers)
    return Action.TICKET if support else None


def _next_step(
    checked: Checked,
    fault: Fault,
    recommended: Action | None,
    offer: OfferFacts | None,
    about: Sequence[Machine],
) -> str:
    if fault is Fault.GUESS:
        return (
            "Pick the VM first: where the rank runs is a guess, so nothing destructive is offered."
        )
    if offer is not None and recommended is not None:
        step = f"{offer.what[:1].lower()}{offer.what[1:]} Loses {offer.loses.removesuffix('.')}."
        first = "" if recommended is Action.RESTART else f"{LABELS[recommended]} first. Then press "
        return f"{first or 'Press '}{LABELS[Action.RESTART]}: {step}"
    if recommended is Action.TICKET:
        return f"Press {LABELS[Action.TICKET]}: nothing that can be done on the VM mends this."
    advice = next((each.advice for one in about for each in one.findings), "")
    steps = checked.diagnosis.next_steps if checked.diagnosis is not None else ()
    return advice or next(iter(steps), "") or checked.headline
