"""Find the machine that a log speaks of without a name: each machine of the job is asked.

Plain `srun` puts no rank before its lines, and while ranks wait nothing else tells them apart.
"""

from __future__ import annotations

import asyncio

from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.matrix import Observer, observed
from bot.hosts.probes import PREFLIGHT, Question
from bot.triage import machines
from bot.triage.case import Case
from bot.triage.suspects import Suspect

#: Machines that a look asks by itself; a pre-flight asks any number, and shows how far it is.
MOST_ASKED = 64
#: Causes that sit on a machine, and not with all or with the one that is named.
_ON_A_MACHINE = frozenset({Cause.RESOLVER_FAILED})


def is_needed(case: Case) -> bool:
    """Tell whether the log of a known job accuses a machine that it does not name."""
    asks = case.services.hosts is not None and bool(case.question.names)
    return asks and case.job is not None and case.cause in _ON_A_MACHINE


async def narrowed(case: Case) -> tuple[Suspect, ...]:
    """Return the machines of the job that cannot look up what another one can.

    Where there are too many to ask, or none fails any more, a note says so.
    """
    hosts = case.placement.hosts
    if len(hosts) > MOST_ASKED:
        case.notes.append(
            f"The log names no machine, and {len(hosts)} are too many to be asked by the way: a "
            "pre-flight of the job finds the one whose names fail."
        )
        return ()
    names = case.question.names
    question = Question(names=names)

    async def one(host: str) -> Observer | None:
        looked = await machines.probe(case.services, case.fleet, host, question, PREFLIGHT)
        return observed(looked.evidence, names) if looked.evidence else None

    asked = await asyncio.gather(*map(one, hosts))
    seen = {host: each for host, each in zip(hosts, asked, strict=True) if each and each.reached}
    failing = [host for host, each in seen.items() if not each.clean]
    if not failing or len(failing) == len(seen):
        case.notes.append(
            f"The log names no machine, and of {len(hosts)} that were asked "
            f"{len(seen) - len(failing)} find every name and {len(failing)} do not."
        )
    because = f"the only of {len(seen)} machines asked" if len(failing) == 1 else "asked"
    return tuple(
        Suspect(
            host=host, ranks=_ranks(case, host), known="launch",
            because=f"{because} that cannot look up {names[0]}",
        )
        for host in failing
    )  # fmt: skip


def _ranks(case: Case, host: str) -> tuple[int, ...]:
    return tuple(one.rank for one in case.placement.on(host) if one.known is not Known.GUESS)
