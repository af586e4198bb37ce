"""What Slurm's commands and slurmrestd tell of Slurm itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

from bot.schedulers.about import About
from bot.schedulers.slurm import shapes, texts

#: `slurm.conf(5)`, AccountingStorageType: what stands there without accounting.
_NO_ACCOUNTING = frozenset({"", "(null)", "accounting_storage/none"})
#: Admin levels that may change nodes and others' jobs (`sacctmgr(1)`, AdminLevel).
_MAY_CHANGE = frozenset({"operator", "administrator"})
_HOST = re.compile(r"SlurmctldHost(?:\[\d+\])?")
_USER = re.compile(r"([^(]*)")


def accounted(config: Mapping[str, str]) -> bool:
    """Say whether `scontrol show config` names an accounting storage."""
    return config.get("AccountingStorageType", "").strip() not in _NO_ACCOUNTING


def of_config(way: str, config: Mapping[str, str], user: str, admin_level: str) -> About:
    """Return what `scontrol show config` says, to a user of an admin level (empty: not known)."""
    age = texts.whole(config, "MinJobAge")
    hosts = [text for name, text in config.items() if _HOST.fullmatch(name)]
    may, rights = rights_of(config, user, admin_level)
    return About(
        way=way,
        version=config.get("SLURM_VERSION", ""),
        controllers=tuple(dict.fromkeys(host.partition("(")[0].strip() for host in hosts if host)),
        accounting=accounted(config),
        forgets_after=None if age is None else timedelta(seconds=age),
        may_change=may,
        rights=rights,
    )


def rights_of(config: Mapping[str, str], user: str, level: str) -> tuple[bool | None, str]:
    """Say whether a user may drain nodes and requeue others' jobs, and how that is known.

    root and SlurmUser may everything; for others the admin level counts, which only accounting
    keeps (`sacctmgr(1)`).
    """
    found = _USER.match(config.get("SlurmUser", ""))
    slurm_user = found[1].strip() if found else ""
    if user and user in {"root", slurm_user}:
        return True, f"{user} is {'root' if user == 'root' else 'SlurmUser'} there."
    if not user:
        return None, "The login node did not say which user we are."
    if not accounted(config):
        return False, f"{user} is neither root nor SlurmUser, and admin levels need accounting."
    if not level:
        return None, f"`sacctmgr` did not tell the admin level of {user}."
    return level.casefold() in _MAY_CHANGE, f"{user} has the admin level {level}."


def of_ping(
    way: str, body: shapes.Json, *, accounting: bool | None, rights: tuple[bool | None, str]
) -> About:
    """Return what slurmrestd's answer to a ping says; `rights` as of `rights_of`."""
    pings = shapes.rows(body.get("pings"))
    return About(
        way=way,
        version=release(body),
        controllers=tuple(name for ping in pings if (name := shapes.text(ping.get("hostname")))),
        accounting=accounting,
        may_change=rights[0],
        rights=rights[1],
    )


def release(body: shapes.Json) -> str:
    """Return Slurm's release from an answer's `meta`, whose key changed its case in v0.0.40."""
    meta = shapes.mapping(body.get("meta"))
    slurm = shapes.mapping(meta.get("slurm") or meta.get("Slurm"))
    return shapes.text(slurm.get("release"))


def is_up(body: shapes.Json) -> bool:
    """Say whether any controller answered slurmrestd.

    `ping` up to v0.0.39, `pinged` from v0.0.40, `responding` from v0.0.41 on.
    """
    return any(
        ping.get("responding") is True
        or "UP" in (shapes.text(ping.get("ping")), shapes.text(ping.get("pinged")))
        for ping in shapes.rows(body.get("pings"))
    )
