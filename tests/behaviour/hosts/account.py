"""A throw-away account, a sudo and a helper, in a mount namespace that leaves this machine alone.

sudo, its policy, PAM and the helper are the real ones, at their real paths. `systemctl` is a
stand-in that writes down who ran it and how: the real one would restart this machine's resolver.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hosts import grants, wire
from bot.hosts.grants import Grant
from bot.hosts.model import Row
from tests.behaviour.hosts.sshd import is_root

USER = "nccl-throwaway"
_UID = 64321
_SYSTEMCTL = """#!/bin/sh
echo "$(id -u) $*" >>{seen}
[ ! -e {broken} ] || {{ echo "Unit is not loaded."; exit 5; }}
"""
#: What tests of an account need.
NEEDS = [
    pytest.mark.needs("sudo", "unshare", "setpriv"),
    pytest.mark.skipif(not is_root(), reason="only root enters namespaces"),
    pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="helpers run on this python3"),
]


@dataclass(frozen=True, kw_only=True)
class Account:
    """An account with one grant."""

    grant: Grant
    #: its `etc` holds what stands in the place of files of /etc
    folder: Path
    #: what syslog was told; see `told`
    heard: list[str]

    def inside(self, argv: Sequence[str]) -> list[str]:
        """Return a command line that runs another one as root in the namespace."""
        binds = (
            f"mount --bind {path} $(readlink -f /etc/{path.name})"
            for path in sorted((self.folder / "etc").iterdir())
        )
        devices = (
            f"touch {self.folder}/dev/{name}; mount --bind /dev/{name} {self.folder}/dev/{name}"
            for name in ("null", "zero", "random", "urandom", "tty")
        )
        steps = [
            *binds,
            *devices,
            f"mount --rbind {self.folder}/dev /dev",
            "mount -t tmpfs tmpfs /usr/local",
            f"cp -R {self.folder}/local/. /usr/local",
            f"exec {shlex.join(argv)}",
        ]
        return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", "; ".join(steps)]

    def run(self, argv: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command line as the account."""
        drop = ["setpriv", f"--reuid={_UID}", f"--regid={_UID}", "--clear-groups", "--"]
        return subprocess.run(
            self.inside([*drop, *argv]), input=given, capture_output=True, check=False, timeout=60
        )

    def ask(self, rows: Sequence[Row], path: str = "") -> wire.Answers:
        """Send rows to the installed helper as a login would."""
        command = wire.command(sudo=True, installed=path or self.grant.path)
        order = wire.order(rows, timedelta(seconds=30))
        answers = wire.Answers(rows)
        answers.feed(self.run(["sh", "-c", command], order).stdout)
        return answers

    @property
    def ran(self) -> list[str]:
        """Return what systemctl was run with, each behind the user's number."""
        seen = self.folder / "seen"
        return seen.read_text(encoding="utf-8").splitlines() if seen.exists() else []

    def told(self, last: str) -> list[str]:
        """Return what syslog was told, once it was told this."""
        until = time.monotonic() + 10
        while not any(last in line for line in self.heard):
            assert time.monotonic() < until, self.heard
            time.sleep(0.01)
        return list(self.heard)

    def end_syslog(self) -> None:
        """Let syslog's place be empty from now on."""
        (self.folder / "dev" / "log").unlink()

    def break_systemctl(self) -> None:
        """Let every command of systemctl fail from now on."""
        (self.folder / "broken").touch()


@contextmanager
def account(folder: Path, grant: Grant) -> Iterator[Account]:
    """Prepare an account with this grant; nothing outside the folder is touched."""
    folder.chmod(0o755)
    for name in ("dev", "etc/sudoers.d", "local/sbin", "local/libexec"):
        (folder / name).mkdir(parents=True)
    for name, line in (
        ("passwd", f"{USER}:x:{_UID}:{_UID}::/:/bin/sh\n"),
        ("shadow", f"{USER}:*:19000:0:99999:7:::\n"),
    ):
        kept = Path("/etc", name).read_text(encoding="utf-8")
        (folder / "etc" / name).write_text(kept + line, encoding="utf-8")
    (folder / "etc" / "shadow").chmod(0o600)
    rules = folder / "etc" / "sudoers.d" / "nccl-dns"
    rules.write_text(grants.sudoers(USER, grant), encoding="utf-8")
    rules.chmod(0o440)
    for one in (grants.PROBING, grants.REPAIRING):
        _program(folder / "local/libexec" / Path(one.path).name, grants.installed_helper(one))
    stand_in = _SYSTEMCTL.format(seen=folder / "seen", broken=folder / "broken")
    _program(folder / "local/sbin/systemctl", stand_in)
    with _syslog(folder / "dev" / "log") as heard:
        yield Account(grant=grant, folder=folder, heard=heard)


@contextmanager
def _syslog(path: Path) -> Iterator[list[str]]:
    """Listen as a log daemon does, always ready: sudo waits for one that is not."""
    lines: list[str] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(path))

        def listen() -> None:
            while data := sock.recv(65536):
                lines.append(data.decode())

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield lines
        finally:
            sock.shutdown(socket.SHUT_RD)
            thread.join()


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    shutil.chown(path, 0, 0)
