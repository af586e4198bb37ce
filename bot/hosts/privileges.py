"""What an account may do as root, as `sudo -l` lists it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.hosts.grants import Grant

#: Lists without asking for a password; the words are fixed, so no setting of the account counts.
ARGV = ("env", "LC_ALL=C", "sudo", "-n", "-l")

#: sudo 1.8 and 1.9: `User probe may run the following commands on node-3:`.
_LISTED = re.compile(r"^User \S+ may run the following commands on .*:\s*$", re.MULTILINE)
_NOTHING = re.compile(r"not allowed to run sudo|may not run sudo|not in the sudoers", re.IGNORECASE)
#: No sudo at all: what shells and env(1) say.
_ABSENT = re.compile(r"sudo.*(?:not found|No such file)", re.IGNORECASE)
_PASSWORD = re.compile(r"password is required", re.IGNORECASE)
_SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Privileges:
    """What sudo lets an account do."""

    #: as sudo lists them, such as `(root) NOPASSWD: /usr/local/libexec/nccl-dns-probe ""`
    commands: tuple[str, ...] = ()
    #: why nothing is known, a sentence; empty where something is
    untold: str = ""

    def beyond(self, grant: Grant) -> tuple[str, ...]:
        """Return the commands that are more than a grant gives."""
        return tuple(one for one in self.commands if one != f'(root) NOPASSWD: {grant.path} ""')

    def grants(self, grant: Grant) -> bool:
        """Say whether the grant itself is among the commands."""
        return len(self.beyond(grant)) < len(self.commands)


def read(said: str) -> Privileges:
    """Read what `sudo -n -l` printed, standard error included; the exit code says nothing more."""
    if found := _LISTED.search(said):
        lines = [" ".join(line.split()) for line in said[found.end() :].splitlines()]
        return Privileges(commands=tuple(line for line in lines if line))
    if _NOTHING.search(said) or _ABSENT.search(said):
        return Privileges()
    if _PASSWORD.search(said):
        return Privileges(untold="sudo asks for a password before it tells what is allowed.")
    return Privileges(untold=f"`sudo -n -l` said {ascii(said.strip())[:_SHOWN]}.")
