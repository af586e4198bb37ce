"""From what triage learned about a VM to the facts that the ladder is asked with. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.model import Finding, Judgement
from bot.recovery.facts import Facts
from bot.schedulers import claims
from bot.schedulers.model import Node


@dataclass(frozen=True, kw_only=True, slots=True)
class Triaged:
    """What each room said of one VM; what nobody was asked about keeps its careful default."""

    #: the VM's name, as a person would have to type it
    vm: str
    #: the cloud's own word for its state; None where no cloud is configured
    state: str | None = None
    #: how long ago the state was read
    state_age: timedelta | None = None
    #: None where nothing was diagnosed
    cause: Cause | None = None
    #: None where the VM was not probed
    judgement: Judgement | None = None
    #: how long ago the older of the two machines answered
    judgement_age: timedelta | None = None
    #: how it is known that the affected rank runs on this VM
    placement: Known = Known.GUESS
    #: nothing but pasted or webhook text says so
    from_paste_alone: bool = True
    #: the VM as its scheduler knows it
    node: Node | None = None
    #: the job still waits in its lookup loop
    job_waits: bool = False
    #: ranks came up or steps were logged after the failure
    progress_since: bool = False


def facts_from(seen: Triaged) -> Facts:
    """Return the facts of an incident at its beginning.

    What people say later (tried and asked-for rungs, data status, who else is there) and what
    settings protect is for the caller to add with `dataclasses.replace`.
    """
    found = seen.judgement.found if seen.judgement else ()
    names = frozenset(one.finding for one in found)
    facts = Facts(
        vm=seen.vm,
        state=seen.state,
        state_age=seen.state_age,
        cause=seen.cause,
        findings=names,
        findings_age=seen.judgement_age if seen.judgement else None,
        # `bot.hosts.login` finds silence only where a peer answered by the same way.
        peer_answers=Finding.HOST_SILENT in names,
        fleet_wide=frozenset(one.finding for one in found if one.fleet_wide),
        placement=seen.placement,
        from_paste_alone=seen.from_paste_alone,
        job_waits=seen.job_waits,
        progress_since=seen.progress_since,
        held=claims.refusal_to_drain(seen.node) if seen.node else "",
        drained_by_us=claims.is_ours(seen.node) if seen.node else False,
    )
    return replace(facts, was_in_error=facts.in_error)
