"""Host keys, pinned per VM id: addresses move from one machine to another, ids do not."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import asyncssh

from bot.hosts.errors import HostSetupError
from bot.hosts.quoting import quoted

#: Trusted keys, trusted authorities and revoked keys, as asyncssh takes them.
Trusted = tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]


class Pins:
    """A known_hosts file whose host column holds VM ids; TOFU adds lines to it."""

    def __init__(self, path: Path | None, *, trust_on_first_use: bool = False) -> None:
        self._path = path
        self.trust_on_first_use = trust_on_first_use
        self._fresh: dict[str, asyncssh.SSHKey] = {}
        self._known = self._read()

    def _read(self) -> asyncssh.SSHKnownHosts:
        if self._path is None:
            if not self.trust_on_first_use:
                raise HostSetupError(
                    "No known_hosts file is set, so no machine can be told from an impostor. Name "
                    "one in the settings, with host keys by VM id or a @cert-authority line, or "
                    "switch on trust on first use."
                )
            return asyncssh.import_known_hosts("")
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            if self.trust_on_first_use:
                return asyncssh.import_known_hosts("")
            raise HostSetupError(f"{self._path} does not exist; nothing was asked.") from error
        except (OSError, UnicodeDecodeError) as error:
            raise HostSetupError(f"{self._path} cannot be read: {error}.") from error
        try:
            return asyncssh.import_known_hosts(text)
        except ValueError as error:
            raise HostSetupError(f"{self._path} is no known_hosts file: {error}.") from error

    def trusted(self, alias: str) -> Trusted:
        """Return the keys and authorities that count for a machine."""
        if not any(self._known.match(alias, "", None)[:2]):
            # Somebody else may have pinned it since: the other account, or a person.
            with contextlib.suppress(HostSetupError):
                self._known = self._read()
        keys, authorities, revoked = self._known.match(alias, "", None)[:3]
        fresh = self._fresh.get(alias)
        return [*keys, *([fresh] if fresh else [])], list(authorities), list(revoked)

    def take_first(self, alias: str, key: asyncssh.SSHKey) -> bool:
        """Pin a key if none is pinned and that is switched on; say whether it was taken."""
        keys, authorities, _ = self.trusted(alias)
        if keys or authorities or not self.trust_on_first_use:
            return False
        self._fresh[alias] = key
        return True

    def keep(self, alias: str) -> None:
        """Write a key that was taken on first use into the file, once the machine proved itself."""
        key = self._fresh.get(alias)
        if key is None or self._path is None or self._known.match(alias, "", None)[0]:
            return
        exported = key.export_public_key("openssh").decode().split()
        line = quoted([alias, *exported[:2]]) + "\n"
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(line)
        self._known = self._read()

    def drop(self, alias: str) -> None:
        """Forget a key that was taken on first use: the machine was another one."""
        self._fresh.pop(alias, None)
