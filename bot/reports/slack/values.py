"""What the views are made of: plain values, to which rows of the store are mapped.

Ids of people, groups and channels are Slack's. Every text may be foreign: views escape it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Action(StrEnum):
    """What a control asks for: its `action_id`, and the value of a menu's entry."""

    BACK_UP = "back_up"
    RESTART = "restart"
    TICKET = "draft_ticket"
    WHY_NO_RESTART = "why_no_restart"
    MORE = "more"
    PROBE_AGAIN = "probe_again"
    PREFLIGHT = "preflight"
    RERUN = "rerun"
    WRONG_VM = "wrong_vm"
    DISMISS = "dismiss"
    #: a menu of the job's VMs, and the button in its place where they are too many
    PICK_VM = "pick_vm"
    APPROVE = "approve"
    DECLINE = "decline"
    ASK_FOR_APPROVAL = "ask_for_approval"
    #: ends what was approved at its next boundary
    STOP = "stop_step"
    OPEN_THREAD = "open_thread"
    OPEN_LINK = "open_link"
    NEW = "new"


class Input(StrEnum):
    """Fields of the modals: `block_id` and `action_id` alike."""

    TEXT = "pasted_text"
    FILE = "pasted_file"
    JOB = "job"
    RECENT = "recent_job"
    VM = "vm"
    WHY = "why"
    #: where a backup goes, what it holds, and a person's words that nothing has to be kept
    PLACE = "place"
    ITEMS = "items"
    NOTHING = "nothing_to_keep"
    #: which rung of the ladder is asked for
    RUNG = "rung"


class Callback(StrEnum):
    """Names of the modals: their `callback_id`."""

    PASTE = "paste"
    WRONG_VM = "wrong_vm"
    BACK_UP = "back_up_form"
    RESTART = "restart_form"


class Purpose(StrEnum):
    """Why a message of ours exists; with the incident it tells our messages apart."""

    REPORT = "report"
    EVIDENCE = "evidence"
    PROBES = "probes"
    APPROVAL = "approval"
    APPROVAL_ASKED = "approval_asked"
    DRY_RUN = "dry_run"
    SWITCHED = "switched"
    ESCALATED = "escalated"
    GLASS = "glass"
    PROOF = "proof"
    LINK = "link"
    SUMMARY = "summary"
    PREFLIGHT = "preflight"
    #: seen by one person and kept by nobody
    PRIVATE = "private"


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A place in the web; one that is not http or https is not shown."""

    label: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """Where a report points to; what is empty is left out."""

    #: the VM's page in the cloud's console
    console: str = ""
    #: the job's page
    job: str = ""
    #: the article's resources, from the settings
    resources: tuple[Link, ...] = ()


class Stage(StrEnum):
    """How far an incident is."""

    READING = "reading"
    OPEN = "open"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


#: Stages in which there is nothing left to press.
CLOSED = frozenset({Stage.RESOLVED, Stage.DISMISSED})


class Standing(StrEnum):
    """Where a step that was approved stands."""

    WAITING = "waiting"
    CHECKING = "checking"
    ACTING = "acting"
    VERIFYING = "verifying"
    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    LEFT_OUT = "left out"


#: Something may be done to the VM right now.
MOVING = frozenset({Standing.CHECKING, Standing.ACTING, Standing.VERIFYING})


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of a chain while it is carried out."""

    what: str
    state: Standing
    #: what it is doing, or how it ended
    said: str = ""
    done: int | None = None
    total: int | None = None
    unit: str = ""
    began_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """One failing job or paste, as its messages need it."""

    id: str
    #: counts the edits of its parent: Slack wants new block ids with each
    revision: int = 1
    stage: Stage = Stage.OPEN
    #: `slurm:48213`; empty for a paste
    job: str = ""
    #: who asked; empty for a watcher or a webhook
    asked_by: str = ""
    asked_at: datetime
    #: who closed it, when and with which words
    closed_by: str = ""
    closed_at: datetime | None = None
    closed_because: str = ""
    #: what it comes to, in a sentence
    headline: str = ""
    #: its thread
    channel: str = ""
    permalink: str = ""
    #: when the newest line of the log was written, where that is known with its zone
    newest_line_at: datetime | None = None
    #: what was approved and carried out, in order
    steps: tuple[Step, ...] = ()
    #: the machine that a step has mended since the last look
    mended: str = ""
    #: what is known of the data that a VM holds and nothing else does, a sentence
    data: str = ""
    #: it is backed up, or somebody said that nothing is to be kept
    data_safe: bool = False


class Progress(StrEnum):
    """How far a source is."""

    PENDING = "pending"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One thing that is read for a report."""

    #: log, scheduler, cloud, probes
    name: str
    progress: Progress = Progress.PENDING
    #: what it said, or why it said nothing
    said: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One entry of a menu."""

    #: what comes back: the VM's or the job's id
    id: str
    label: str
    #: a few words below it
    note: str = ""


class Decision(StrEnum):
    """What became of an approval."""

    WAITING = "waiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    VOIDED = "voided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Consent:
    """One person's approval."""

    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Proven:
    """How a step ended, and the outputs that prove it."""

    id: str
    incident: str
    revision: int
    vm: str
    step: Step
    #: name → text
    outputs: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """What stops every step that changes anything, or did."""

    #: `Paused`, or that the breaker is open
    what: str
    #: a person's id; empty for the bot
    by: str = ""
    at: datetime
    why: str = ""
    #: it is so no more
    over: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """One step that waits for people, or what they decided."""

    id: str
    revision: int = 1
    incident: str
    #: `Restart systemd-resolved in the guest.`
    what: str
    vm: str
    #: id of the VM at the cloud; empty where there is none
    vm_id: str = ""
    #: what will not come back, one entry each; empty means that nothing is lost
    loses: tuple[str, ...] = ()
    #: what is done, in order
    plan: tuple[str, ...] = ()
    #: what it rests on: findings, state and their age, one sentence each
    rests_on: tuple[str, ...] = ()
    asked_by: str
    asked_at: datetime
    #: ids of people (`U…`) and of user groups (`S…`) who may decide
    may_decide: tuple[str, ...]
    #: how many different people have to approve
    needed: int = 1
    consents: tuple[Consent, ...] = ()
    expires_at: datetime
    decision: Decision = Decision.WAITING
    #: who declined it, and when it was decided, expired or voided
    decided_by: str = ""
    decided_at: datetime | None = None
    #: why it was declined, or what had changed
    because: str = ""
    #: how far it is carried out; empty before it is begun, and where nothing may be
    steps: tuple[Step, ...] = ()
    #: what stops it now
    stopped: tuple[Stopped, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of an incident's timeline."""

    at: datetime
    what: str
    #: who did it; empty for the bot itself
    by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """How far a pre-flight is."""

    by: str
    began_at: datetime
    #: what it does
    said: str = ""
    done: int = 0
    #: machines in all; 0 until that is known
    total: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a pre-flight has come to."""

    by: str
    at: datetime
    headline: str
    #: the matrix and what stands beside it, a line each; empty where there is none
    rest: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """An approval that waits for the reader of the Home tab."""

    approval: Approval
    permalink: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why a control answers with words instead of doing what it says."""

    action: Action
    #: one sentence each
    reasons: tuple[str, ...]
    #: what is possible instead
    instead: str = ""


#: What each control is called; the words of the buttons that people expect.
LABELS: Mapping[Action, str] = {
    Action.BACK_UP: "Back up",
    Action.RESTART: "Restart",
    Action.TICKET: "Draft ticket",
    Action.WHY_NO_RESTART: "Why no restart?",
    Action.PROBE_AGAIN: "Probe again",
    Action.PREFLIGHT: "Pre-flight all VMs",
    Action.RERUN: "Re-run the job",
    Action.WRONG_VM: "Wrong VM: pick another",
    Action.DISMISS: "Dismiss",
    Action.PICK_VM: "Pick the VM",
    Action.APPROVE: "Approve",
    Action.DECLINE: "Decline",
    Action.ASK_FOR_APPROVAL: "Ask for approval",
    Action.STOP: "Stop",
    Action.OPEN_THREAD: "Open the thread",
    Action.NEW: "Check a job or a log",
}
