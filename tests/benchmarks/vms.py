"""Stand-ins for many VMs: one real sshd that answers at as many loopback addresses as are asked.

The machines' own files live in a private mount namespace: a plain login shell, names in a hosts
file, and nscd before it. In earnest each VM looks up names on a processor of its own; here all
share ours, so the look-ups have to be as cheap as a cached answer to leave the measured tools
apart. Every tool that is compared meets the same machines.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

DOMAIN = "cluster.internal"
_IN_A_NET = 250
_PATIENCE_SECONDS = 15
_NSCD = """\
enable-cache hosts yes
enable-cache passwd no
enable-cache group no
enable-cache services no
enable-cache netgroup no
positive-time-to-live hosts 36000
suggested-size hosts 8209
max-db-size hosts 134217728
persistent hosts no
shared hosts yes
"""
#: Where each file of the folder stands in the namespace of the machines.
_PLACES = {
    "hosts": "/etc/hosts",
    "nsswitch.conf": "/etc/nsswitch.conf",
    "passwd": "/etc/passwd",
    "run": "/run/nscd",
    "cache": "/var/cache/nscd",
}


@dataclass(frozen=True, kw_only=True)
class Vms:
    """Machines that can be logged in to as root."""

    folder: Path
    port: int
    count: int

    @property
    def key(self) -> Path:
        """Return the private key that they let in."""
        return self.folder / "id"

    @property
    def host_key(self) -> str:
        """Return their host key as a known_hosts line has it behind the host."""
        return (self.folder / "host_key.pub").read_text(encoding="utf-8").strip()

    def name(self, at: int) -> str:
        """Return a machine's short name."""
        return f"node-{at:04}"

    def address(self, at: int) -> str:
        """Return a machine's address on loopback."""
        return f"127.0.{at // _IN_A_NET}.{at % _IN_A_NET + 1}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return all machines by short and full name."""
        short = [self.name(at) for at in range(self.count)]
        return (*short, *(f"{name}.{DOMAIN}" for name in short))


def missing() -> str:
    """Return in a sentence what stands-ins need and is not here; empty where nothing is."""
    if os.geteuid() != 0:
        return "needs root, for an sshd that logs in and for mounts of its own"
    lacking = [one for one in ("sshd", "unshare", "nscd") if shutil.which(one) is None]
    if not lacking:
        return ""
    return f"needs {', '.join(lacking)}: apt-get install openssh-server util-linux nscd"


@contextmanager
def running(folder: Path, count: int) -> Iterator[Vms]:
    """Start the machines; end them afterwards. Raises RuntimeError where they do not come up."""
    folder.mkdir()
    vms = Vms(folder=folder, port=_free_port(), count=count)
    _write_files(vms)
    for place in ("/run/sshd", "/run/nscd", "/var/cache/nscd"):
        Path(place).mkdir(parents=True, exist_ok=True)
    mounts = " && ".join(
        f"mount --bind '{folder / name}' {place}" for name, place in _PLACES.items()
    )
    nscd, sshd = shutil.which("nscd"), shutil.which("sshd")
    script = f"{mounts} && {{ {nscd} -F -f nscd.conf & exec {sshd} -D -f sshd.conf -E log; }}"
    with subprocess.Popen(
        ["unshare", "-m", "sh", "-c", script], cwd=folder, start_new_session=True
    ) as process:
        try:
            _wait_for(vms, process)
            yield vms
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            _end_nscd(vms)


def _end_nscd(vms: Vms) -> None:
    """End nscd, which leaves the group of processes that it was started in."""
    with contextlib.suppress(OSError, ValueError):
        pid = int((vms.folder / "run" / "nscd.pid").read_text(encoding="ascii"))
        os.kill(pid, signal.SIGTERM)


def _write_files(vms: Vms) -> None:
    folder = vms.folder
    for name in ("id", "host_key"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(folder / name)
        key.write_public_key(folder / f"{name}.pub")
        (folder / name).chmod(0o600)
    for name in ("run", "cache"):
        (folder / name).mkdir()
    hosts = [
        f"10.{at // 65536}.{at // 256 % 256}.{at % 256} {vms.name(at)}.{DOMAIN} {vms.name(at)}"
        for at in range(vms.count)
    ]
    files = {
        "hosts": ["127.0.0.1 localhost", *hosts],
        "nsswitch.conf": ["passwd: files", "group: files", "shadow: files", "hosts: files"],
        "passwd": ["root:x:0:0:root:/:/bin/sh", "sshd:x:104:65534::/run/sshd:/usr/sbin/nologin"],
        "nscd.conf": [_NSCD],
        "sshd.conf": [
            f"Port {vms.port}", "ListenAddress 0.0.0.0", f"HostKey {folder / 'host_key'}",
            f"AuthorizedKeysFile {folder / 'id.pub'}", "PidFile none", "StrictModes no",
            "UsePAM no", "PasswordAuthentication no", "PermitRootLogin yes", "MaxStartups 4000",
            "Subsystem sftp internal-sftp",
            "UseDNS no", "PrintMotd no", "PrintLastLog no", "LogLevel ERROR",
        ],
    }  # fmt: skip
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _wait_for(vms: Vms, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as sock:
            sock.settimeout(0.2)
            if sock.connect_ex((vms.address(0), vms.port)) == 0 and _named(vms):
                return
        time.sleep(0.05)
    log = vms.folder / "log"
    said = log.read_text(encoding="utf-8") if log.exists() else ""
    raise RuntimeError(f"sshd did not come up: {said[-300:]}")


def _named(vms: Vms) -> bool:
    """Tell whether nscd is up, whose socket every look-up goes through."""
    return (vms.folder / "run" / "socket").exists()
