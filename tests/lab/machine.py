"""One VM: an overlay over the shared file system, booted by systemd-nspawn."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.network import DNS_IP, DOMAIN, address, end, namespace
from tests.lab.root import Made
from tests.lab.running import LabError, alive, run, spawn, wait_until

_STUB = "/run/systemd/resolve/stub-resolv.conf"

#: The bot's accounts, in the order in which the install script takes their keys.
ACCOUNTS = ("probe", "repair", "backup")


def resolved_conf(domain: str = DOMAIN) -> str:
    """Return systemd-resolved's settings; without a domain short names are not completed."""
    lines = ["[Resolve]", f"DNS={DNS_IP}", "LLMNR=no", "MulticastDNS=no", "Cache=no"]
    return "\n".join([*lines, *([f"Domains={domain}"] if domain else []), ""])


@dataclass(kw_only=True)
class Machine:
    """A machine with its own systemd, resolver, sshd and slurmd."""

    number: int
    folder: Path
    made: Made
    #: path in the machine → text that every start finds there
    files: dict[str, str] = field(default_factory=dict)
    #: the same for what others must not read, once, before its first start
    secrets: dict[str, bytes] = field(default_factory=dict)
    #: what root runs in it before its first start, by chroot
    prepare: Sequence[Sequence[str]] = ()
    #: folder of this machine: where it is seen in that one
    binds: Sequence[str] = ()
    #: holds `install.sh` and the public keys of the bot's accounts
    accounts: Path | None = None
    _nspawn: int = 0

    @property
    def name(self) -> str:
        """Return its name."""
        return f"node-{self.number}"

    @property
    def address(self) -> str:
        """Return its address."""
        return address(self.number)

    @property
    def root(self) -> Path:
        """Return its file system as it is seen from here."""
        return self.folder / "root"

    @property
    def running(self) -> bool:
        """Tell whether it is on."""
        return bool(self._nspawn) and alive(self._nspawn)

    def start(self) -> None:
        """Power it on; it boots while this returns."""
        if self.running:
            raise LabError(f"{self.name} is on already.")
        if not self.root.is_mount():
            self._mount()
        for path, text in self.files.items():
            place = self.root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        binds = (f"{self.made.opt}:/opt/lab", self.made.torch, self.made.python)
        self._nspawn = spawn(
            "systemd-nspawn", "-q", "-D", self.root, "--boot", "--register=no", "--keep-unit",
            "--console=pipe", f"--network-namespace-path=/run/netns/{namespace(self.number)}",
            "--resolv-conf=off", f"--machine={self.name}",
            *(f"--bind-ro={one}" for one in binds), *(f"--bind={one}" for one in self.binds),
            log=self.folder / "console.log",
        )  # fmt: skip

    def _mount(self) -> None:
        for name in ("up", "work", "root"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        first = not any((self.folder / "up").iterdir())
        layers = f"lowerdir={self.made.root},upperdir={self.folder}/up,workdir={self.folder}/work"
        run("mount", "-t", "overlay", "overlay", "-o", layers, self.root)
        if not first:
            return
        self.files = {
            "/etc/hostname": f"{self.name}\n",
            "/etc/hosts": "127.0.0.1 localhost\n",
            **self.files,
        }
        conf = self.root / "etc/systemd/resolved.conf.d"
        conf.mkdir(parents=True)
        (conf / "lab.conf").write_text(resolved_conf(), encoding="ascii")
        for place in ("etc/machine-id", "etc/resolv.conf"):
            (self.root / place).unlink(missing_ok=True)
        run("systemd-machine-id-setup", f"--root={self.root}")
        (self.root / "etc/resolv.conf").symlink_to(_STUB)
        (self.root / "persistent").mkdir()
        run("chroot", self.root, "ssh-keygen", "-A")
        for path, data in self.secrets.items():
            secret = self.root / path.lstrip("/")
            secret.touch(mode=0o600)
            secret.write_bytes(data)
        for words in self.prepare:
            run("chroot", self.root, *words)
        if self.accounts is not None:
            self._with_accounts(self.accounts)

    def _with_accounts(self, accounts: Path) -> None:
        """Do what an administrator does: run the install script that the product wrote."""
        place = self.root / "root/grants"
        shutil.copytree(accounts, place)
        keys = (f"/root/grants/{name}-key.pub" for name in ACCOUNTS)
        run("chroot", self.root, "sh", "/root/grants/install.sh", *keys)

    def stop(self) -> None:
        """Power it off: /run, /tmp and /dev/shm are lost, and what was not written yet."""
        if not self._nspawn:
            return
        init = self._init()
        # systemd in a container powers off at SIGRTMIN+4 (systemd(1)); what hangs is cut off
        if init:
            run("kill", "-s", "RTMIN+4", str(init), may_fail=True)
        try:
            wait_until("it is off", lambda: not alive(self._nspawn), within_s=10.0)
        except LabError:
            end([pid for pid in (init, self._nspawn) if pid])
        self._nspawn = 0

    def _init(self) -> int:
        told = run("pgrep", "-P", str(self._nspawn), may_fail=True).split()
        return int(told[0]) if told else 0

    def run(self, *argv: str, given: str = "", may_fail: bool = False) -> str:
        """Run a program in it as root, by its namespaces: needs no name, network nor sshd."""
        init = self._init()
        if not init:
            raise LabError(f"{self.name} is off.")
        return run("nsenter", "-t", str(init), "-a", "--", *argv, given=given, may_fail=may_fail)

    def wait_until_init(self) -> None:
        """Wait until programs can be run in it."""
        wait_until(f"{self.name} is on", lambda: self.running and self._init(), within_s=30.0)

    def wait_until_up(self) -> None:
        """Wait until it has booted and lets somebody in."""
        wait_until(f"{self.name} is up", self._is_up, within_s=90.0)

    def _is_up(self) -> bool:
        if not self._init():
            return False
        told = self.run("systemctl", "is-active", "ssh", "systemd-resolved", may_fail=True)
        return told.split() == ["active", "active"]

    @property
    def host_key(self) -> str:
        """Return its host key as known_hosts has it, without a name."""
        text = (self.root / "etc/ssh/ssh_host_ed25519_key.pub").read_text(encoding="ascii")
        return " ".join(text.split()[:2])

    def gone(self) -> None:
        """Power it off and leave nothing of it."""
        self.stop()
        if self.root.is_mount():
            run("umount", "-R", self.root)
        shutil.rmtree(self.folder, ignore_errors=True)
