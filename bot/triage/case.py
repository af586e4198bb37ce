"""What is known of one case so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.clouds.port import Cloud
from bot.diagnosis import Diagnosis, Launch, Source
from bot.diagnosis.kinds import Cause
from bot.fleet.kubernetes import names_of
from bot.fleet.placement import Placement, same_host
from bot.hosts.model import Evidence, Judgement
from bot.hosts.probes import Question
from bot.hosts.view import ClusterDns
from bot.recovery.facts import Facts
from bot.schedulers.model import FAILED_STATES, Job, JobLogs
from bot.triage.inventory import Fleet
from bot.triage.services import Services, Watched


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """What came of looking at one host."""

    evidence: Evidence | None = None
    judgement: Judgement | None = None
    #: why it was not looked at
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a person gave."""

    #: as written; None for a log alone
    job: str | None = None
    #: logs that were given, instead of those that the scheduler names
    logs: Sequence[Source] = ()
    #: how the job was launched, as a person says
    launch: Launch | None = None
    believe_names: bool = True
    #: hosts or VMs that a person wants to be looked at, instead of those that the log accuses
    named: tuple[str, ...] = ()
    #: called with the size of each part of a given log that was read
    on_bytes: Callable[[int], None] | None = None
    #: adds to the facts of a machine what people said of it and what was tried on it
    told: Callable[[Facts], Facts] = lambda facts: facts


@dataclass(kw_only=True)
class Case:
    """A job, or a log without one; it grows from step to step."""

    services: Services
    cluster: Watched | None = None
    #: None where no scheduler confirmed one
    job: Job | None = None
    known_from: str = ""
    logs: JobLogs = field(default_factory=JobLogs)
    placement: Placement = field(default_factory=Placement)
    #: machines of the job as its scheduler lists them, whatever the log says
    listed: frozenset[str] = frozenset()
    diagnosis: Diagnosis | None = None
    fleet: Fleet = field(default_factory=Fleet)
    question: Question = field(default_factory=Question)
    #: what Kubernetes says of its own DNS; None elsewhere
    dns: ClusterDns | None = None
    #: machines that are not well, although nothing that was probed says why
    amiss: frozenset[str] = frozenset()
    #: what a reader must know, one sentence each
    notes: list[str] = field(default_factory=list)
    #: what people said of machines and what was tried on them
    told: Callable[[Facts], Facts] = lambda facts: facts
    #: host → what came of looking at it
    looked: dict[str, Looked] = field(default_factory=dict)
    #: the healthy machine beside them
    peer: Looked | None = None
    #: host → what the ladder was asked with
    facts: dict[str, Facts] = field(default_factory=dict)

    @property
    def cause(self) -> Cause | None:
        """Return what the log comes down to, where one was read."""
        return self.diagnosis.cause if self.diagnosis else None

    @property
    def node_of(self) -> Mapping[str, str]:
        """Return which node each pod of the job is on; nothing for jobs without pods."""
        return names_of(self.job.pods) if self.job else {}

    @property
    def log_is_mute(self) -> bool:
        """Tell whether the job failed and its log does not say of what, which proves nothing."""
        failed = self.job is not None and self.job.state in FAILED_STATES
        return failed and self.cause is Cause.NO_STARTUP_FAILURE

    def strange(self, host: str) -> str:
        """Say that a machine is none of the job's; empty where it is one, or no job is known.

        A log says anything, also the name of a machine on which somebody else's job runs.
        """
        if self.job is None or any(same_host(host, one) for one in self.listed):
            return ""
        where, vm = self.fleet.address(host) or host, self.fleet.vm(host)
        for one in self.listed:
            other = self.fleet.vm(one)
            if where == self.fleet.address(one) or (vm and other and vm.id == other.id):
                return ""
        return (
            f"{host} is none of the nodes of job {self.job.label}; only its log names it, so it is "
            "left alone. Name it with --vm to have it looked at."
        )

    @property
    def cloud(self) -> Cloud | None:
        """Return the cloud that the machines are of."""
        return self.cluster.cloud if self.cluster and self.cluster.cloud else self.services.cloud
