"""Say in a sentence what a check comes down to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.clouds.model import VmState
from bot.diagnosis import Diagnosis
from bot.diagnosis.explain import spelled
from bot.diagnosis.kinds import Confidence
from bot.triage.model import JobFacts, Machine

#: Findings after which nothing is wrong any more.
OVER = frozenset({"healthy_now", "resolver_hung_then_restarted"})


def headline(
    machines: Sequence[Machine], diagnosis: Diagnosis | None, job: JobFacts | None = None
) -> tuple[str, Confidence]:
    """Return the sentence and how sure it is: what machines say goes before what the log says."""
    for one in machines:
        if one.vm is not None and one.vm.state is VmState.ERROR:
            return (
                f"{_named(one)} is in {one.vm.raw_state} at the cloud: a host-level problem. "
                "Support first; no restart by us."
            ), "high"
    for one in machines:
        told = [found for found in one.findings if found.finding not in OVER]
        if told:
            who = "Every machine that was asked" if told[0].fleet_wide else _named(one)
            words = told[0].finding.replace("_", " ")
            return f"{who}: {words}. {told[0].why} {told[0].advice}", "high"
    if diagnosis is not None:
        return diagnosis.summary + _now(machines, diagnosis), diagnosis.confidence
    unread = f"No log of job {job.id} ({job.state}) was read: paste it." if job else ""
    over = [one for one in machines if one.findings]
    if over:
        found = over[0].findings[0]
        return f"{over[0].host}: {found.why} {found.advice} {unread}".strip(), "medium"
    if machines:
        return f"{machines[0].untold} {unread}".strip(), "low"
    return unread or "There is nothing to look at: no log and no machine.", "low"


def _now(machines: Sequence[Machine], diagnosis: Diagnosis) -> str:
    """Add what machines say now to what a log said of then.

    A machine that a person named and the log does not accuse is healthy for itself alone: its
    advice would read as one about the machine that the log accuses.
    """
    for one in machines:
        for found in one.findings:
            accused = one.known_from != "asked" or _accuses(diagnosis, one.host)
            advice = found.advice if accused else "The log does not accuse it."
            return f" Now, on {one.host}: {found.why} {advice}"
    return ""


def _accuses(diagnosis: Diagnosis, host: str) -> bool:
    return any(one.host == host for one in diagnosis.affected)


def _named(one: Machine) -> str:
    ranks = f", rank{'s' if len(one.ranks) > 1 else ''} {spelled(one.ranks)}" if one.ranks else ""
    vm = f"VM {one.vm.id}, {one.vm.raw_state}" if one.vm else ""
    inside = ", ".join(part for part in (vm, ranks.removeprefix(", ")) if part)
    return f"{one.host} ({inside})" if inside else one.host
