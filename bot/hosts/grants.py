"""What our two accounts need on a machine, made from the tables of probes and of repairs.

With these two files an account may run one program as root and nothing else: a helper that root
owns, which runs its table's command lines only. Without them the helper is sent along each time and
runs as whoever logs in, which needs root (or `sudo` for everything) to see all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.hosts import backups, wire
from bot.hosts.errors import UnsafeWordError
from bot.hosts.model import Slot
from bot.hosts.probes import IDENTITY, PROBES
from bot.hosts.repairs import REPAIRS

HELPER_PATH = "/usr/local/libexec/nccl-dns-probe"
REPAIR_PATH = "/usr/local/libexec/nccl-dns-repair"
BACKUP_PATH = "/usr/local/libexec/nccl-dns-backup"
HELPERS = (HELPER_PATH, REPAIR_PATH, BACKUP_PATH)

Argv = tuple[str | Slot, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """One row: what one account may do as root."""

    #: where root installs the helper
    path: str
    #: what it is for, as the sudoers file says it
    purpose: str
    #: words of the far side that the helper knows
    words: frozenset[str]
    #: the command lines that it runs
    argvs: tuple[Argv, ...]
    #: syslog is told of each command
    recorded: bool = False
    #: a program by itself, which checks its order and runs no command line of the caller's
    program: bool = False


PROBING = Grant(
    path=HELPER_PATH,
    purpose="Lets the probing account run the read-only helper of nccl-dns, and nothing else.",
    words=frozenset(wire.WORDS),
    argvs=tuple(probe.argv for probe in PROBES),
)
REPAIRING = Grant(
    path=REPAIR_PATH,
    purpose="Lets the repair account restart systemd-resolved and reboot, and nothing else.",
    words=frozenset({"@identity"}),
    argvs=(
        IDENTITY.argv,
        *(command.argv for repair in REPAIRS for command in repair.commands),
    ),
    recorded=True,
)

BACKING_UP = Grant(
    path=BACKUP_PATH,
    purpose="Lets the backup account copy from disks that go with the VM to disks that stay.",
    words=frozenset(),
    argvs=(),
    program=True,
)

_ALLOWED = "ALLOWED: list[list[str]] | None = None"
_RECORD = 'RECORD: str = ""'
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


def allowed(grant: Grant = PROBING) -> list[list[str]]:
    """Return a grant's command lines as the installed helper checks them."""
    return [
        [
            pattern
            for part in argv
            for pattern in (_SLOTS[part] if isinstance(part, Slot) else (re.escape(part),))
        ]
        for argv in grant.argvs
    ]


def installed_helper(grant: Grant = PROBING) -> str:
    """Return the helper for the grant's path: owner root, mode 0755."""
    if grant.program:
        return f"#!/usr/bin/python3 -I\n{backups.program().decode()}"
    text = wire.helper(grant.words).decode()
    name = grant.path.rpartition("/")[2] if grant.recorded else ""
    fixed = {_ALLOWED: f"ALLOWED = {allowed(grant)!r}", _RECORD: f"RECORD = {name!r}"}
    for line, value in fixed.items():
        assert text.count(line) == 1  # noqa: S101 # a test holds the two files together
        text = text.replace(line, value)
    return f"#!/usr/bin/python3 -I\n{text}"


def sudoers(user: str, grant: Grant = PROBING) -> str:
    """Return the sudoers file of an account: the grant's program, without arguments.

    Raises UnsafeWordError where the text is no account's name.
    """
    if not _USER.fullmatch(user):
        raise UnsafeWordError(f"{ascii(user)[:60]} is no account's name; nothing was written.")
    return (
        f"# {grant.purpose}\n"
        # Debian's sudo is built --with-fqdn: it asks DNS for the machine's own name first, which
        # takes 20 s and more where the resolver hangs, the very thing that is to be mended.
        f"Defaults:{user} !fqdn, !requiretty\n"
        f'{user} ALL=(root) NOPASSWD: {grant.path} ""\n'
    )
