"""How we log in to machines: values that settings fill."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """What we prove ourselves with."""

    #: private keys; a certificate beside one (`…-cert.pub`) is used with it
    files: tuple[Path, ...] = ()
    #: socket of an agent; it is asked to sign and never forwarded
    agent: Path | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Jump:
    """A machine on the way, by name or address."""

    host: str
    user: str
    port: int = 22


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds of time and number."""

    #: until a TCP connection stands
    connect: timedelta = timedelta(seconds=3)
    #: from there until we are logged in; a machine whose DNS is dead may be slow at it
    login: timedelta = timedelta(seconds=5)
    #: everything, from a machine's turn on
    total: timedelta = timedelta(seconds=10)
    keepalive: timedelta = timedelta(seconds=5)
    #: machines that are probed at one time; the others wait for their turn
    at_once: int = 32
    #: connections that stay open after their probe; a process may often have 1,024 files open
    kept: int = 128
    #: a connection that was not used for so long is closed
    idle: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class SshOptions:
    """How to reach the machines of one fleet."""

    user: str
    keys: Keys
    #: known_hosts format; the host column holds VM ids (and jump hosts' names), or
    #: `@cert-authority` lines
    known_hosts: Path | None = None
    #: take the first key that a machine without a pin shows, and pin it; shown in every report
    trust_on_first_use: bool = False
    #: in order from us; each is reached through the one before
    jumps: tuple[Jump, ...] = ()
    #: ask `sudo -n` once for each run of the helper
    sudo: bool = False
    #: a helper that root installed on the machines (`bot.hosts.grants`); empty sends it along
    helper: str = ""
    port: int = 22
    limits: Limits = field(default_factory=Limits)
