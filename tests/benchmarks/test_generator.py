"""Prove that made logs are what the benchmarks say they are."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.benchmarks.generator import MB, SHAPES, Shape, generate, parse_size
from tests.benchmarks.truth import Truth

_LARGE_BYTES = 17 * MB
_PROGRESS = re.compile(rb"step|iteration|Epoch|Training:|'loss'")
#: Strewn start-up failures, by their own words and not by the generator's count.
_FAILING = re.compile(
    rb"network addresses of|hostname of the client socket|waitForInput|connect/validate"
    rb"|Connection refused, retrying|errno: 97"
)


@cache
def _made(shape: Shape, size_bytes: int, seed: int = 1) -> tuple[tuple[bytes, ...], Truth]:
    pieces: list[bytes] = []
    truth = generate(pieces.append, shape=shape, size_bytes=size_bytes, seed=seed)
    return tuple(pieces), truth


def _log(shape: Shape, size_bytes: int, seed: int = 1) -> tuple[bytes, Truth]:
    pieces, truth = _made(shape, size_bytes, seed)
    return b"".join(pieces), truth


def _ranks(log: bytes) -> list[int]:
    return [int(label) for label in re.findall(rb"^ *(\d+): ", log, re.MULTILINE)]


@pytest.mark.parametrize("shape", SHAPES)
def test_same_seed_makes_the_same_log(shape: Shape) -> None:
    """A seed, a shape and a size determine every byte; another seed makes another log."""
    again: list[bytes] = []
    generate(again.append, shape=shape, size_bytes=MB, seed=1)
    assert b"".join(again) == _log(shape, MB)[0]
    assert b"".join(again) != _log(shape, MB, seed=2)[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size_bytes", [MB, 2_345_678])
def test_size_is_exact_within_a_line(shape: Shape, size_bytes: int) -> None:
    """A log ends with the last whole line that fits, and its truth counts bytes and lines."""
    log, truth = _log(shape, size_bytes)
    longest = max(len(line) for line in log.split(b"\n")) + 1
    assert size_bytes - longest < len(log) <= size_bytes
    assert log.endswith(b"\n")
    assert (truth.size_bytes, truth.lines) == (len(log), log.count(b"\n"))


def test_one_line_in_a_thousand_fails() -> None:
    """A large mixed log has about 0.1 % strewn failures, and its truth counts them exactly."""
    log, truth = _log("mixed", _LARGE_BYTES)
    body = log.splitlines(keepends=True)[: -truth.ending_lines]
    found = sum(1 for line in body if _FAILING.search(line))
    assert found == truth.strewn_lines
    assert 0.0007 < found / len(body) < 0.0013


def test_large_mixed_log_ends_with_the_failure_it_names() -> None:
    """The last 2,000 lines hold the count, both sick ranks' time-outs and their machine."""
    log, truth = _log("mixed", _LARGE_BYTES)
    ending = b"".join(log.splitlines(keepends=True)[-2000:])
    assert truth.ending_lines == 2000
    assert (truth.cause, truth.affected_ranks, truth.affected_hosts, truth.clients_joined) == (
        "resolver_failed",
        (64, 65),
        ("node-8",),
        254,
    )
    assert b"  0: [launch] starting 256 processes" in ending.partition(b"\n")[0]
    assert b"254/256 clients joined." in ending
    for rank in truth.affected_ranks:
        assert b" %d: torch.distributed.DistNetworkError: The client socket has timed" % rank in log
        assert b"srun: error: node-8: task %d: Exited with exit code 1\n" % rank in ending
    assert set(_ranks(ending)) == set(range(256))


def test_small_mixed_log_keeps_the_mix() -> None:
    """A mixed log of a megabyte has a short ending, so that failures stay well under a percent."""
    log, truth = _log("mixed", MB)
    assert truth.ending_lines == 20
    assert (truth.strewn_lines + truth.ending_lines) / truth.lines < 0.005
    assert log.endswith(b"srun: error: node-8: task 65: Exited with exit code 1\n")


@pytest.mark.parametrize("size_bytes", [MB, _LARGE_BYTES])
def test_strewn_failures_are_followed_by_progress(size_bytes: int) -> None:
    """Each sick rank goes on training after the last look-up that failed before the ending."""
    log, truth = _log("mixed", size_bytes)
    for rank in truth.affected_ranks:
        label = b"%3d: " % rank
        body = [line for line in log.splitlines()[: -truth.ending_lines] if line.startswith(label)]
        last_progress = max(index for index, line in enumerate(body) if _PROGRESS.search(line))
        failures = [index for index, line in enumerate(body) if _FAILING.search(line)]
        assert failures or size_bytes == MB
        assert all(index < last_progress for index in failures)


@pytest.mark.parametrize("size_bytes", [MB, _LARGE_BYTES])
def test_silent_rank_has_no_line_and_another_exactly_one(size_bytes: int) -> None:
    """Rank 77 never speaks, rank 201 once, away from both ends, and srun's report omits both."""
    log, truth = _log("silent", size_bytes)
    ranks = _ranks(log)
    assert set(range(256)) - set(ranks) == {77} == set(truth.silent_ranks)
    assert ranks.count(201) == 1
    at = log.index(b"\n201: ")
    assert len(log) // 4 < at < len(log) * 3 // 4
    assert b"tasks 72-76,78-79: Exited" in log
    assert b"tasks 200,202-207: Exited" in log
    assert b"255/256 clients joined." in log
    assert not re.search(rb"network addresses of|client socket has timed out", log)


def test_lookups_are_nothing_else() -> None:
    """Every line is a failing look-up, and every rank but the master's makes them."""
    log, truth = _log("lookups", MB)
    lines = log.splitlines()
    assert all(b"cannot be retrieved (gai error: -3 - " in line for line in lines)
    assert set(_ranks(log)) == set(range(1, 256))
    assert truth.strewn_lines == len(lines)


def test_healthy_log_has_no_failure() -> None:
    """A healthy log has all ranks, their progress, and no line of a start-up failure."""
    log, truth = _log("healthy", MB)
    assert truth.cause == "no_startup_failure"
    assert set(_ranks(log)) == set(range(256))
    assert _PROGRESS.search(log)
    assert not _FAILING.search(log)
    assert not re.search(rb"srun: error|Traceback|clients joined", log)


def test_pieces_do_not_repeat() -> None:
    """Pieces are about 8 MB, and no line with a clock or a step comes again in a later one."""
    pieces, _ = _made("healthy", _LARGE_BYTES)
    first, second, *_rest = pieces
    assert 8 * MB < len(first) < 12 * MB
    marked = re.compile(rb"^.*(?:\d\d:\d\d:\d\d|step 1|epoch).*$", re.MULTILINE)
    lines = set(marked.findall(first))
    assert len(lines) > 10_000
    assert lines.isdisjoint(marked.findall(second))


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_left_to_fill_in(shape: Shape) -> None:
    """A made log has no control character but line ends, and tqdm's carriage returns."""
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", _log(shape, MB)[0])


def test_too_small_a_log_is_refused() -> None:
    """A size that an ending would fill for the most part is refused with the least size."""
    with pytest.raises(ValueError, match="bytes at least"):
        generate(lambda _piece: None, shape="silent", size_bytes=100_000)


def test_sizes_are_read_in_powers_of_ten() -> None:
    """Sizes are numbers with KB, MB or GB; whatever else is refused in a sentence."""
    assert [parse_size(text) for text in ("10KB", "64mb", "1GB")] == [10_000, 64 * MB, 10**9]
    for text in ("64", "MB", "1.5GB", "1GiB"):
        with pytest.raises(Exception, match="is no size"):
            parse_size(text)
