"""What is known of a VM and its job when somebody asks what may be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.clouds.model import VmState, state_of
from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.model import Finding, Rung


class DataStatus(StrEnum):
    """What is known of the data that a VM holds and nothing else does."""

    BACKED_UP = "backed up"
    #: who, when and their words are recorded
    NOTHING_TO_KEEP = "nothing to keep"
    AT_RISK = "at risk"
    UNKNOWN = "unknown"


#: Somebody has decided that what the VM holds may go.
MAY_GO = frozenset({DataStatus.BACKED_UP, DataStatus.NOTHING_TO_KEEP})


class Tried(StrEnum):
    """What came of a rung that was tried before."""

    FAILED = "failed"
    #: it could not be carried out at all
    IMPOSSIBLE = "impossible"
    WORKED = "worked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Waits of the ladder; each is a setting."""

    #: how old a reading may be at click time and at act time
    reading: timedelta = timedelta(minutes=2)
    #: how far apart the two reads outside ERROR must be
    error_reads: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """One VM, its job and its incident at one moment."""

    vm: str
    #: the cloud's own word, as people are shown it; None where no cloud is configured
    state: str | None = None
    #: how long ago the state was read
    state_age: timedelta | None = None
    #: None where nothing was diagnosed
    cause: Cause | None = None
    #: what probes found
    findings: frozenset[Finding] = frozenset()
    #: how long ago the probes ran
    findings_age: timedelta | None = None
    #: a healthy VM was probed the same way and answered
    peer_answers: bool = False
    #: those of the findings that a peer shows, too, so that they name no VM
    fleet_wide: frozenset[Finding] = frozenset()
    #: something below the guest is at fault (GPU, disk, hypervisor)
    host_level: bool = False

    #: how it is known that the affected rank runs on this VM
    placement: Known = Known.GUESS
    #: nothing but pasted or webhook text says so
    from_paste_alone: bool = True
    #: who picked this VM where the placement is a guess
    picked_by: str = ""
    #: the job still waits in its lookup loop
    job_waits: bool = False
    #: ranks came up or steps were logged after the failure
    progress_since: bool = False

    tried: Mapping[Rung, Tried] = field(default_factory=dict)
    #: rungs that a person asked for, with the reason that was recorded
    asked_for: Mapping[Rung, str] = field(default_factory=dict)
    data: DataStatus = DataStatus.UNKNOWN
    #: other jobs and user processes on the VM, as `user: what`
    others: frozenset[str] = frozenset()
    #: those of them that a person named as of no account
    others_accepted: frozenset[str] = frozenset()
    #: reason of a drain, reservation or reboot request that is not ours, quoted
    held: str = ""
    #: the scheduler keeps new work away, for our reason
    drained_by_us: bool = False
    #: why settings keep this VM out of reach (protected, not listed as compute), a sentence
    untouchable: str = ""

    #: the VM was in ERROR during this incident
    was_in_error: bool = False
    #: when it was read in another state since
    reads_outside_error: tuple[datetime, ...] = ()
    #: support's word that the host is healthy is recorded
    support_confirmed: bool = False
    #: an approver decided to go on without it
    proceed_without: bool = False
    #: number of the support ticket
    ticket: str = ""
    #: what the person typed as the VM's name
    typed_name: str = ""

    @property
    def condition(self) -> VmState | None:
        """Return what the cloud's word comes to; None where no cloud is configured."""
        return None if self.state is None else state_of(self.state)

    @property
    def in_error(self) -> bool:
        """Tell whether the cloud reports an error state."""
        return self.condition is VmState.ERROR
