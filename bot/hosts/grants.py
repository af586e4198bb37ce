"""What an account that probes needs on a machine, made from the table of probes.

With these two files the account may run one program as root and nothing else: a helper that root
owns, which runs the table's command lines only. Without them the helper is sent along each time and
runs as whoever logs in, which needs root (or `sudo` for everything) to see all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.hosts import wire
from bot.hosts.errors import UnsafeWordError
from bot.hosts.model import Slot
from bot.hosts.probes import PROBES, Table

HELPER_PATH = "/usr/local/libexec/nccl-dns-probe"
_ALLOWED = "ALLOWED: list[list[str]] | None = None"
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")

_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = rf"(?=.{{1,254}}\Z){_LABEL}(?:\.{_LABEL})*\.?"
#: What a word in a slot looks like to the helper, which trusts its caller as little as we do.
_SLOTS: Mapping[Slot, tuple[str, ...]] = {
    Slot.NAMES: (_NAME, "*", _NAME),
    Slot.ADDRESS: ("[0-9a-fA-F:.]{2,45}",),
    Slot.PORT: ("[0-9]{1,5}",),
    Slot.PROOF_KIND: ("product_uuid|machine_id|host_name",),
    Slot.PROOF: ("[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}",),
}


def allowed(table: Table = PROBES) -> list[list[str]]:
    """Return the command lines of a table as the installed helper checks them."""
    return [
        [
            pattern
            for part in probe.argv
            for pattern in (_SLOTS[part] if isinstance(part, Slot) else (re.escape(part),))
        ]
        for probe in table
    ]


def installed_helper() -> str:
    """Return the helper for `HELPER_PATH`: owner root, mode 0755."""
    text = wire.helper().decode()
    assert text.count(_ALLOWED) == 1  # noqa: S101 # a test holds the two files together
    fixed = text.replace(_ALLOWED, f"ALLOWED = {allowed()!r}")
    return f"#!/usr/bin/python3 -I\n{fixed}"


def sudoers(user: str) -> str:
    """Return the sudoers file of the account that probes: this program, without arguments.

    Raises UnsafeWordError where the text is no account's name.
    """
    if not _USER.fullmatch(user):
        raise UnsafeWordError(f"{ascii(user)[:60]} is no account's name; nothing was written.")
    return (
        "# Lets the probing account run the read-only helper of nccl-dns, and nothing else.\n"
        f"Defaults!{HELPER_PATH} !requiretty\n"
        f'{user} ALL=(root) NOPASSWD: {HELPER_PATH} ""\n'
    )
