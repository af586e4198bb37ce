"""Say what the right verdict on a made log is, and compare a report with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The right verdict on a made log, and what the log holds."""

    #: Cause of the diagnosis contract.
    cause: str
    #: Ranks that must be named, no others.
    affected_ranks: tuple[int, ...] = ()
    #: Machines that may be named for them.
    affected_hosts: tuple[str, ...] = ()
    #: Whether one of these machines must be named, because the log links rank and machine.
    host_must_be_named: bool = False
    restart_may_help: bool = False
    world_size: int | None = None
    clients_joined: int | None = None
    #: Ranks without any line.
    silent_ranks: tuple[int, ...] = ()
    #: Lines in the whole log.
    lines: int = 0
    size_bytes: int = 0
    #: Lines in the formats of start-up failures, the ending not counted.
    strewn_lines: int = 0
    #: Lines of the fatal ending.
    ending_lines: int = 0

    def to_json(self) -> str:
        """Write this truth as one JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a truth that `to_json` wrote."""
        fields = json.loads(text)
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return cls(**{**fields, **lists})


def mistakes(truth: Truth, report: Mapping[str, Any]) -> list[str]:
    """List in words where a report, an object of the JSON contract, departs from the truth."""
    ranks = sorted(rank for entry in report["affected"] for rank in entry["ranks"])
    hosts = {entry["host"] for entry in report["affected"]} - {None}
    pairs = [
        ("cause", truth.cause, report["cause"]),
        ("affected ranks", list(truth.affected_ranks), ranks),
        ("restart_may_help", truth.restart_may_help, report["restart_may_help"]),
        ("silent_ranks", list(truth.silent_ranks), report["silent_ranks"]),
        ("clients_joined", truth.clients_joined, report["clients_joined"]),
        ("lines", truth.lines, report["log"]["lines"]),
        ("bytes", truth.size_bytes, report["log"]["bytes"]),
    ]
    if truth.world_size is not None:
        pairs.append(("world_size", truth.world_size, report["world_size"]))
    found = [f"{what} is {got!r}, not {want!r}" for what, want, got in pairs if want != got]
    if hosts - set(truth.affected_hosts):
        found.append(f"affected hosts are {sorted(hosts)}, not {list(truth.affected_hosts)}")
    if truth.host_must_be_named and not hosts:
        found.append(f"no host is named, not one of {list(truth.affected_hosts)}")
    return found
