"""Build the wheel once, install it from the lock, and say how it is run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.behaviour.shipping.recipes import ROOT
from tests.behaviour.store.postgres import Postgres, running


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run one PostgreSQL, which users beside its own reach as well."""
    with running() as server:
        server.socket.chmod(0o755)
        yield server


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it in a virtual environment of its own, and return its `bin`."""
    folder = tmp_path_factory.mktemp("wheel")
    _run("hatchling", "build", "-t", "wheel", "-d", str(folder))
    _run("uv", "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    python = str(folder / "venv" / "bin" / "python")
    install = ("uv", "pip", "install", "--quiet", "--python", python, "--no-deps")
    _run(*install, "--require-hashes", "--only-binary", ":all:", "-r", "requirements.lock")
    _run(*install, str(next(folder.glob("*.whl"))))
    return folder / "venv" / "bin"


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
        timeout=500,
    )
    assert not done.returncode, done.stderr
