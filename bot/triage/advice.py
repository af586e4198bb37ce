"""Put what is known of a machine into the report's values, with what the ladder says of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.clouds.model import Vm
from bot.fleet.placement import Known, same_host
from bot.fleet.vms import Match
from bot.hosts import probes
from bot.hosts.model import Evidence, Found
from bot.hosts.probes import Question
from bot.hosts.readings import Process
from bot.recovery.facts import Facts
from bot.recovery.ladder import Offer, offers
from bot.recovery.triaged import Triaged, facts_from
from bot.schedulers.model import JobState
from bot.triage.case import Case, Looked
from bot.triage.model import FindingFacts, Machine, OfferFacts, Probed, VmFacts
from bot.triage.suspects import Suspect


def machine(case: Case, suspect: Suspect, looked: Looked | None) -> Machine:
    """Return one machine of the report."""
    fleet = case.fleet
    match = fleet.vms.get(suspect.host)
    judgement = looked.judgement if looked else None
    facts = case.told(_facts(case, suspect, match.vm if match else None, looked))
    case.facts[suspect.host] = facts
    return Machine(
        host=suspect.host,
        ranks=suspect.ranks,
        known_from=suspect.known,
        because=suspect.because,
        vm=_vm(match) if match else None,
        vm_problem=fleet.problems.get(suspect.host, ""),
        probed=_probed(looked.evidence, case.question) if looked and looked.evidence else None,
        findings=tuple(map(_finding, judgement.found)) if judgement else (),
        untold=judgement.untold if judgement else (looked.problem if looked else ""),
        offers=tuple(map(_offer, offers(facts, case.services.limits).values())),
        held=facts.held,
    )


def _facts(case: Case, suspect: Suspect, vm: Vm | None, looked: Looked | None) -> Facts:
    now = case.services.now()
    evidence = looked.evidence if looked else None
    facts = facts_from(
        Triaged(
            vm=vm.name if vm else suspect.host,
            state=vm.raw_state if vm else None,
            state_age=now - vm.read_at if vm else None,
            cause=None if case.log_is_mute else case.cause,
            judgement=looked.judgement if looked else None,
            judgement_age=None if evidence is None else now - evidence.at,
            placement=_KNOWN[suspect.known],
            from_paste_alone=case.job is None,
            node=case.fleet.nodes.get(suspect.host),
            job_waits=case.job is not None and case.job.state is JobState.RUNNING,
        )
    )
    return replace(
        facts,
        picked_by="the person who asked" if suspect.known == "asked" else "",
        untouchable=_untouchable(case, suspect, vm),
        others=_others(case, suspect.host, looked),
    )


_KNOWN = {
    "log": Known.LOG,
    "launch": Known.LAUNCH,
    "guess": Known.GUESS,
    "asked": Known.LAUNCH,
}


#: Slurm's words for a node on which somebody's job runs.
_TAKEN = frozenset({"ALLOCATED", "MIXED"})


def _others(case: Case, host: str, looked: Looked | None) -> frozenset[str]:
    """Return who else loses work with the machine: the next job, and people who are logged in."""
    found = set(sessions(looked.evidence) if looked and looked.evidence else ())
    node = case.fleet.nodes.get(host)
    if case.job is not None and case.job.has_ended and node is not None and node.state in _TAKEN:
        found.add(f"another job, for the node is {node.raw_state or node.state}")
    return frozenset(found - {f"{user}: processes" for user in case.services.accounts})


def sessions(evidence: Evidence) -> frozenset[str]:
    """Return whose processes run on a machine outside of any job's step, as `user: processes`."""
    found: tuple[Process, ...] = evidence.read(probes.PROCESSES) or ()
    return frozenset(f"{one.user}: processes" for one in found if not one.step)


def steps_of(evidence: Evidence) -> frozenset[str]:
    """Return whose processes belong to a job's step on a machine, as `user: a job`."""
    found: tuple[Process, ...] = evidence.read(probes.PROCESSES) or ()
    return frozenset(f"{one.user}: a job" for one in found if one.step)


def _untouchable(case: Case, suspect: Suspect, vm: Vm | None) -> str:
    """Say why settings, or what is not known, keep a machine out of reach."""
    host, cluster = suspect.host, case.cluster
    names = (host, vm.name) if vm else (host,)
    if any(same_host(name, one) for one in case.services.protected for name in names):
        return f"{host} is on the list of protected machines."
    if suspect.known != "asked" and (strange := case.strange(host)):
        return strange
    if vm is None and case.cloud is not None:
        return f"The cloud did not tell the state of {host}'s VM; it may be in ERROR."
    if cluster is None:
        return f"{host} is of no cluster in the settings."
    if host not in cluster.nodes:
        return (
            f"{host} is not among the nodes of cluster {cluster.name} that may be touched "
            f"(clusters.{cluster.name}.nodes)."
        )
    return ""


def _vm(match: Match[Vm]) -> VmFacts:
    vm = match.vm
    return VmFacts(
        id=vm.id,
        name=vm.name,
        type=vm.type,
        location=vm.location,
        project=vm.project,
        state=vm.state,
        raw_state=vm.raw_state,
        private_ips=vm.private_ips,
        read_at=vm.read_at,
        matched_by=match.by,
    )


def _finding(found: Found) -> FindingFacts:
    return FindingFacts(
        finding=found.finding,
        why=found.why,
        advice=found.advice,
        helps=tuple(sorted(found.helps)),
        cannot_help=tuple(sorted(found.cannot)),
        fleet_wide=found.fleet_wide,
    )


def _offer(offer: Offer) -> OfferFacts:
    return OfferFacts(
        rung=offer.rung,
        number=offer.number,
        what=offer.what,
        loses=offer.loses,
        offered=offer.offered,
        why=offer.why,
    )


def _probed(evidence: Evidence, question: Question) -> Probed:
    delays = evidence.delays
    return Probed(
        at=evidence.at,
        failure=evidence.failure,
        detail=evidence.detail,
        login_ms=_ms(delays.login),
        shell_ms=_ms(delays.shell),
        helper_ms=_ms(delays.helper),
        host_key_on_first_use=evidence.key_on_first_use,
        names=tuple(map(str, question.names)) if evidence.results else (),
    )


def _ms(delay: timedelta | None) -> int | None:
    return None if delay is None else round(delay / timedelta(milliseconds=1))
