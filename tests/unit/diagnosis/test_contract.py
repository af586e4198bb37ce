"""The published shape: its schema is checked in, and what is printed fits it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bot.diagnosis
from bot.diagnosis import Launch, diagnose, diagnose_bytes, of_bytes
from bot.diagnosis.contract import DiagnosisV1, json_schema

SCHEMA = Path(bot.diagnosis.__file__).parent / "schema" / "diagnosis-1.json"
LOOKUP = (
    "[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of "
    "(node-0.lab.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name "
    "resolution).\n"
)


def test_the_schema_that_is_checked_in_is_the_one_in_force() -> None:
    """A change of the contract is a change of a file that reviewers see."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()


def test_what_is_printed_is_read_back() -> None:
    """The JSON form holds everything, under the published names."""
    found = diagnose_bytes(LOOKUP.encode())
    printed = json.loads(found.to_json())
    assert printed["schema"] == "nccl-dns/diagnosis/1"
    assert DiagnosisV1.model_validate(printed).root == found


@pytest.mark.parametrize(
    ("log", "cause", "severity"),
    [
        (LOOKUP, "resolver_failed", "failure"),
        (LOOKUP + "step 1 loss: 2.0\n", "harmless_warning", "warning"),
        ("hello\n", "no_startup_failure", "none"),
        ("", "no_startup_failure", "none"),
    ],
)
def test_severity_follows_from_the_cause(log: str, cause: str, severity: str) -> None:
    """Warnings and clean logs are no failures."""
    found = diagnose_bytes(log.encode())
    assert (found.cause, found.severity) == (cause, severity)


def test_folded_and_repeated_lines_are_counted() -> None:
    """Every failed look-up counts, also those a shipper folded into one line."""
    log = LOOKUP * 3 + "[24 similar log lines] " + LOOKUP
    peer = diagnose_bytes(log.encode()).peers[0]
    assert (peer.host, peer.port, peer.gai_codes) == ("node-0.lab.internal", 29500, (-3,))
    assert peer.lookups == 3 + 24


def test_evidence_quotes_the_line_by_its_number() -> None:
    """The quoted line is the one that stands there."""
    found = diagnose_bytes(("first\nsecond\n" + LOOKUP).encode())
    assert [(line.line, line.text) for line in found.evidence] == [(3, LOOKUP.strip())]
    assert found.log.lines == 3
    assert found.log.matched == 1
    assert found.log.first_time == found.log.last_time == "11-30T17:26:18.842814600"


def test_evidence_is_redacted_and_harmless_to_a_terminal() -> None:
    """Neither secrets nor control characters leave the core."""
    token = "hf_" + "abcdefghijklmnop" * 2
    found = diagnose_bytes(f"64: HF_TOKEN={token} \x1b[2J\x07{LOOKUP}".encode())
    printed = found.to_json()
    assert token not in printed
    assert "\\u001b" not in printed
    assert "\\u0007" not in printed


def test_the_launch_places_ranks_that_the_log_does_not() -> None:
    """Rank 64 of 32 machines with 8 each sits on the ninth; the answer says how that is known."""
    launch = Launch(hosts=tuple(f"node-{i}" for i in range(32)), ranks_per_node=8)
    found = diagnose_bytes(f"64: {LOOKUP}".encode(), launch=launch)
    (one,) = found.affected
    assert (one.host, one.ranks, one.known_from) == ("node-8", (64,), "launch")
    assert found.world_size == 256


def test_the_log_wins_over_the_launch() -> None:
    """Where the log names the machine, the node list does not overrule it."""
    launch = Launch(hosts=("a-0", "a-1"), ranks_per_node=1)
    log = f"1: {LOOKUP}srun: error: a-7: task 1: Exited with exit code 1\n"
    (one,) = diagnose_bytes(log.encode(), launch=launch).affected
    assert (one.host, one.known_from) == ("a-7", "log")


def test_elastic_ranks_are_never_placed_by_order() -> None:
    """A dynamic rendezvous hands out ranks in its own order: the node list is a guess there."""
    launch = Launch(hosts=("a-0", "a-1"), ranks_per_node=8)
    log = (
        "1: torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to "
        f"the C10d store has failed.\n1: {LOOKUP}"
    )
    (one,) = diagnose_bytes(log.encode(), launch=launch).affected
    assert one.known_from == "guess"


def test_file_names_tell_rank_and_host_unless_told_not_to() -> None:
    """Per-rank files name their speaker; a switch turns that off."""
    source = of_bytes(LOOKUP.encode(), "node-8/attempt_0/3/stderr.log")
    assert diagnose([source]).affected[0].host == "node-8"
    assert diagnose([source], believe_names=False).affected[0].host is None


def test_a_peer_is_never_affected_for_being_named() -> None:
    """The machine that logs is the sick one, not the one it looks for."""
    for case in (f"64: {LOOKUP}", LOOKUP, f"node-3: {LOOKUP}"):
        assert all(one.host != "node-0" for one in diagnose_bytes(case.encode()).affected)
