"""Run asynchronous tests on asyncio, as the product does."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Name the event loop."""
    return "asyncio"
