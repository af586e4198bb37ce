"""Keep what is seen of jobs while their scheduler shows them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TEXT = (
    "state",
    "name",
    "user",
    "nodes",
    "tasks_per_node",
    "distribution",
    "stdout_path",
    "stderr_path",
    "work_dir",
    "batch_host",
)
_NUMBERS = ("exit_code", "exit_signal", "restarts")
_TIMES = ("submitted_at", "started_at", "ended_at")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "seen_jobs",
        sa.Column("cluster", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("run", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.String()) for name in _TEXT),
        *(sa.Column(name, sa.BigInteger()) for name in _NUMBERS),
        *(sa.Column(name, sa.DateTime(timezone=True)) for name in _TIMES),
        sa.PrimaryKeyConstraint("cluster", "job_id", "run", name="pk_seen_jobs"),
    )
    op.create_index("ix_seen_jobs_last_seen", "seen_jobs", ["last_seen"])


def downgrade() -> None:
    """Drop the table and what it holds."""
    op.drop_table("seen_jobs")
