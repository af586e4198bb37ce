"""A real OpenSSH sshd on loopback, on a port of the kernel's choice."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from bot.hosts.ssh.options import Keys, SshOptions
from tests.behaviour.hosts.fleet import LIMITS

#: What the machine's key is pinned to.
ALIAS = "vm-of-this-test"


@dataclass(frozen=True, kw_only=True)
class Sshd:
    """A running sshd and the way in."""

    options: SshOptions
    folder: Path

    @property
    def log(self) -> str:
        """Return what it logged."""
        return (self.folder / "log").read_text(encoding="utf-8")


@contextmanager
def running_sshd(
    folder: Path,
    *lines: str,
    keys: bool = True,
    inside: Callable[[Sequence[str]], list[str]] = list,
) -> Iterator[Sshd]:
    """Start sshd with these further lines of configuration; end it afterwards.

    Without `keys`, the lines say who may log in. `inside` turns its command line into one that
    runs it somewhere else.
    """
    ours, theirs = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    ours.write_private_key(folder / "id")
    theirs.write_private_key(folder / "host_key")
    ours.write_public_key(folder / "authorized")
    for name in ("id", "host_key", "authorized"):
        (folder / name).chmod(0o600)
    pinned = theirs.export_public_key("openssh").decode()
    (folder / "known_hosts").write_text(f"{ALIAS} {pinned}", encoding="utf-8")
    port = _free_port()
    config = [
        f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {folder / 'host_key'}",
        f"PidFile {folder / 'pid'}",
        *([f"AuthorizedKeysFile {folder / 'authorized'}"] if keys else []),
        "StrictModes no", "UsePAM no", "PasswordAuthentication no", "PermitRootLogin yes",
        "LogLevel VERBOSE",
        *lines,
        # A start-up file of the account that runs the tests is not what is tested. The first
        # line of a kind counts, so that the lines above may say otherwise.
        "SetEnv SHLVL=5",
    ]  # fmt: skip
    (folder / "config").write_text("\n".join(config) + "\n", encoding="utf-8")
    Path("/run/sshd").mkdir(exist_ok=True)
    program = shutil.which("sshd") or ""
    with subprocess.Popen(
        inside([program, "-D", "-f", str(folder / "config"), "-E", str(folder / "log")])
    ) as process:
        try:
            _wait_for(port, process)
            options = SshOptions(
                user="root",
                keys=Keys(files=(folder / "id",)),
                known_hosts=folder / "known_hosts",
                port=port,
                limits=LIMITS,
            )
            yield Sshd(options=options, folder=folder)
        finally:
            process.terminate()


def is_root() -> bool:
    """Tell whether an sshd that logs in can be started here."""
    return os.geteuid() == 0


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with socket.socket() as sock:
            sock.settimeout(0.2)
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("sshd did not come up")
