"""Keep drafts of support tickets, and what machines answered when they were looked at."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "tickets",
        *_texts("id", "incident_id"),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        _time("at"),
        *_texts("who", "content", null=True),
        *_texts("mail"),
        *_texts("mail_by", null=True),
        _time("mail_at", null=True),
        *_texts("mail_said"),
        sa.PrimaryKeyConstraint("id", name="pk_tickets"),
        _of_incident("tickets"),
    )
    op.create_index("ix_tickets_incident_id", "tickets", ["incident_id", "number"], unique=True)
    op.create_table(
        "captures",
        *_texts("id", "incident_id"),
        _time("at"),
        *_texts("why"),
        *_texts("outputs", null=True),
        sa.PrimaryKeyConstraint("id", name="pk_captures"),
        _of_incident("captures"),
    )
    op.create_index("ix_captures_incident_id", "captures", ["incident_id", "at"])


def downgrade() -> None:
    """Drop the tables and what they hold."""
    for table in ("captures", "tickets"):
        op.drop_table(table)


def _texts(*names: str, null: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=null) for name in names]


def _time(name: str, *, null: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null)


def _of_incident(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_incident_id"
    return sa.ForeignKeyConstraint(["incident_id"], ["incidents.id"], name=name)
