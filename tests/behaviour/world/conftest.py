"""Run on asyncio, as the product does."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Return the only loop that is used."""
    return "asyncio"
