"""The repair ladder: what each rung does, what it loses, and when it is offered.

Nothing here acts, and no rung follows another by itself: each is a person's decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bot.hosts import repairs
from bot.hosts.meanings import MEANINGS
from bot.hosts.model import Rung
from bot.recovery import rules
from bot.recovery.facts import Facts, Limits

Rule = Callable[[Facts, Limits], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One rung."""

    rung: Rung
    #: 0 to 5; the two calls beside the ladder have none
    number: int | None
    #: what it does, for a button's card
    what: str
    #: what will not come back
    loses: str
    #: what makes it fit: why it does not, or nothing
    fits: Rule
    #: whether it changes anything
    mutates: bool = True
    #: whether it is meant to end this job's failure, and so needs one that is proven
    repairs: bool = True
    #: whether it ends what runs on the VM: others are asked, the node is drained, losses are shown
    disruptive: bool = False
    #: further conditions, each a reason why not, or nothing
    needs: tuple[Rule, ...] = ()


LADDER = (
    Row(
        rung=Rung.NOTHING,
        number=0,
        what="Leave the VM alone: wait, mend the name or the port, or run without this VM.",
        loses="nothing",
        fits=rules.nothing_to_repair,
        mutates=False,
    ),
    Row(
        rung=Rung.RESTART_RESOLVER,
        number=1,
        what="Restart systemd-resolved in the guest.",
        loses=repairs.RESTART_RESOLVER.loses,
        fits=rules.resolver_is_down,
        needs=(rules.guest_runs, rules.fresh_state, rules.fresh_finding),
    ),
    Row(
        rung=Rung.REBOOT,
        number=2,
        what="Reboot inside the guest.",
        loses=repairs.REBOOT.loses,
        fits=rules.restart_did_not_help,
        disruptive=True,
        needs=(rules.guest_runs, rules.fresh_state, rules.fresh_finding),
    ),
    Row(
        rung=Rung.RESET,
        number=3,
        what="Reset the VM through the cloud API.",
        loses="data not yet flushed; what becomes of local NVMe is not documented",
        fits=rules.host_is_silent,
        disruptive=True,
        needs=(rules.cloud_says_running, rules.fresh_state, rules.fresh_finding),
    ),
    Row(
        rung=Rung.STOP_START,
        number=4,
        what="Stop the VM and start it again through the cloud API.",
        loses="local NVMe, a dynamic public IP, maybe the host or the capacity (out_of_stock)",
        fits=rules.rest_failed_or_asked,
        disruptive=True,
        needs=(
            rules.cloud_says_running,
            rules.fresh_state,
            rules.fresh_or_asked,
            rules.data_may_go,
        ),
    ),
    Row(
        rung=Rung.SUPPORT,
        number=5,
        what="Open a support ticket with the evidence.",
        loses="nothing",
        fits=rules.beyond_us,
        mutates=False,
    ),
    Row(
        rung=Rung.STOP_FOR_SUPPORT,
        number=None,
        what="Stop the VM so that support can work on it.",
        loses="local NVMe, a dynamic public IP, maybe the host or the capacity (out_of_stock)",
        fits=rules.vm_in_error,
        disruptive=True,
        needs=(rules.ticket_entered, rules.data_may_go, rules.name_typed, rules.fresh_state),
    ),
    Row(
        rung=Rung.START,
        number=None,
        what="Start the VM.",
        loses="nothing more",
        fits=rules.vm_stopped,
        repairs=False,
        needs=(rules.fresh_state, rules.out_of_error, rules.support_spoke),
    ),
)

#: What the button Restart stands for, the mildest first.
RESTARTS = (Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.RESET, Rung.STOP_START)

#: Hold for every rung that changes something.
ALWAYS: tuple[Rule, ...] = (rules.not_a_mere_claim, rules.within_reach, rules.not_held)
#: Hold for every rung that is a repair: the failure is real, not over, and here.
REPAIR: tuple[Rule, ...] = (rules.not_harmless, rules.no_progress, rules.placed_for_sure)
#: Hold for every rung that ends what runs on the VM.
DISRUPTIVE: tuple[Rule, ...] = (rules.nobody_else_there,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A rung, whether it is offered, and why or why not."""

    rung: Rung
    number: int | None
    what: str
    loses: str
    offered: bool
    #: one sentence each: the reason for it, or everything that stands against it
    why: tuple[str, ...]
    #: what is done before it, in order
    before: tuple[str, ...] = ()
    #: the run can still be saved: done after a countdown that anybody may stop
    countdown: bool = False


def offers(facts: Facts, limits: Limits | None = None) -> Mapping[Rung, Offer]:
    """Return for every rung whether it is offered for this VM now, in the ladder's order."""
    limits = limits or Limits()
    answered: dict[Rung, Offer] = {}
    for row in LADDER:
        against = _against(row, facts, limits)
        if row.rung is Rung.STOP_START and not against:
            against = _open_below(answered, facts)
        answered[row.rung] = _offer(row, facts, against)
    return answered


def askable(facts: Facts, limits: Limits | None = None) -> frozenset[Rung]:
    """Return the restarts that are not offered, and would be if a person said why they want it."""
    limits = limits or Limits()
    found = set()
    for rung in RESTARTS:
        asked = replace(facts, asked_for={**facts.asked_for, rung: "asked for"})
        if offers(asked, limits)[rung].offered and not offers(facts, limits)[rung].offered:
            found.add(rung)
    return frozenset(found)


def why_no_restart(facts: Facts, limits: Limits | None = None) -> tuple[str, ...]:
    """Return why nothing that restarts anything is offered; empty where something is."""
    asked = offers(facts, limits)
    if any(asked[rung].offered for rung in RESTARTS):
        return ()
    advice = (MEANINGS[finding].advice for finding in sorted(facts.findings))
    reasons = (reason for rung in RESTARTS for reason in asked[rung].why)
    return tuple(dict.fromkeys((*advice, *reasons)))


def _against(row: Row, facts: Facts, limits: Limits) -> list[str]:
    checks = [row.fits]
    if row.mutates:
        checks += (*row.needs, *ALWAYS, *(REPAIR if row.repairs else ()))
    if row.disruptive:
        checks += DISRUPTIVE
    if row.mutates and row.rung is not Rung.STOP_FOR_SUPPORT:
        checks.insert(0, rules.not_in_error)
    found = (check(facts, limits) for check in checks)
    return list(dict.fromkeys(reason for reason in found if reason))


def _open_below(answered: Mapping[Rung, Offer], facts: Facts) -> list[str]:
    """Say which lesser rung is still open, unless a person asked for this one."""
    if facts.asked_for.get(Rung.STOP_START):
        return []
    lesser = (Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.RESET)
    still = [answered[rung] for rung in lesser if answered[rung].offered]
    return [f"A lesser step is still open: {still[0].what}"] if still else []


def _offer(row: Row, facts: Facts, against: list[str]) -> Offer:
    offered = not against
    before: list[str] = []
    if offered and row.disruptive:
        before.append(f"Show what will not come back: {row.loses}.")
        if not facts.drained_by_us and row.rung is not Rung.STOP_FOR_SUPPORT:
            before.append("Drain the node with our reason, keeping its prior state.")
    return Offer(
        rung=row.rung,
        number=row.number,
        what=row.what,
        loses=row.loses,
        offered=offered,
        why=tuple(against) or (rules.reason_for(row.rung, facts),),
        before=tuple(before),
        countdown=offered and row.rung is Rung.RESTART_RESOLVER and facts.job_waits,
    )
