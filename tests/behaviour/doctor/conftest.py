"""Run on asyncio, as the product does."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    for name in list(os.environ):
        if name.upper().startswith("NCCL_DNS_"):
            monkeypatch.delenv(name)
