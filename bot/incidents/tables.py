"""The tables of the store, as the newest migration leaves them."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, Column, DateTime, Dialect, Index, MetaData, String, Table
from sqlalchemy.types import TypeDecorator

#: Names of constraints are the same on every database, so that migrations can name them.
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class UtcTime(TypeDecorator[datetime]):
    """An aware time, kept in UTC on databases with and without zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an aware time into UTC; SQLite keeps the digits only."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ForeignText(TypeDecorator[str]):
    """Text that others wrote: what a database cannot hold (NUL, half a surrogate) is marked."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what PostgreSQL or UTF-8 refuse."""
        del dialect
        if value is None:
            return None
        return (
            value.encode("utf-8", "replace")
            .decode("utf-8")
            .replace("\0", "\N{REPLACEMENT CHARACTER}")
        )


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
