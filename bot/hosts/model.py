"""What is asked of a machine, what it answered, and what that comes to: values, free of I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class LoginFailure(StrEnum):
    """Where the way into a machine ended."""

    #: a jump host or our own network fails, before the machine is asked
    ROUTE = "route"
    #: nothing answers at the address
    SILENT = "silent"
    #: something answers, but no login comes about in time
    HANGS = "hangs"
    #: key, host key, sudo or identity is refused
    ACCESS = "access"


class Rung(StrEnum):
    """One thing that can be done about a machine, from the least to the most.

    `bot.recovery.ladder` says when each is offered; here it is said which helps against what.
    """

    NOTHING = "nothing"
    RESTART_RESOLVER = "restart_resolver"
    REBOOT = "reboot"
    RESET = "reset"
    STOP_START = "stop_start"
    SUPPORT = "support"
    #: the only lifecycle call for a VM in ERROR, while support works on it
    STOP_FOR_SUPPORT = "stop_for_support"
    #: starts a VM that is stopped
    START = "start"


class Finding(StrEnum):
    """What the probes of a machine and of a healthy peer come to."""

    RESOLVER_FAILED = "resolver_failed"
    RESOLVER_HUNG = "resolver_hung"
    UPSTREAM_UNREACHABLE = "upstream_unreachable"
    RESOLV_CONF_OVERWRITTEN = "resolv_conf_overwritten"
    SEARCH_DOMAIN_LOST = "search_domain_lost"
    RECORD_MISSING = "record_missing"
    RENDEZVOUS_PORT_BLOCKED = "rendezvous_port_blocked"
    RESOLVER_HUNG_THEN_RESTARTED = "resolver_hung_then_restarted"
    HEALTHY_NOW = "healthy_now"
    CONTAINER_RESOLVER_DIFFERS = "container_resolver_differs"
    CLUSTER_DNS_DOWN = "cluster_dns_down"
    COREDNS_ON_SICK_NODE = "coredns_on_sick_node"
    SERVICE_NOT_READY = "service_not_ready"
    NO_ROUTE = "no_route"
    NO_ACCESS = "no_access"
    LOGIN_HANGS = "login_hangs"
    HOST_SILENT = "host_silent"


class Slot(StrEnum):
    """A place in a probe's command line that is filled with checked words."""

    #: every name that was asked for, each a word
    NAMES = "names"
    #: the rendezvous' address, and its port
    ADDRESS = "address"
    PORT = "port"
    #: how the machine proves who it is, and the proof that is expected
    PROOF_KIND = "proof kind"
    PROOF = "proof"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeResult:
    """One probe's answer."""

    name: str
    #: exit code; negative for a signal; None where it ran out of time
    rc: int | None
    duration: timedelta
    #: at most as many bytes as the probe allows
    output: bytes = b""
    #: there was more output, which was thrown away
    cut: bool = False

    @property
    def timed_out(self) -> bool:
        """Tell whether the probe was ended by its time-out."""
        return self.rc is None

    @property
    def text(self) -> str:
        """Return the output as text."""
        return self.output.decode(errors="replace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe(Generic[T_co]):
    """One row of the table of read-only probes."""

    name: str
    #: words of the command line, checked words in their slots; `@` words run in the helper
    argv: tuple[str | Slot, ...]
    timeout: timedelta
    #: what its answer says, for a reader of the evidence
    meaning: str
    #: turns the answer into a value; never raises, whatever the machine sent
    parse: Callable[[ProbeResult], T_co]
    most_bytes: int = 32768
    #: the rest is not run unless it succeeds
    gate: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A probe with its words filled in, as it is sent."""

    name: str
    argv: tuple[str, ...]
    timeout: timedelta
    most_bytes: int
    gate: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Delays:
    """How long each part of the way took; None where it was not reached or not measured."""

    #: TCP connect, key exchange and login; zero on a connection that was open
    login: timedelta | None = None
    #: from asking for the command until the login shell ran it
    shell: timedelta | None = None
    #: from there until the helper ran, sudo included
    helper: timedelta | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What one machine answered at one moment."""

    vm_id: str
    name: str
    #: UTC, when the answer was complete
    at: datetime
    results: Mapping[str, ProbeResult] = field(default_factory=dict)
    #: where the way in ended; None after a login
    failure: LoginFailure | None = None
    #: a sentence about the failure, or about what is odd in the answer
    detail: str = ""
    delays: Delays = field(default_factory=Delays)
    #: the host key was taken on first use, without proof
    key_on_first_use: bool = False

    def read(self, probe: Probe[T]) -> T | None:
        """Return what a probe's answer means; None where there is no answer."""
        result = self.results.get(probe.name)
        return None if result is None else probe.parse(result)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One finding about a machine, and what helps against it."""

    finding: Finding
    #: what was seen, a sentence
    why: str
    helps: frozenset[Rung]
    #: what cannot help, each with no effect but its losses
    cannot: frozenset[Rung]
    advice: str
    #: the peer shows it, too: the finding names no machine
    fleet_wide: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """All that is found about a machine, the likeliest cause first."""

    found: tuple[Found, ...]
    #: why nothing is found where nothing is, a sentence
    untold: str = ""
    #: nothing is found, and yet it is not well: names fail, or it does not answer
    amiss: bool = False

    @property
    def names(self) -> frozenset[Finding]:
        """Return the findings' names."""
        return frozenset(one.finding for one in self.found)
