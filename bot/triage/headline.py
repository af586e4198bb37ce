"""Say in a sentence what a check comes down to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.clouds.model import VmState
from bot.diagnosis import Diagnosis
from bot.diagnosis.explain import spelled
from bot.diagnosis.kinds import Confidence
from bot.schedulers.model import FAILED_STATES
from bot.triage.model import JobFacts, Machine

#: Findings after which nothing is wrong any more.
OVER = frozenset({"healthy_now", "resolver_hung_then_restarted"})
#: Findings about the way there, which say nothing of why a job failed.
OURS = frozenset({"no_access", "no_route"})


def headline(
    machines: Sequence[Machine], diagnosis: Diagnosis | None, job: JobFacts | None = None
) -> tuple[str, Confidence]:
    """Return the sentence and how sure it is: what machines say goes before what the log says."""
    for said in (_in_error, _not_running):
        for one in machines:
            if sentence := said(one):
                return sentence, "high"
    for one in machines:
        told = [found for found in one.findings if found.finding not in OVER | OURS]
        if told:
            who = "Every machine that was asked" if told[0].fleet_wide else _named(one)
            words = told[0].finding.replace("_", " ")
            return f"{who}: {words}. {told[0].why} {told[0].advice}", "high"
    if diagnosis is not None and (diagnosis.severity != "none" or not _failed(job)):
        return diagnosis.summary + _now(machines, diagnosis), diagnosis.confidence
    unread = _unread(diagnosis, job) if job else ""
    over = [one for one in machines if one.findings]
    if over:
        found = over[0].findings[0]
        return f"{over[0].host}: {found.why} {found.advice} {unread}".strip(), "medium"
    if machines:
        return f"{machines[0].untold} {unread}".strip(), "low"
    return unread or "There is nothing to look at: no log and no machine.", "low"


def _in_error(one: Machine) -> str:
    if one.vm is None or one.vm.state is not VmState.ERROR:
        return ""
    return (
        f"{_named(one)} is in {one.vm.raw_state} at the cloud: a host-level problem. "
        "Support first; no restart by us."
    )


def _not_running(one: Machine) -> str:
    if one.vm is None or one.vm.state is VmState.RUNNING:
        return ""
    return f"{_named(one)} does not run: the cloud says {one.vm.raw_state}."


def _failed(job: JobFacts | None) -> bool:
    return job is not None and job.state.partition("+")[0].upper() in FAILED_STATES


def _unread(diagnosis: Diagnosis | None, job: JobFacts) -> str:
    """Say what is missing to say more of a job: its log, or what its log does not hold."""
    if diagnosis is not None:
        return f"Job {job.id} ended in {job.state}, and its log does not say why."
    if not job.nodes and job.started_at is None and job.ended_at is None:
        return f"Job {job.id} ({job.state}) has not started: there is nothing to look at yet."
    return f"No log of job {job.id} ({job.state}) was read: paste it."


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
    vm = f"VM {one.vm.id}, {one.vm.raw_state.removeprefix('STATE_')}" if one.vm else ""
    inside = ", ".join(part for part in (vm, ranks.removeprefix(", ")) if part)
    return f"{one.host} ({inside})" if inside else one.host
