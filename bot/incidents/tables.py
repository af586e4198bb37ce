"""The tables of the store, as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    MetaData,
    String,
    Table,
    text,
)

from bot.incidents.columns import ForeignText, Json, UtcTime

#: Names of constraints are the same on every database, so that migrations can name them.
METADATA = MetaData(
    naming_convention={
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _some(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """Index only the rows that a question is about: however many others there are."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


SEEN_JOBS = Table(
    "seen_jobs",
    METADATA,
    Column("cluster", ForeignText, primary_key=True),
    Column("job_id", ForeignText, primary_key=True),
    # 1, 2, … for runs under one ID, in the order in which they were first seen
    Column("run", BigInteger, primary_key=True, autoincrement=False),
    Column("first_seen", UtcTime, nullable=False),
    Column("last_seen", UtcTime, nullable=False),
    Column("state", ForeignText),
    Column("name", ForeignText),
    Column("user", ForeignText),
    Column("nodes", ForeignText),
    Column("tasks_per_node", ForeignText),
    Column("distribution", ForeignText),
    Column("stdout_path", ForeignText),
    Column("stderr_path", ForeignText),
    Column("work_dir", ForeignText),
    Column("batch_host", ForeignText),
    Column("exit_code", BigInteger),
    Column("exit_signal", BigInteger),
    Column("restarts", BigInteger),
    Column("submitted_at", UtcTime),
    Column("started_at", UtcTime),
    Column("ended_at", UtcTime),
    Index(None, "last_seen"),
)

INCIDENTS = Table(
    "incidents",
    METADATA,
    Column("id", String, primary_key=True),
    Column("key", String, nullable=False),
    Column("state", String, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("asked_by", String),
    Column("team", String),
    Column("channel", String),
    Column("cluster", String),
    Column("job_id", String),
    Column("reopened_from", String, ForeignKey("incidents.id")),
    Column("check", Json),
    Column("checked_at", UtcTime),
    Column("closed_at", UtcTime),
    Column("closed_by", String),
    # one open incident a key, whichever replica opens it
    _some("ux_incidents_open_key", "key", where="state = 'open'", unique=True),
    Index(None, "key", "opened_at"),
    Index(None, "opened_at"),
    Index(None, "state", "opened_at"),
)

#: Every change of an incident is one row here, under the revision that it led to.
TIMELINE = Table(
    "timeline",
    METADATA,
    Column("incident_id", String, ForeignKey("incidents.id"), primary_key=True),
    Column("revision", BigInteger, primary_key=True, autoincrement=False),
    Column("at", UtcTime, nullable=False),
    Column("kind", String, nullable=False),
    Column("who", String),
    Column("about", String),
    Column("text", ForeignText, nullable=False),
)

MESSAGES = Table(
    "messages",
    METADATA,
    Column("id", String, primary_key=True),
    Column("incident_id", String, ForeignKey("incidents.id"), nullable=False),
    Column("purpose", String, nullable=False),
    Column("team", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("thread", String),
    Column("live", Boolean, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("ts", String),
    Column("posted_at", UtcTime),
    Column("shown", BigInteger, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("digest", String),
    Column("taken_by", String),
    Column("taken_until", UtcTime),
    Column("tries", BigInteger, nullable=False),
    Index("ux_messages_purpose", "incident_id", "purpose", "channel", unique=True),
    Index("ix_messages_place", "channel", "ts"),
    _some("ix_messages_unsent", "created_at", where="ts IS NULL"),
    _some("ix_messages_behind", "created_at", where="shown < due"),
)

DELIVERIES = Table(
    "deliveries",
    METADATA,
    Column("id", String, primary_key=True),
    Column("type", String, nullable=False),
    # gone when done: it is other people's text as it came, not redacted
    Column("payload", Json),
    Column("received_at", UtcTime, nullable=False),
    Column("done_at", UtcTime),
    Column("taken_by", String),
    Column("taken_until", UtcTime),
    Column("tries", BigInteger, nullable=False),
    _some("ix_deliveries_undone", "received_at", where="done_at IS NULL"),
    Index(None, "done_at"),
)

APPROVALS = Table(
    "approvals",
    METADATA,
    Column("id", String, primary_key=True),
    Column("incident_id", String, ForeignKey("incidents.id"), nullable=False),
    Column("step", String, nullable=False),
    Column("chain", Json, nullable=False),
    Column("vm_id", String, nullable=False),
    Column("vm_name", String, nullable=False),
    Column("proposed_by", String),
    Column("proposed_at", UtcTime, nullable=False),
    Column("digest", String, nullable=False),
    Column("seen", Json, nullable=False),
    Column("needs", BigInteger, nullable=False),
    Column("ready_at", UtcTime),
    Column("expires_at", UtcTime),
    Column("state", String, nullable=False),
    Column("first_by", String),
    Column("first_at", UtcTime),
    Column("decided_by", String),
    Column("decided_at", UtcTime),
    Column("reason", ForeignText),
    Column("revision", BigInteger, nullable=False),
    # one open question about a step on a VM, however often its button is pressed
    _some(
        "ux_approvals_open_step", "incident_id", "vm_id", "step",
        where="state = 'open'", unique=True,
    ),
    _some("ix_approvals_open", "expires_at", where="state = 'open'"),
    Index(None, "incident_id"),
    Index(None, "state", "decided_at"),
)  # fmt: skip

#: A step of an approved chain, as it is carried out.
RUNS = Table(
    "runs",
    METADATA,
    Column("id", String, primary_key=True),
    Column("approval_id", String, ForeignKey("approvals.id"), nullable=False),
    Column("incident_id", String, ForeignKey("incidents.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("step", String, nullable=False),
    Column("vm_id", String, nullable=False),
    Column("vm_name", String, nullable=False),
    Column("state", String, nullable=False),
    Column("sentence", ForeignText, nullable=False),
    Column("done", BigInteger),
    Column("total", BigInteger),
    Column("unit", String, nullable=False),
    Column("proof", Json, nullable=False),
    Column("result", Json, nullable=False),
    Column("started_at", UtcTime),
    Column("ended_at", UtcTime),
    Column("revision", BigInteger, nullable=False),
    Index(None, "approval_id", "number"),
    Index(None, "incident_id", "started_at"),
    Index(None, "started_at"),
    Index(None, "ended_at"),
    _some("ix_runs_under_way", "id", where="state IN ('checking', 'acting', 'verifying')"),
)

#: A call that must not be sent twice is a row here before it is sent.
SENDINGS = Table(
    "sendings",
    METADATA,
    Column("run_id", String, ForeignKey("runs.id"), primary_key=True),
    Column("call", String, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("by", String, nullable=False),
    # what there was before it: ids of operations, the boot id
    Column("before", Json, nullable=False),
)

STATEMENTS = Table(
    "statements",
    METADATA,
    Column("id", String, primary_key=True),
    Column("incident_id", String, ForeignKey("incidents.id"), nullable=False),
    Column("vm_name", String, nullable=False),
    Column("vm_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("about", String, nullable=False),
    Column("text", ForeignText, nullable=False),
    Column("who", String),
    Column("at", UtcTime, nullable=False),
    Index(None, "incident_id", "vm_name", "at"),
)

AUDIT = Table(
    "audit",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", UtcTime, nullable=False),
    Column("what", String, nullable=False),
    Column("who", String),
    Column("incident_id", String, nullable=False),
    Column("about", String, nullable=False),
    Column("vm_id", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
)

#: Switches that hold for everything: `pause`, `breaker`.
SWITCHES = Table(
    "switches",
    METADATA,
    Column("name", String, primary_key=True),
    Column("on", Boolean, nullable=False),
    Column("reason", ForeignText, nullable=False),
    Column("who", String),
    Column("at", UtcTime, nullable=False),
)

#: A replica that carries out steps, until when it is taken to be alive (by the database's clock).
LEASES = Table(
    "leases",
    METADATA,
    Column("replica", String, primary_key=True),
    Column("until", UtcTime, nullable=False),
    Index(None, "until"),
)

#: Versions of an incident's ticket: a draft of ours, then what people made of it.
TICKETS = Table(
    "tickets",
    METADATA,
    Column("id", String, primary_key=True),
    Column("incident_id", String, ForeignKey("incidents.id"), nullable=False),
    # 1, 2, … in the order in which they were made
    Column("number", BigInteger, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("who", String),
    Column("content", Json),
    Column("mail", String, nullable=False),
    Column("mail_by", String),
    Column("mail_at", UtcTime),
    Column("mail_said", ForeignText, nullable=False),
    Index(None, "incident_id", "number", unique=True),
)

#: What machines, cloud and scheduler answered at one look.
CAPTURES = Table(
    "captures",
    METADATA,
    Column("id", String, primary_key=True),
    Column("incident_id", String, ForeignKey("incidents.id"), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("why", String, nullable=False),
    Column("outputs", Json),
    Index(None, "incident_id", "at"),
)
