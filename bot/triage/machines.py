"""Look at machines: what each answers, beside a healthy peer that is asked the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from bot.clouds.model import VmState
from bot.errors import BotError
from bot.fleet.placement import same_host
from bot.hosts import findings
from bot.hosts.probes import PROBES, Question, Table
from bot.hosts.view import Window
from bot.triage.case import Case, Looked
from bot.triage.inventory import Fleet, target
from bot.triage.services import Services

#: Healthy machines that are tried until one answers.
_PEERS = 3


async def probe(
    services: Services, fleet: Fleet, host: str, question: Question, table: Table = PROBES
) -> Looked:
    """Run the read-only probes on a host, or say why not."""
    if services.hosts is None:
        return Looked(problem="No SSH account is set, so no machine was asked.")
    try:
        asked = target(host, fleet, services.proof)
        return Looked(evidence=await services.hosts.probe(asked, question, table))
    except BotError as error:
        return Looked(problem=str(error))


async def compare(
    case: Case, suspects: Sequence[str], others: Sequence[str], window: Window | None
) -> tuple[dict[str, Looked], tuple[str, Looked] | None]:
    """Probe the suspects and a healthy machine of the job at once, and judge one by the other."""
    services, fleet, question = case.services, case.fleet, case.question
    candidates = _candidates(fleet, others)
    found, peer = await asyncio.gather(
        asyncio.gather(*(probe(services, fleet, host, question) for host in suspects)),
        _peer(services, fleet, candidates, question),
    )
    theirs = peer[1].evidence if peer else None
    looked = {}
    for host, one in zip(suspects, found, strict=True):
        if one.evidence is None:
            looked[host] = one
            continue
        judged = findings.judge(one.evidence, theirs, question, window=window, cluster=case.dns)
        looked[host] = Looked(evidence=one.evidence, judgement=judged)
    return looked, peer


def _candidates(fleet: Fleet, others: Iterable[str]) -> list[str]:
    """Return who may serve as a healthy peer: the cloud does not say otherwise; the first last."""
    running = [
        host for host in others if (vm := fleet.vm(host)) is None or vm.state is VmState.RUNNING
    ]
    # the first node is the rendezvous' own, which knows its name by itself
    return [*running[1:], *running[:1]][:_PEERS]


async def _peer(
    services: Services, fleet: Fleet, candidates: Sequence[str], question: Question
) -> tuple[str, Looked] | None:
    last: tuple[str, Looked] | None = None
    for host in candidates:
        looked = await probe(services, fleet, host, question)
        last = (host, looked)
        if looked.evidence is not None and looked.evidence.failure is None:
            return last
    return last if last and last[1].evidence is not None else None


def others_of(hosts: Iterable[str], suspects: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts that nobody suspects."""
    known = tuple(suspects)
    return tuple(host for host in hosts if not any(same_host(host, one) for one in known))
