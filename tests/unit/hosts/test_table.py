"""Prove what holds for every row of the tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.hosts.meanings import MEANINGS
from bot.hosts.model import Finding, Probe, Rung, Slot
from bot.hosts.probes import PROBES, Question, rows
from bot.hosts.wire import WORDS
from bot.hosts.words import Address, HostName, Port, Proof

#: Programs that only look. A row that needs another one has to be thought about.
READ_ONLY = {"systemctl", "journalctl", "nvidia-smi"}
FULL = Question(
    names=(HostName("node-0"), HostName("node-0.a.internal")),
    address=Address("10.0.0.1"),
    port=Port(29500),
)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_a_probe_only_looks(probe: Probe[Any]) -> None:
    """Each row's command is one that changes nothing, ends in time and says what it means."""
    head = probe.argv[0]
    assert head in READ_ONLY or head in WORDS
    if head == "systemctl":
        assert probe.argv[1] in {"show", "status"}
    assert timedelta(0) < probe.timeout <= timedelta(seconds=5)
    assert probe.meaning.endswith(".")


def test_names_are_unique() -> None:
    """An answer belongs to one row."""
    assert len({probe.name for probe in PROBES}) == len(PROBES)


def test_no_row_asks_resolvectl_by_itself() -> None:
    """Resolvectl would start a dead resolver over D-Bus: only the guarded word may call it."""
    assert all(probe.argv[0] != "resolvectl" for probe in PROBES)


def test_words_go_only_into_their_slots() -> None:
    """Filling in a question changes nothing but the slots."""
    filled = {row.name: row for row in rows(FULL, "product_uuid", Proof("some-id"))}

    assert filled["lookups"].argv == ("@lookups", "node-0", "node-0.a.internal")
    assert filled["rendezvous"].argv == ("@tcp", "10.0.0.1", "29500")
    assert filled["identity"].argv == ("@identity", "product_uuid", "some-id")
    for probe in PROBES:
        if not any(isinstance(part, Slot) for part in probe.argv):
            assert filled[probe.name].argv == probe.argv


def test_a_row_without_its_words_is_left_out() -> None:
    """Without a rendezvous address nothing is connected to; the rest is asked all the same."""
    left = {row.name for row in rows(Question(), "host_name", Proof("node-1"))}

    assert left == {probe.name for probe in PROBES} - {
        "lookups", "uplinks", "direct", "rendezvous", "containers",
    }  # fmt: skip


def test_the_identity_is_the_only_gate() -> None:
    """Everything else waits for the machine to prove itself."""
    assert [probe.name for probe in PROBES if probe.gate] == ["identity"]


@pytest.mark.parametrize("finding", Finding)
def test_every_finding_says_what_helps_and_what_cannot(finding: Finding) -> None:
    """No repair both helps and cannot help, and there is always something to do."""
    meaning = MEANINGS[finding]

    assert meaning.helps
    assert not meaning.helps & meaning.cannot
    assert meaning.advice.endswith(".")


@pytest.mark.parametrize(
    "finding", [one for one in Finding if one.value.startswith(("container", "cluster", "coredns"))]
)
def test_no_machine_repair_helps_against_a_clusters_dns(finding: Finding) -> None:
    """What runs in pods is never mended by restarting their machine."""
    assert MEANINGS[finding].helps == {Rung.NOTHING}
    assert {Rung.REBOOT, Rung.RESTART_RESOLVER, Rung.STOP_START} <= MEANINGS[finding].cannot
