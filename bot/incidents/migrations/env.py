"""Run the revisions over the connection that `bot.incidents.migrate` hands to alembic."""

from __future__ import annotations

from alembic import context

from bot.incidents.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    # SQLite's tables change inside a transaction as well, given one that is really open
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
