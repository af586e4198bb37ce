"""A bridge, a namespace for each host on it, and a DNS server that knows the machines."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.running import alive, run, wait_until

PREFIX = "nlab"
DOMAIN = "lab.internal"
HUB, DNS, CTL = f"{PREFIX}-hub", f"{PREFIX}-dns", f"{PREFIX}-ctl"
#: This machine's place on the bridge: from here the bot reaches the others.
HERE_IP, DNS_IP, CTL_IP = "10.78.0.1", "10.78.0.2", "10.78.0.3"


def address(number: int) -> str:
    """Return the address of a machine."""
    return f"10.78.0.{10 + number}"


def namespace(number: int) -> str:
    """Return the network namespace of a machine."""
    return f"{PREFIX}-node-{number}"


@dataclass(kw_only=True)
class Network:
    """The hosts' network."""

    folder: Path
    count: int
    _server: list[int] = field(default_factory=list)

    def up(self) -> None:
        """Make it."""
        run("ip", "netns", "add", HUB)
        run("ip", "-n", HUB, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", HUB, "link", "set", "br0", "up")
        _plug(DNS, DNS_IP)
        _plug(CTL, CTL_IP)
        for number in range(self.count):
            _plug(namespace(number), address(number))
        here = f"{PREFIX}-here"
        run("ip", "link", "add", here, "type", "veth", "peer", "name", "here", "netns", HUB)
        run("ip", "-n", HUB, "link", "set", "here", "master", "br0", "up")
        run("ip", "addr", "add", f"{HERE_IP}/24", "dev", here)
        run("ip", "link", "set", here, "up")
        self.know(range(self.count))

    def know(self, numbers: Iterable[int]) -> None:
        """Let the DNS server know these machines, and no others."""
        self.forget()
        records = {f"ctl.{DOMAIN}": CTL_IP}
        records |= {f"node-{number}.{DOMAIN}": address(number) for number in numbers}
        pid = self.folder / "dnsmasq.pid"
        run(
            "ip", "netns", "exec", DNS, "dnsmasq", "--no-resolv", "--no-hosts",
            f"--local=/{DOMAIN}/", f"--pid-file={pid}", f"--listen-address={DNS_IP}",
            "--bind-interfaces", *(f"--host-record={name},{ip}" for name, ip in records.items()),
        )  # fmt: skip
        wait_until("the DNS server runs", lambda: pid.exists() and pid.read_text().strip())
        self._server = [int(pid.read_text())]

    def forget(self) -> None:
        """Take the DNS server away."""
        end(self._server)
        self._server = []

    def down(self) -> None:
        """Take everything away, whatever is left of it, and end who still runs in it."""
        self.forget()
        names = [one.split()[0] for one in run("ip", "netns", "list").splitlines() if one.strip()]
        mine = [one for one in names if one.startswith(f"{PREFIX}-")]
        for name in mine:
            end([int(one) for one in run("ip", "netns", "pids", name, may_fail=True).split()])
        run("ip", "link", "del", f"{PREFIX}-here", may_fail=True)
        for name in mine:
            run("ip", "netns", "del", name)


def _plug(name: str, ip: str) -> None:
    """Make a host on the bridge."""
    run("ip", "netns", "add", name)
    far = name.removeprefix(f"{PREFIX}-")
    run(
        "ip",
        "link",
        "add",
        far,
        "netns",
        HUB,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        name,
    )
    run("ip", "-n", HUB, "link", "set", far, "master", "br0", "up")
    run("ip", "-n", name, "addr", "add", f"{ip}/24", "dev", "eth0")
    run("ip", "-n", name, "link", "set", "eth0", "up")
    run("ip", "-n", name, "link", "set", "lo", "up")


def end(pids: Sequence[int]) -> None:
    """End processes: by asking, and after five seconds by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        left = [pid for pid in pids if alive(pid)]
        for pid in left:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        if not left:
            return
        try:
            wait_until("they end", lambda: not any(map(alive, left)), within_s=5.0)  # noqa: B023
        except Exception:
            if number == signal.SIGKILL:
                raise
