"""Run a private PostgreSQL in a temporary folder, reached by a Unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.components import MISSING

#: Debian keeps the server's programs off PATH, one folder a version.
DEBIAN = Path("/usr/lib/postgresql")
START_SECONDS = 30
#: The server goes with whoever holds the other end of this shell's input, so that a test run that
#: is killed leaves none behind. SIGQUIT is PostgreSQL's immediate shutdown.
WATCHED = """
"$0" -D data -k "$1" -F -c listen_addresses= </dev/null &
cat >/dev/null
kill -QUIT $!
wait
rm -rf "$1"
"""


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A running server."""

    #: folder of its socket
    socket: Path
    #: who owns its databases
    user: str

    def emptied(self) -> str:
        """Return the URL of the one database, as it stands in settings, with nothing in it."""
        psql = ["psql", "-X", "-q", "-h", str(self.socket), "-U", self.user, "-d", "postgres"]
        empty = "SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public"
        subprocess.run([*psql, "-v", "ON_ERROR_STOP=1", "-c", empty], check=True)
        return f"postgresql://{self.user}@/postgres?host={self.socket}"


def programs() -> Path:
    """Return the folder that holds `initdb` and `postgres`, or skip where there is none."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(DEBIAN.glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.skip(f"{MISSING}: the PostgreSQL server (apt-get install postgresql)")


@contextmanager
def running() -> Iterator[Postgres]:
    """Start a server that lasts as long as the block; its data do not outlive it."""
    folder = programs()
    # the server refuses to run as root, and pytest's own folders are closed to other users
    owner = "postgres" if os.geteuid() == 0 else None
    user = owner or pwd.getpwuid(os.geteuid()).pw_name
    home = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if owner:
            shutil.chown(home, owner, owner)
        init = [folder / "initdb", "-D", home / "data", "-U", user, "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*map(str, init), "-N", "--locale=C"],
            check=True,
            capture_output=True,
            cwd=home,
            user=owner,
            group=owner,
            extra_groups=() if owner else None,
        )
        with (home / "log").open("w") as log:
            server = subprocess.Popen(
                ["sh", "-c", WATCHED, str(folder / "postgres"), str(home)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=home,
                user=owner,
                group=owner,
                extra_groups=() if owner else None,
            )
        try:
            _wait_for(home, folder, user)
            yield Postgres(socket=home, user=user)
        finally:
            server.communicate(timeout=START_SECONDS)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _wait_for(home: Path, folder: Path, user: str) -> None:
    ready = [str(folder / "pg_isready"), "-q", "-h", str(home), "-U", user]
    end = time.monotonic() + START_SECONDS
    while subprocess.run(ready, check=False).returncode != 0:
        if time.monotonic() > end:
            pytest.fail("PostgreSQL did not start: " + (home / "log").read_text(encoding="utf-8"))
        time.sleep(0.05)
