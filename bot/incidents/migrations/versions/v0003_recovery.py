"""Keep what was said of VMs, runs of approved steps, switches, and the audit chain."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; an approval that is kept already has seen nothing in particular."""
    op.add_column("approvals", sa.Column("seen", sa.String(), nullable=False, server_default="{}"))
    _runs()
    _sendings()
    _statements()
    _audit()
    _switches()
    _leases()


def downgrade() -> None:
    """Drop the tables and what they hold."""
    for table in ("leases", "switches", "audit", "statements", "sendings", "runs"):
        op.drop_table(table)
    with op.batch_alter_table("approvals") as batch:
        batch.drop_column("seen")


def _runs() -> None:
    op.create_table(
        "runs",
        *_texts("id", "approval_id", "incident_id"),
        _number("number"),
        *_texts("step", "vm_id", "vm_name", "state", "sentence"),
        _number("done", null=True),
        _number("total", null=True),
        *_texts("unit", "proof", "result"),
        _time("started_at", null=True),
        _time("ended_at", null=True),
        _number("revision"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        _of("runs", "incident_id", "incidents"),
        _of("runs", "approval_id", "approvals"),
    )
    op.create_index("ix_runs_approval_id", "runs", ["approval_id", "number"])
    op.create_index("ix_runs_incident_id", "runs", ["incident_id", "started_at"])
    op.create_index("ix_runs_started_at", "runs", ["started_at"])
    op.create_index("ix_runs_ended_at", "runs", ["ended_at"])
    under_way = sa.text("state IN ('checking', 'acting', 'verifying')")
    op.create_index(
        "ix_runs_under_way", "runs", ["id"], sqlite_where=under_way, postgresql_where=under_way
    )


def _sendings() -> None:
    op.create_table(
        "sendings",
        *_texts("run_id", "call"),
        _time("at"),
        *_texts("by", "before"),
        sa.PrimaryKeyConstraint("run_id", "call", name="pk_sendings"),
        _of("sendings", "run_id", "runs"),
    )


def _statements() -> None:
    op.create_table(
        "statements",
        *_texts("id", "incident_id", "vm_name", "vm_id", "kind", "about", "text"),
        *_texts("who", null=True),
        _time("at"),
        sa.PrimaryKeyConstraint("id", name="pk_statements"),
        _of("statements", "incident_id", "incidents"),
    )
    op.create_index("ix_statements_incident_id", "statements", ["incident_id", "vm_name", "at"])


def _audit() -> None:
    op.create_table(
        "audit",
        _number("number"),
        _time("at"),
        *_texts("what"),
        *_texts("who", null=True),
        *_texts("incident_id", "about", "vm_id", "digest", "previous", "hash"),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
    )


def _switches() -> None:
    op.create_table(
        "switches",
        *_texts("name"),
        sa.Column("on", sa.Boolean(), nullable=False),
        *_texts("reason"),
        *_texts("who", null=True),
        _time("at"),
        sa.PrimaryKeyConstraint("name", name="pk_switches"),
    )


def _leases() -> None:
    op.create_table(
        "leases",
        *_texts("replica"),
        _time("until"),
        sa.PrimaryKeyConstraint("replica", name="pk_leases"),
    )
    op.create_index("ix_leases_until", "leases", ["until"])


def _texts(*names: str, null: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=null) for name in names]


def _time(name: str, *, null: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null)


def _number(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=null)


def _of(table: str, column: str, whose: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{whose}.id"], name=f"fk_{table}_{column}")
