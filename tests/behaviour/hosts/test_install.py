"""Prove on real useradd, visudo and sudo what the install script makes, away from this machine."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from bot.commands.init import accounts
from bot.hosts import installing
from bot.hosts.grants import BACKING_UP, PROBING, REPAIRING
from bot.hosts.privileges import read
from bot.settings import Level
from tests.behaviour.hosts.sshd import is_root

pytestmark = [
    pytest.mark.needs("sudo", "unshare"),
    pytest.mark.skipif(not is_root(), reason="only root enters namespaces"),
]

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample nccl-probe\n"


def inside(folder: Path, *steps: str) -> subprocess.CompletedProcess[str]:
    """Run steps as root where /etc, /var/lib and /usr/local are copies or empty."""
    copy = folder / "etc"
    if not copy.exists():
        subprocess.run(["cp", "-a", "/etc", str(copy)], check=True)
        (folder / "lib").mkdir()
        (folder / "local").mkdir()
    mounts = (
        f"mount --bind {copy} /etc",
        f"mount --bind {folder / 'lib'} /var/lib",
        f"mount --bind {folder / 'local'} /usr/local",
    )
    script = "; ".join([*mounts, *steps])
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def script(folder: Path, level: Level) -> str:
    """Write the install script and return its command line."""
    path = folder / "install.sh"
    path.write_text(installing.install(accounts(level)), encoding="utf-8")
    keys = []
    for number, _ in enumerate(accounts(level)):
        key = folder / f"{number}.pub"
        key.write_text(KEY, encoding="utf-8")
        keys.append(str(key))
    return shlex.join(["sh", str(path), *keys])


def test_each_account_gets_its_helper_and_no_more(tmp_path: Path) -> None:
    """Sudo itself says so, and a second run changes nothing."""
    install = script(tmp_path, Level.ACT)
    users = ("nccl-probe", "nccl-repair", "nccl-backup")
    listed = "; echo ---; ".join(f"sudo -n -l -U {user}" for user in users)

    ran = inside(tmp_path, install, install, listed)

    assert ran.returncode == 0, ran.stderr
    grants = (PROBING, REPAIRING, BACKING_UP)
    for said, grant in zip(ran.stdout.split("---"), grants, strict=True):
        told = read(said)
        assert told.grants(grant), ran.stdout
        assert told.beyond(grant) == ()


def test_the_account_cannot_let_others_in(tmp_path: Path) -> None:
    """Its home and the list of keys are root's; the key may open no tunnel and no terminal."""
    ran = inside(
        tmp_path,
        script(tmp_path, Level.PROBE),
        "stat -c '%U %a' /var/lib/nccl-probe /var/lib/nccl-probe/.ssh"
        " /var/lib/nccl-probe/.ssh/authorized_keys /usr/local/libexec/nccl-dns-probe"
        " /etc/sudoers.d/nccl-dns-probe",
        "cat /var/lib/nccl-probe/.ssh/authorized_keys",
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "root 755", "root 755", "root 644", "root 755", "root 440", f"restrict {KEY.strip()}",
    ]  # fmt: skip


def test_the_account_runs_its_helper_as_root(tmp_path: Path) -> None:
    """The helper starts for it; any other program is refused."""
    become = "setpriv --reuid=nccl-probe --regid=nccl-probe --clear-groups --"

    ran = inside(
        tmp_path,
        script(tmp_path, Level.PROBE),
        f'echo \'{{"within_ms": 1000, "probes": []}}\' | {become} sudo -n {PROBING.path}',
        f"! {become} sudo -n id",
        f"! {become} sudo -n {PROBING.path} argument",
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["@helper"]


@pytest.mark.parametrize("keys", [(), ("missing.pub",), ("a", "b")])
def test_without_its_keys_it_does_nothing(tmp_path: Path, keys: tuple[str, ...]) -> None:
    """It says what to give it, and no account is made."""
    script(tmp_path, Level.PROBE)

    ran = inside(
        tmp_path,
        f"! {shlex.join(['sh', str(tmp_path / 'install.sh'), *keys])}",
        "! id nccl-probe 2>/dev/null",
        "! test -e /etc/sudoers.d/nccl-dns-probe",
    )

    assert ran.returncode == 0, ran.stderr
    assert "public key" in ran.stderr


def test_without_a_key_only_certificates_let_the_account_in(tmp_path: Path) -> None:
    """A key that was installed before is taken away, too."""
    with_key = script(tmp_path, Level.PROBE)

    ran = inside(
        tmp_path,
        with_key,
        f"sh {tmp_path / 'install.sh'} -",
        "test -e /etc/sudoers.d/nccl-dns-probe",
        "wc -c </var/lib/nccl-probe/.ssh/authorized_keys",
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "0"


def test_the_lines_for_known_hosts_are_made_by_the_machine(tmp_path: Path) -> None:
    """The snippet prints a name and a key as known_hosts(5) wants them."""
    text = installing.known_hosts("known_hosts", by_id=False)
    line = next(one for one in text.splitlines() if one.startswith("printf"))

    ran = inside(
        tmp_path,
        "mkdir -p /etc/ssh",
        f"echo {shlex.quote(KEY.strip())} >/etc/ssh/ssh_host_ed25519_key.pub",
        line,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[1:] == KEY.split()[:2]
