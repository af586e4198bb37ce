"""Checks of what our accounts may do on the machines: no more than they were granted, no less."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.doctor.look import Look
from bot.doctor.machines import Account, logins_of, looked_at
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.fleet.folding import folded
from bot.hosts.grants import PROBING, REPAIRING, Grant
from bot.hosts.privileges import Privileges

_SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class _Granted:
    account: Account
    grant: Grant
    #: as people call it
    name: str
    #: where its sudoers are printed
    printed: str
    #: nothing works without the grant
    must: bool


async def sudo(look: Look) -> Sequence[Answer]:
    """Say whether the probe account may do more as root than run its helper."""
    ssh = look.settings.ssh
    if ssh is None:
        return ()
    if ssh.user == "root":
        said = "The probe account is root itself: it may change everything."
        return (warn(said, "Give it an account of its own: `nccl-dns init --print install`."),)
    probing = _Granted(
        account=Account.PROBE,
        grant=PROBING,
        name="probe account",
        printed="nccl-dns init --print sudoers",
        must=ssh.sudo,
    )
    return await _sudo(look, probing)


async def repair_account(look: Look) -> Sequence[Answer]:
    """Say whether the repair account is let in, and may run its helper alone; repair nothing."""
    if look.repairing is None:
        said = look.closed("Nothing is repaired:") or "The repair account could not be opened."
        return (fail(said, "Look at [ssh.repair] keys and known_hosts."),)
    repairing = _Granted(
        account=Account.REPAIR,
        grant=REPAIRING,
        name="repair account",
        printed="nccl-dns init --print repair-sudoers",
        must=True,
    )
    return [*await logins_of(look, Account.REPAIR), *await _sudo(look, repairing)]


async def _sudo(look: Look, granted: _Granted) -> list[Answer]:
    hosts = granted.account.hosts(look)
    found: list[Answer] = []
    for cluster in look.clusters or (None,):
        seen = await looked_at(look, cluster, granted.account)
        asked = [one.target for one in seen if one.let_in and one.target is not None]
        if hosts is not None and asked:
            told = await asyncio.gather(*(hosts.privileges(there) for there in asked))
            by_name = dict(zip((there.name for there in asked), told, strict=True))
            found += _alike(by_name, granted, cluster.name if cluster else "")
    return found or [skip("No sampled machine let us in, so sudo was not asked.")]


def _alike(told: Mapping[str, Privileges], granted: _Granted, about: str) -> list[Answer]:
    """Say what sudo allows, machines with the same answer together."""
    alike: dict[Privileges, list[str]] = {}
    for name, one in told.items():
        alike.setdefault(one, []).append(name)
    return [_allowed(one, folded(names), granted, about) for one, names in alike.items()]


def _allowed(one: Privileges, names: str, granted: _Granted, about: str) -> Answer:
    if one.untold:
        return skip(f"{names}: not checked. {one.untold}", about)
    if beyond := "; ".join(one.beyond(granted.grant)):
        said = f"On {names} the {granted.name} may do more than it needs: {beyond[:_SHOWN]}."
        return warn(said, f"Leave it the one line of `{granted.printed}`.", about)
    if granted.must and not one.grants(granted.grant):
        said = f"On {names} sudo does not let the {granted.name} run its helper."
        return fail(said, f"Install it: `{granted.printed}`.", about)
    what = "its helper alone" if one.commands else "nothing"
    return ok(f"On {names} the {granted.name} may run {what} as root.", about)
