"""Turn what came over the wire into evidence about one machine."""

from __future__ import annotations

from datetime import datetime

from bot.hosts import probes, wire
from bot.hosts.errors import LoginError
from bot.hosts.model import Delays, Evidence, LoginFailure, ProbeResult
from bot.hosts.port import Target

_NEEDS_ROOT = 77


def unreachable(target: Target, at: datetime, error: LoginError) -> Evidence:
    """Return the evidence of a login that failed."""
    return Evidence(
        vm_id=target.vm_id, name=target.name, at=at, failure=error.failure, detail=str(error)
    )


def evidence(
    target: Target,
    at: datetime,
    answers: wire.Answers,
    delays: Delays | None = None,
    *,
    key_on_first_use: bool = False,
) -> Evidence:
    """Return what a machine answered; of one that is not the target, nothing is believed."""
    refused = _refusal(target, answers.results.get(probes.IDENTITY.name))
    return Evidence(
        vm_id=target.vm_id,
        name=target.name,
        at=at,
        results={} if refused else dict(answers.results),
        failure=LoginFailure.ACCESS if refused else None,
        detail=refused or _odd(answers),
        delays=delays or Delays(),
        key_on_first_use=key_on_first_use,
    )


def _refusal(target: Target, result: ProbeResult | None) -> str:
    """Return why the machine is not taken for the target, whatever verdict it gives itself."""
    if result is None or result.timed_out:
        return f"{target.name} did not say who it is ({target.proof_kind}), so nothing was asked."
    found = probes.IDENTITY.parse(result)
    if not found and result.rc == _NEEDS_ROOT:
        return (
            f"{target.name} does not let this account read its {target.proof_kind}: log in as "
            "root, switch on sudo, or choose another proof of identity in the settings."
        )
    if found.casefold() != target.proof.casefold():
        return (
            f"The machine at {target.address} is not {target.name}: its {target.proof_kind} is "
            f"{ascii(found)[:60]}, not {target.proof!r}. Nothing was asked of it."
        )
    return ""


def _odd(answers: wire.Answers) -> str:
    if answers.flooded:
        return "The machine sent far more than was asked for; the rest was not read."
    if not answers.complete:
        return "The machine stopped answering before all probes had answered."
    return ""
