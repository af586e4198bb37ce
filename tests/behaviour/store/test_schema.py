"""The schema is made when the store opens, and data outlive it being closed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import anyio
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from bot.errors import StoreError
from bot.incidents.ids import new_id
from bot.incidents.incident import Incident, job_key
from bot.incidents.migrate import config_for, migrate
from bot.incidents.model import SeenJob
from bot.incidents.store import Store, open_store
from bot.incidents.tables import METADATA

pytestmark = pytest.mark.anyio

AT = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
JOB = SeenJob(cluster="alpha", job_id="48213", first_seen=AT, last_seen=AT, state="RUNNING")


async def test_what_is_kept_outlives_the_store(url: str) -> None:
    """A restart finds what was there, and migrates nothing twice."""
    async with open_store(url) as store:
        await store.see(JOB)
    async with open_store(url) as store:
        assert await store.job("alpha", "48213") == JOB


async def test_the_migrations_lead_to_the_tables_of_the_code(store: Store) -> None:
    """A column that was added to the code without a migration is found here."""

    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, METADATA))

    async with store.database.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_a_newer_database_is_refused(url: str) -> None:
    """An old version that ran against a new schema could destroy what it does not know."""
    async with open_store(url) as store, store.database.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(StoreError, match=r"revision 9999.*newer nccl-dns"):
        async with open_store(url):
            pass


async def test_a_migration_that_fails_leaves_nothing_behind(store: Store) -> None:
    """All of a migration is one transaction, on SQLite too."""

    def broken(connection: Connection) -> None:
        command.downgrade(config_for(connection), "base")
        migrate(connection)
        raise RuntimeError("power cut")

    await store.see(JOB)
    with pytest.raises(RuntimeError, match="power cut"):
        async with store.database.writing() as connection:
            await connection.run_sync(broken)

    assert await store.job("alpha", "48213") == JOB


async def test_the_migrations_lead_back_as_well(store: Store) -> None:
    """Whoever has to return to an older version can take the schema back."""

    def back_and_forth(connection: Connection) -> list[str]:
        command.downgrade(config_for(connection), "base")
        left = inspect(connection).get_table_names()
        migrate(connection)
        return left

    async with store.database.writing() as connection:
        assert await connection.run_sync(back_and_forth) == ["alembic_version"]
    await store.see(JOB)


async def test_an_older_database_keeps_what_it_holds(url: str) -> None:
    """An update adds the tables of incidents to a store with data in it, and so does a way back."""

    def to(revision: str) -> Callable[[Connection], list[str]]:
        def go(connection: Connection) -> list[str]:
            command.downgrade(config_for(connection), revision)
            return inspect(connection).get_table_names()

        return go

    async with open_store(url) as store:
        await store.see(JOB)
        async with store.database.writing() as connection:
            left = await connection.run_sync(to("0001"))
    assert set(left) == {"alembic_version", "seen_jobs"}

    async with open_store(url) as store:
        assert await store.job("alpha", "48213") == JOB
        opened = await store.incidents.open(
            Incident(id=new_id(), key=job_key("alpha", "48213"), opened_at=AT)
        )
        assert opened.made


async def test_replicas_may_start_at_once(url: str) -> None:
    """One creates the schema, the others wait for it."""

    async def start() -> None:
        async with open_store(url) as store:
            assert await store.job("alpha", "1") is None

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(start)
