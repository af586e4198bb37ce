"""Two machines' answers side by side, as the rules look at them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.diagnosis.names import same_host
from bot.hosts import probes
from bot.hosts.model import Evidence
from bot.hosts.probes import Question
from bot.hosts.readings import Container, DnsAnswer, Lookups, ResolvConf, Unit

#: How far back a watchdog's restart counts where no window is given.
_LATELY = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """When the failure was seen in the log, UTC, give or take."""

    start: datetime
    end: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterDns:
    """What the Kubernetes API says of the cluster's DNS."""

    #: its pods have no ready endpoint
    without_endpoints: bool = False
    #: machines that its pods run on
    hosts: frozenset[str] = frozenset()
    #: Services of this job without a ready endpoint, as the ranks name them
    services_not_ready: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """One machine, and another to compare it with."""

    vm: Evidence
    peer: Evidence | None
    question: Question
    window: Window | None = None
    cluster: ClusterDns | None = None

    def turned(self) -> View | None:
        """Return the same with the peer in the machine's place."""
        if self.peer is None or self.peer.failure is not None:
            return None
        return View(
            vm=self.peer,
            peer=self.vm,
            question=self.question,
            window=self.window,
            cluster=self.cluster,
        )

    @property
    def unit(self) -> Unit:
        """Return the resolver's unit; an empty one where systemd did not answer."""
        return self.vm.read(probes.UNIT) or Unit()

    @property
    def resolver_alive(self) -> bool:
        """Tell whether the stub answers what it knows by itself."""
        return any(one.reached for one in self.vm.read(probes.STUB) or ())

    @property
    def resolver_exists(self) -> bool:
        """Tell whether there is a resolver process."""
        found = self.vm.read(probes.RESOLVER_PROCESS)
        return bool(found)

    @property
    def conf(self) -> ResolvConf:
        """Return resolv.conf; one that does not exist where it was not read."""
        return self.vm.read(probes.RESOLV_CONF) or ResolvConf(exists=False)

    @property
    def asks_resolver(self) -> bool:
        """Tell whether names go through systemd-resolved here."""
        by_nss = "resolve" in (self.vm.read(probes.NSSWITCH) or ()) and self.resolver_exists
        return self.conf.asks_stub or by_nss

    @property
    def looked_up(self) -> Lookups:
        """Return the look-ups; none where they were not made."""
        return self.vm.read(probes.LOOKUPS) or Lookups(by_name={})

    @property
    def failing(self) -> tuple[str, ...]:
        """Return the names that gave no address here, or no answer at all."""
        found = self.looked_up
        if probes.LOOKUPS.name not in self.vm.results:
            return ()
        unanswered = found.timed_out or bool(found.by_name)
        return tuple(
            str(name)
            for name in self.question.names
            if (found.by_name[name].ok is False if name in found.by_name else unanswered)
        )

    @property
    def rank_containers(self) -> tuple[Container, ...]:
        """Return the containers that ranks run in."""
        return tuple(one for one in self.vm.read(probes.CONTAINERS) or () if one.rank)

    @property
    def search(self) -> tuple[str, ...]:
        """Return the domains that short names are tried in."""
        return self.conf.search

    @property
    def upstream(self) -> tuple[DnsAnswer, ...]:
        """Return what the name servers said that this machine's names go to in the end."""
        uplinks = self.vm.read(probes.UPLINKS) or ()
        direct = self.vm.read(probes.DIRECT) or ()
        if self.conf.asks_stub or not direct:
            return uplinks
        return (*direct, *(uplinks if self.asks_resolver else ()))

    def peer_finds(self, name: str) -> bool:
        """Tell whether the peer has an address for a name that is not its own."""
        turned = self.turned()
        if turned is None or same_host(name, turned.vm.name):
            return False
        found = turned.looked_up.by_name.get(name)
        return found is not None and found.ok

    def denied(self, name: str) -> bool:
        """Tell whether a name server says, asked directly, that a name has no address.

        Short names count only as expanded by a search domain: no server knows them bare.
        """
        views = (self, self.turned())
        answers = [one for view in views if view for one in view.upstream if one.reached]
        asked = [
            one
            for one in answers
            if one.name == name or ("." not in name and one.name.startswith(name + "."))
        ]
        full = [one for one in asked if "." in one.name]
        return bool(full) and all(one.denies for one in full)

    def within(self, at: datetime) -> bool:
        """Tell whether a time lies in the failure's window, or in the hour before the probe."""
        if self.window is None:
            return self.vm.at - _LATELY <= at <= self.vm.at + _LATELY
        return self.window.start <= at <= self.window.end + _LATELY
