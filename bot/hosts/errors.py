"""Errors of reaching a machine; each says what failed, what was not done and what to do next.

HostError
├── UnsafeWordError     text that fits no host-name, address or port grammar; it was not sent
├── BackupError         a machine's answer on its storage that is none
├── HostSetupError      keys, known hosts or jump hosts in the settings cannot be used
└── LoginError          no login, of one kind each
    ├── RouteError          the way there (a jump host, our own network) fails, whoever we ask for
    ├── SilentError         nothing answers at the address
    ├── LoginHangsError     something answers, but no login comes about in time
    └── AccessError         the key, the host key, sudo or the identity is refused: our settings
"""

from __future__ import annotations

from bot.errors import BotError
from bot.hosts.model import LoginFailure


class HostError(BotError):
    """Base of everything that can go wrong between us and a machine."""


class UnsafeWordError(HostError):
    """Text was refused as part of a command."""


class BackupError(HostError):
    """A machine could not say what its storage holds; nothing was copied."""


class HostSetupError(HostError):
    """The settings cannot be used; nothing was sent."""


class LoginError(HostError):
    """No way into the machine; no probe was run."""

    failure = LoginFailure.SILENT


class RouteError(LoginError):
    """The way to the machine fails before the machine itself is asked."""

    failure = LoginFailure.ROUTE


class SilentError(LoginError):
    """Nothing answers at the machine's address."""

    failure = LoginFailure.SILENT


class LoginHangsError(LoginError):
    """The machine takes connections, but no login comes about."""

    failure = LoginFailure.HANGS


class AccessError(LoginError):
    """The machine answers and refuses us, or is not the one that we wanted."""

    failure = LoginFailure.ACCESS
