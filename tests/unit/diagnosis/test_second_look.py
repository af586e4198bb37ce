"""Second looks: who got on after a failure, and who has no line at all."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bot.diagnosis import Diagnosis, Launch, diagnose, diagnose_bytes, of_bytes
from bot.diagnosis.source import Source

LOOKUP = (
    "[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of "
    "(node-0.lab.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name "
    "resolution)."
)
#: A line that no signature knows.
PLAIN = "loading the index, shard {} of 4000, nothing to report"
JOINED = "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. {}."


def chatter(ranks: list[int], lines: int) -> list[str]:
    """Return lines of these ranks that say nothing of a failure."""
    return [f"{rank}: {PLAIN.format(number)}" for number in range(lines) for rank in ranks]


def text(*parts: list[str]) -> bytes:
    """Return the lines as a log."""
    return "\n".join(line for part in parts for line in part).encode() + b"\n"


@pytest.mark.parametrize("far", [10, 40_000])
def test_progress_far_behind_a_failure_is_found(far: int) -> None:
    """The job went on, however much is printed before the first step."""
    log = text([f"3: {LOOKUP}"] * 5, chatter([0, 1, 2, 3], far // 4), ["0: step 1 loss: 2.0"])
    found = diagnose_bytes(log)
    assert found.cause == "harmless_warning"
    assert [one.ranks for one in found.affected] == [(3,)]
    quoted = [line for line in found.evidence if "loss" in line.text]
    assert [line.line for line in quoted] == [log.count(b"\n")]


def test_progress_before_a_failure_does_not_answer_it() -> None:
    """A job that ran yesterday does not excuse today's failure in the same file."""
    log = text(["0: step 1 loss: 2.0"], chatter([0], 30_000), [f"3: {LOOKUP}"] * 5)
    assert diagnose_bytes(log).cause == "resolver_failed"


def test_each_failure_asks_for_progress_behind_itself() -> None:
    """The first one was answered, the last one was not."""
    log = text(
        [f"3: {LOOKUP}"], ["0: step 1 loss: 2.0"], chatter([0], 30_000), [f"5: {LOOKUP}"] * 3
    )
    found = diagnose_bytes(log)
    assert found.cause == "resolver_failed"
    assert [one.ranks for one in found.affected] == [(5,)]


def silent(log: bytes, **more: Launch) -> Diagnosis:
    """Diagnose a log in which somebody never joined."""
    found = diagnose_bytes(log, **more)
    assert found.cause == "rendezvous_timeout"
    return found


def test_only_a_rank_without_any_line_is_silent() -> None:
    """One single line, anywhere, of any content, is enough to have spoken."""
    ranks = [rank for rank in range(64) if rank not in {17, 42}]
    body = chatter(ranks, 400)
    body.insert(12_345, f"42: {PLAIN.format(1)}")
    log = text(body, [f"0: {JOINED.format('63/64 clients joined')}"])
    assert silent(log).silent_ranks == (17,)


def test_labels_of_any_style_count_as_speaking() -> None:
    """The number is looked for in every form that the prefix table knows."""
    for label in ("[rank{}]: x", "[1,{}]<stdout>:x", "{:5}: x", "[{}] x", "rank{}: x"):
        body = [label.format(rank) for rank in range(8) if rank != 5]
        log = text(body, [label.format(0).removesuffix("x") + JOINED.format("7/8 clients joined")])
        assert silent(log).silent_ranks == (5,), label


def test_nobody_is_silent_where_labels_do_not_cover_the_job() -> None:
    """Where only rank 0 is labelled, the others are unlabelled, not silent."""
    log = text([f"0: {JOINED.format('7/8 clients joined')}"], [PLAIN.format(1)] * 50)
    assert silent(log).silent_ranks == ()


def test_a_daemon_does_not_speak_for_its_task() -> None:
    """What slurmstepd prints under a task's label is not the task's."""
    body = [*chatter([0, 1, 2], 3), "3: slurmstepd: error: *** STEP 9.0 ON node-1 CANCELLED ***"]
    log = text(body, [f"0: {JOINED.format('3/4 clients joined')}"])
    assert silent(log).silent_ranks == (3,)


def test_a_silent_machine_is_named_by_the_node_list() -> None:
    """Where machines are labelled instead of ranks, the list says who is missing."""
    hosts = tuple(f"gpu-{number}" for number in range(4))
    body = [f"{host}: {PLAIN.format(1)}" for host in hosts if host != "gpu-2"]
    log = text(body, [f"gpu-0: {JOINED.format('3/4 clients joined')}"])
    found = silent(log, launch=Launch(hosts=hosts, ranks_per_node=1))
    assert [one.host for one in found.affected] == ["gpu-2"]


def test_a_file_of_its_own_speaks_by_any_line() -> None:
    """In per-rank files no line needs a label; an empty file is silence."""
    files = {f"rank_{rank}.log": PLAIN.format(rank).encode() for rank in range(4)}
    files["rank_0.log"] += b"\n" + JOINED.format("2/4 clients joined").encode()
    files["rank_2.log"] = b""
    files["rank_3.log"] = b"\n\n"
    found = diagnose([of_bytes(data, name) for name, data in files.items()])
    assert found.silent_ranks == (2, 3)


def test_a_plain_log_is_not_opened_twice() -> None:
    """A second look is made only where a verdict hangs on it."""
    opened = 0

    def open_once() -> io.BytesIO:
        nonlocal opened
        opened += 1
        return io.BytesIO(text(chatter([0, 1], 100)))

    diagnose([Source(name=None, open=open_once)])
    assert opened == 1


def test_the_bundled_example_says_what_its_name_says() -> None:
    """The log that `make demo` shows."""
    path = Path(__file__).parents[3] / "bot" / "examples" / "resolver-failed.log"
    found = diagnose([of_bytes(path.read_bytes())])
    assert (found.cause, found.affected[0].host, found.affected[0].ranks) == (
        "resolver_failed",
        "node-3",
        (6, 7),
    )
