"""Answers that four real machines gave, healthy and broken, as `tests/recordings` holds them.

Recorded from Debian 12 with systemd 252 and libnss-resolve: node-1 broken, node-2 its healthy peer
(a fault of the name server hits both). One line an answer, its output as text; mounts and journals
are shortened. The question was `QUESTION`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.hosts import probes, wire
from bot.hosts.evidence import evidence
from bot.hosts.model import Evidence, ProbeResult
from bot.hosts.port import Target
from bot.hosts.probes import Question
from bot.hosts.words import Address, HostName, Port, Proof

FOLDER = Path(__file__).parents[2] / "recordings"
SOON = timedelta(seconds=1)
DOMAIN, SERVER = "lab.internal", "10.77.0.2"
QUESTION = Question(
    names=(
        HostName("node-0"),
        HostName(f"node-0.{DOMAIN}"),
        HostName(f"node-2.{DOMAIN}"),
    ),
    address=Address("10.77.0.10"),
    port=Port(29500),
)


def address(machine: str) -> Address:
    """Return a machine's address."""
    return Address(f"10.77.0.1{machine[-1]}")


def target(machine: str) -> Target:
    """Return a machine as something to probe; it proves itself by its host name."""
    return Target(
        vm_id=machine,
        name=machine,
        address=address(machine),
        proof_kind="host_name",
        proof=Proof(machine),
    )


def names() -> list[str]:
    """Return the faults that were recorded, and `healthy`."""
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def machines(fault: str) -> list[str]:
    """Return whose answers were recorded under a fault."""
    return sorted({line["machine"] for line in _lines(fault)})


def recorded(fault: str, machine: str) -> Evidence:
    """Return what a machine answered, read back through the wire form."""
    where = target(machine)
    answers = wire.Answers(probes.rows(QUESTION, where.proof_kind, where.proof))
    for line in _lines(fault):
        if line["machine"] == machine:
            answers.feed(
                wire.line(
                    ProbeResult(
                        name=line["name"],
                        rc=line["rc"],
                        duration=timedelta(milliseconds=line["ms"]),
                        output=line["output"].encode(),
                    )
                )
            )
    assert answers.complete
    return evidence(where, _when(answers), answers)


def _when(answers: wire.Answers) -> datetime:
    """Return a time shortly after the journal's last line."""
    events = probes.JOURNAL.parse(answers.results["resolver_journal"])
    last = max((event.at for event in events), default=datetime(2026, 1, 2, tzinfo=UTC))
    return last + timedelta(seconds=5)


def _lines(fault: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{fault}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
