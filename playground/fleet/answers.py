"""Answer a probe list as a machine in the model's state would; one function a command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.hosts.model import ProbeResult, Row
from playground.fleet.machine import STUB, STUB_LINK, Machine, Network
from playground.fleet.names import conf_search, conf_servers, resolve

_QUICK = timedelta(milliseconds=4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a command printed; `rc` None means that it never ended."""

    rc: int | None = 0
    output: str = ""


def answer(machine: Machine, network: Network, rows: Sequence[Row]) -> Iterator[ProbeResult]:
    """Yield an answer to each row, gates first; after one that does not hold, to nothing else."""
    here = _Here(machine, network)
    for row in sorted(rows, key=lambda row: not row.gate):
        said = here.run(row.argv)
        output = said.output.encode()
        yield ProbeResult(
            name=row.name,
            rc=said.rc,
            duration=row.timeout if said.rc is None else _QUICK,
            output=output[: row.most_bytes],
            cut=len(output) > row.most_bytes,
        )
        if row.gate and said.rc != 0:
            return


class _Here:
    """The commands of one machine."""

    def __init__(self, machine: Machine, network: Network) -> None:
        self._machine = machine
        self._network = network

    def run(self, argv: Sequence[str]) -> Said:
        """Run one command line."""
        command = _COMMANDS.get(argv[0])
        if command is None:
            return Said(rc=127, output=f"[Errno 2] No such file or directory: {argv[0]!r}")
        return command(self, *argv[1:])

    def identity(self, kind: str, expected: str) -> Said:
        found = {
            "product_uuid": self._machine.product_uuid,
            "host_name": self._machine.name,
            "machine_id": self._machine.product_uuid.replace("-", ""),
        }[kind]
        return Said(rc=int(found.lower() != expected.lower()), output=_lines({"found": found}))

    def systemctl(self, verb: str, unit: str = "", *_: str) -> Said:
        resolver = self._machine.resolver
        if verb == "reboot":
            self._machine.reboot()
            return Said()
        sub = {"active": "running", "failed": "failed"}.get(resolver.active, "dead")
        if unit != "systemd-resolved":
            return Said(rc=4, output=f"Unit {unit}.service could not be found.\n")
        if verb in {"restart", "reset-failed"}:
            if verb == "restart":
                self._machine.restart_resolver()
            return Said()
        if verb == "status":
            ending = "" if resolver.exists else f" (Result: {resolver.result})"
            text = "systemd-resolved.service - Network Name Resolution\n     Active: "
            return Said(rc=0 if resolver.exists else 3, output=f"{text}{resolver.active}{ending}\n")
        shown = {
            "MainPID": resolver.pid if resolver.exists else 0,
            "Result": resolver.result,
            "NRestarts": resolver.restarts,
            "ExecMainStatus": resolver.exit_status,
            "ActiveState": resolver.active,
            "SubState": sub,
        }
        return Said(output="".join(f"{key}={value}\n" for key, value in shown.items()))

    def journalctl(self, *_: str) -> Said:
        lines = (
            f"{at.timestamp():.6f} {self._machine.name} systemd[1]: {text}\n"
            for at, text in self._machine.resolver.journal
        )
        return Said(output="".join(lines) or "-- No entries --\n")

    def process(self, comm: str) -> Said:
        resolver = self._machine.resolver
        if comm != "systemd-resolved" or not resolver.exists:
            return Said()
        return Said(output=_lines({"pid": resolver.pid, "state": "T" if resolver.hung else "S"}))

    def file(self, path: str) -> Said:
        target, text = None, self._files().get(path)
        if path == "/etc/resolv.conf" and self._machine.plain_conf is None:
            target = STUB_LINK
        if text is None:
            why = "No such file or directory"
            return Said(rc=1, output=_lines({"target": target, "text": None, "why": why}))
        return Said(output=_lines({"target": target, "text": text}))

    def _files(self) -> Mapping[str, str]:
        machine, resolver = self._machine, self._machine.resolver
        up = (datetime.now(UTC) - machine.booted).total_seconds()
        return {
            "/etc/resolv.conf": _conf(conf_servers(machine), conf_search(machine)),
            "/etc/nsswitch.conf": f"passwd: files\nhosts: {machine.nss}\n",
            "/etc/hosts": "".join(f"{at} {name}\n" for name, at in machine.hosts_file.items()),
            # It stays when the service is gone.
            "/run/systemd/resolve/resolv.conf": _conf(resolver.servers, resolver.search or ["."]),
            "/proc/sys/kernel/random/boot_id": machine.boot_id + "\n",
            "/proc/uptime": f"{up:.2f} {up:.2f}\n",
            "/proc/self/mountinfo": "".join(
                f"{number} 1 0:{number} / {one.mount} rw - {one.kind} {one.source} rw\n"
                for number, one in enumerate(machine.mounts, start=20)
            ),
        }

    def resolvectl(self, verb: str, *_: str) -> Said:
        resolver = self._machine.resolver
        if not resolver.exists:
            why = "systemd-resolved does not run; resolvectl would start it"
            return Said(rc=3, output=_lines({"why": why}))
        if resolver.hung:
            return Said(rc=None)
        shown = {"dns": resolver.servers, "domain": resolver.search}.get(verb)
        if shown is not None:
            return Said(output=f"Global: {' '.join(shown)}\n")
        return Said(output=f"Global\n  DNS Servers {' '.join(resolver.servers)}\n")

    def lookups(self, *names: str) -> Said:
        rc: int | None = 0
        printed = ""
        for name in names:
            found = resolve(self._machine, self._network, name)
            if found is None:
                rc = None
                continue
            addresses = [found.address] if found.address else []
            printed += _lines({"name": name, "code": found.code, "addresses": addresses, "ms": 2})
        return Said(rc=rc, output=printed)

    def dns(self, which: str, *names: str) -> Said:
        if which == STUB:
            return Said(output="".join(self._stub(name) for name in names))
        resolver = self._machine.resolver
        if which == "uplinks":
            servers, search = resolver.servers, resolver.search
        else:
            servers, search = conf_servers(self._machine), conf_search(self._machine)
        asked = [
            *names,
            *(f"{name}.{domain}" for name in names if "." not in name for domain in search),
        ]
        return Said(
            output="".join(
                self._answered(server, name)
                for server in servers
                if server != STUB
                for name in dict.fromkeys(asked)
            )
        )

    def _stub(self, name: str) -> str:
        resolver = self._machine.resolver
        said = "refused" if not resolver.exists else "timeout" if resolver.hung else "NOERROR"
        records = {"records": 1} if said == "NOERROR" else {}
        return _lines({"server": STUB, "name": name, "answer": said, **records, "ms": 1})

    def _answered(self, server: str, name: str) -> str:
        said, address = self._network.ask(server, name)
        records = {"records": int(bool(address))} if said.isupper() else {}
        return _lines({"server": server, "name": name, "answer": said, **records, "ms": 1})

    def tcp(self, address: str, port: str) -> Said:
        outcome = self._network.connect(self._machine, address, int(port))
        return Said(output=_lines({"address": address, "port": int(port), "outcome": outcome}))

    def processes(self) -> Said:
        return Said(
            output="".join(
                _lines(
                    {
                        "pid": one.pid, "uid": one.uid, "name": one.name, "step": one.step,
                        "inside": False, "rank": one.step, "user": one.user,
                    }
                )
                for one in self._machine.processes
            )
        )  # fmt: skip

    def containers(self, *_: str) -> Said:
        return Said()

    def disk(self) -> Said:
        return Said(
            output="".join(
                _lines(
                    {
                        "mount": one.mount, "kind": one.kind, "size_bytes": one.size_bytes,
                        "free_bytes": one.free_bytes,
                    }
                )
                for one in self._machine.mounts
                if one.size_bytes
            )
        )  # fmt: skip

    def nvidia_smi(self, *_: str) -> Said:
        busy = (one for one in self._machine.processes if one.gpu_mib)
        return Said(output="".join(f"{one.pid}, {one.name}, {one.gpu_mib} MiB\n" for one in busy))


_COMMANDS: Mapping[str, Callable[..., Said]] = {
    "@identity": _Here.identity,
    "@file": _Here.file,
    "@process": _Here.process,
    "@resolvectl": _Here.resolvectl,
    "@lookups": _Here.lookups,
    "@dns": _Here.dns,
    "@tcp": _Here.tcp,
    "@processes": _Here.processes,
    "@containers": _Here.containers,
    "@disk": _Here.disk,
    "systemctl": _Here.systemctl,
    "journalctl": _Here.journalctl,
    "nvidia-smi": _Here.nvidia_smi,
}


def _lines(value: Mapping[str, object]) -> str:
    return json.dumps(value) + "\n"


def _conf(servers: Sequence[str], search: Sequence[str]) -> str:
    text = "".join(f"nameserver {server}\n" for server in servers)
    return text + (f"search {' '.join(search)}\n" if search else "")
