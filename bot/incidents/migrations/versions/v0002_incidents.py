"""Keep incidents, the messages and approvals that belong to them, and what Slack delivered."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    _incidents()
    _timeline()
    _messages()
    _deliveries()
    _approvals()


def downgrade() -> None:
    """Drop the tables and what they hold."""
    for table in ("approvals", "deliveries", "messages", "timeline", "incidents"):
        op.drop_table(table)


def _incidents() -> None:
    op.create_table(
        "incidents",
        *_texts("id", "key", "state"),
        _number("revision"),
        _time("opened_at"),
        *_texts(
            "asked_by", "team", "channel", "cluster", "job_id", "reopened_from", "check", null=True
        ),
        _time("checked_at", null=True),
        _time("closed_at", null=True),
        *_texts("closed_by", null=True),
        sa.PrimaryKeyConstraint("id", name="pk_incidents"),
        sa.ForeignKeyConstraint(
            ["reopened_from"], ["incidents.id"], name="fk_incidents_reopened_from"
        ),
    )
    _index("ux_incidents_open_key", "incidents", "key", where="state = 'open'", unique=True)
    _index("ix_incidents_key", "incidents", "key", "opened_at")
    _index("ix_incidents_opened_at", "incidents", "opened_at")
    _index("ix_incidents_state", "incidents", "state", "opened_at")


def _timeline() -> None:
    op.create_table(
        "timeline",
        *_texts("incident_id"),
        _number("revision"),
        _time("at"),
        *_texts("kind"),
        *_texts("who", "about", null=True),
        *_texts("text"),
        sa.PrimaryKeyConstraint("incident_id", "revision", name="pk_timeline"),
        _of_incident("timeline"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        *_texts("id", "incident_id", "purpose", "team", "channel"),
        *_texts("thread", null=True),
        sa.Column("live", sa.Boolean(), nullable=False),
        _time("created_at"),
        *_texts("ts", null=True),
        _time("posted_at", null=True),
        _number("shown"),
        _number("due"),
        *_texts("digest", "taken_by", null=True),
        _time("taken_until", null=True),
        _number("tries"),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        _of_incident("messages"),
    )
    _index("ux_messages_purpose", "messages", "incident_id", "purpose", "channel", unique=True)
    _index("ix_messages_place", "messages", "channel", "ts")
    _index("ix_messages_unsent", "messages", "created_at", where="ts IS NULL")
    _index("ix_messages_behind", "messages", "created_at", where="shown < due")


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        *_texts("id", "type"),
        *_texts("payload", null=True),
        _time("received_at"),
        _time("done_at", null=True),
        *_texts("taken_by", null=True),
        _time("taken_until", null=True),
        _number("tries"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    _index("ix_deliveries_undone", "deliveries", "received_at", where="done_at IS NULL")
    _index("ix_deliveries_done_at", "deliveries", "done_at")


def _approvals() -> None:
    op.create_table(
        "approvals",
        *_texts("id", "incident_id", "step", "chain", "vm_id", "vm_name"),
        *_texts("proposed_by", null=True),
        _time("proposed_at"),
        *_texts("digest"),
        _number("needs"),
        _time("ready_at", null=True),
        _time("expires_at", null=True),
        *_texts("state"),
        *_texts("first_by", null=True),
        _time("first_at", null=True),
        *_texts("decided_by", null=True),
        _time("decided_at", null=True),
        *_texts("reason", null=True),
        _number("revision"),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        _of_incident("approvals"),
    )
    _index(
        "ux_approvals_open_step", "approvals", "incident_id", "vm_id", "step",
        where="state = 'open'", unique=True,
    )  # fmt: skip
    _index("ix_approvals_open", "approvals", "expires_at", where="state = 'open'")
    _index("ix_approvals_incident_id", "approvals", "incident_id")
    _index("ix_approvals_state", "approvals", "state", "decided_at")


def _texts(*names: str, null: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=null) for name in names]


def _time(name: str, *, null: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def _of_incident(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["incident_id"], ["incidents.id"], name=f"fk_{table}_incident_id"
    )


def _index(name: str, table: str, *columns: str, where: str = "", unique: bool = False) -> None:
    condition = sa.text(where) if where else None
    op.create_index(
        name,
        table,
        list(columns),
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
