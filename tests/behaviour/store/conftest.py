"""Open a store on each database that is supported, empty for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.incidents.store import Store, open_store
from tests.behaviour.store.postgres import Postgres, running

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("psql"))]


@pytest.fixture
def anyio_backend() -> str:
    """Run the tests on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run one PostgreSQL for all tests."""
    with running() as server:
        yield server


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database that nobody has used."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/bot.db"
    server: Postgres = request.getfixturevalue("postgres")
    return server.emptied()


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """Return a store on that database."""
    async with open_store(url) as opened:
        yield opened
