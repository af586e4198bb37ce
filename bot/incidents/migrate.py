"""Bring a database to the schema of this version."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from bot.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
#: Key of PostgreSQL's advisory lock, any number that is ours: "nccl" in ASCII.
_LOCK = 0x6E63636C


def migrate(connection: Connection) -> None:
    """Apply what is missing, inside the transaction that the connection has open.

    Of replicas that start at once, one migrates and the others wait. Raises StoreError for a
    database that a newer version has written.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = config_for(connection)
    _refuse_newer(connection, ScriptDirectory.from_config(config))
    command.upgrade(config, "head")


def revisions(connection: Connection) -> tuple[str, str]:
    """Return the revision that a database is at, and the newest that this version knows."""
    scripts = ScriptDirectory.from_config(config_for(connection))
    heads = MigrationContext.configure(connection).get_current_heads()
    return ", ".join(heads), ", ".join(scripts.get_heads())


def config_for(connection: Connection) -> Config:
    """Return what alembic's commands need to work on a connection."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _refuse_newer(connection: Connection, scripts: ScriptDirectory) -> None:
    for revision in MigrationContext.configure(connection).get_current_heads():
        try:
            scripts.get_revision(revision)
        except CommandError as error:
            message = (
                f"The database is at revision {revision}, which this version does not know: a "
                "newer nccl-dns has used it. Update this one, or give it a database of its own."
            )
            raise StoreError(message) from error
