"""Make a large log of an invented 256-rank job, with the right verdict on it.

Four shapes, each the same for the same seed and size:

``mixed``
    A job trains: steps in five styles, NCCL INFO lines, chatter, and 0.1 % of lines in the formats
    of start-up failures, all of them followed by progress. Then it starts anew and fails in the
    last 2,000 lines (20 in a log under 16 MB, to keep the mix): ranks 64 and 65 on node-8 get no
    answer for the master's name, 254/256 join. Right: ``resolver_failed`` there.
``silent``
    The job prepares its data; at the rendezvous 255/256 join. Rank 77 has no line at all, rank 201
    exactly one, in the middle. Right: ``rendezvous_timeout``, silent rank 77.
``lookups``
    Nothing but failing look-ups, by every rank but the master's. Right: ``dns_outage``.
``healthy``
    The first part of ``mixed`` without the failures. Right: ``no_startup_failure``.

A log is written in pieces of about 8 MB. A piece is put together from 256 sections, for each of
which a few variants of random lines are made once and chosen from by chance; step numbers and
clocks move on with every piece.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import BinaryIO, Literal, get_args

from tests.benchmarks.failing_lines import (
    EARLY_TROUBLE,
    SICK_TROUBLE,
    TROUBLE,
    lookup,
    resolver_ending,
    silent_ending,
)
from tests.benchmarks.job import (
    C10_MINUTE,
    ISO_MINUTE,
    ONCE_RANK,
    SICK_RANKS,
    SILENT_RANK,
    STEP,
    WORLD_SIZE,
    Line,
    host,
    labelled,
)
from tests.benchmarks.nccl_lines import NCCL_INFO
from tests.benchmarks.training_lines import CHATTER, PREPARATION, PROGRESS
from tests.benchmarks.truth import Truth

Shape = Literal["mixed", "silent", "lookups", "healthy"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
MB = 10**6

_SECTIONS = 256
_SECTION_BYTES = 33_000
_VARIANTS = 4
#: Ends a strewn failing line until it is counted.
_TROUBLE_MARK = b"\x04"
_TROUBLE_SHARE = 0.001
_SICK_SHARE = 0.4
_LONG_ENDING, _SHORT_ENDING, _LONG_FROM_BYTES = 2000, 20, 16 * MB
_LAUNCHED_AT = datetime(2026, 5, 1, 10, tzinfo=UTC)
_UNITS = {"KB": 10**3, "MB": MB, "GB": 10**9}

_TRUTHS: dict[Shape, Truth] = {
    "mixed": Truth(
        cause="resolver_failed",
        affected_ranks=SICK_RANKS,
        affected_hosts=(host(SICK_RANKS[0]),),
        host_must_be_named=True,
        restart_may_help=True,
        world_size=WORLD_SIZE,
        clients_joined=WORLD_SIZE - len(SICK_RANKS),
    ),
    "silent": Truth(
        cause="rendezvous_timeout",
        affected_ranks=(SILENT_RANK,),
        affected_hosts=(host(SILENT_RANK),),
        world_size=WORLD_SIZE,
        clients_joined=WORLD_SIZE - 1,
        silent_ranks=(SILENT_RANK,),
    ),
    "lookups": Truth(cause="dns_outage"),
    "healthy": Truth(cause="no_startup_failure"),
}


class _Styles:
    """Kinds of lines with their weights, to choose from quickly."""

    def __init__(self, *groups: tuple[tuple[tuple[Line, int], ...], float]) -> None:
        """Take groups of weighted kinds, each with the share of the whole that it gets."""
        self._kinds: list[Line] = []
        weights: list[float] = []
        for kinds, share in groups:
            total = sum(weight for _, weight in kinds)
            self._kinds += [kind for kind, _ in kinds]
            weights += [share * weight / total for _, weight in kinds]
        self._bounds = list(accumulate(weights))

    def choose(self, rng: Random, count: int) -> list[Line]:
        """Choose that many kinds by their weights."""
        return rng.choices(self._kinds, cum_weights=self._bounds, k=count)


class _Body:
    """The long part of a log, before its ending."""

    def __init__(self, shape: Shape, seed: int) -> None:
        """Set out the kinds of lines of a shape; makes none yet."""
        self._shape, self._seed = shape, seed
        self._variants: dict[tuple[int, int], bytes] = {}
        self._ranks = list(range(WORLD_SIZE))
        self._trouble_share = 0.0 if shape in {"healthy", "lookups"} else _TROUBLE_SHARE
        self._sick_share = _SICK_SHARE if shape == "mixed" else 0.0
        self._sick = _Styles((SICK_TROUBLE, 1))
        self._trouble = _Styles((TROUBLE, 1))
        self._normal = _Styles((PROGRESS, 74), (NCCL_INFO, 17), (CHATTER, 9))
        if shape == "silent":
            self._ranks = [rank for rank in self._ranks if rank not in {SILENT_RANK, ONCE_RANK}]
            self._trouble = _Styles((EARLY_TROUBLE, 1))
            self._normal = _Styles((PREPARATION, 1))

    def pieces(self, size_bytes: int) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of that size in total, less what the last line lacks.

        With each comes the number of its lines in the formats of start-up failures.
        """
        left = size_bytes
        middle = size_bytes // 2 if self._shape == "silent" else -1
        rng = Random(f"{self._seed}/{self._shape}/order")
        minute = 0
        while left > 0:
            chosen = bytearray()
            for section in range(_SECTIONS):
                chosen += self._section(section, rng.randrange(_VARIANTS))
                if len(chosen) >= left + _SECTION_BYTES:
                    break
            marked = _with_clock(bytes(chosen), minute)
            if 0 <= middle < len(marked):
                at = marked.rfind(b"\n", 0, middle) + 1
                once = labelled(ONCE_RANK, "INFO data nothing to do for this rank").encode()
                marked = marked[:at] + once + marked[at:]
            middle -= len(marked)
            piece = marked.replace(_TROUBLE_MARK, b"")
            if len(piece) >= left:
                piece = piece[: piece.rfind(b"\n", 0, left) + 1]
                count = piece.count(b"\n")
                yield piece, b"".join(marked.split(b"\n", count)[:count]).count(_TROUBLE_MARK)
                return
            left -= len(piece)
            minute += 1
            yield piece, marked.count(_TROUBLE_MARK)

    def _section(self, section: int, variant: int) -> bytes:
        key = section, variant
        if key not in self._variants:
            rng = Random(f"{self._seed}/{self._shape}/{section}/{variant}")
            make = _outage_section if self._shape == "lookups" else self._mixed_section
            self._variants[key] = "".join(make(rng, section)).encode()
        return self._variants[key]

    def _mixed_section(self, rng: Random, section: int) -> Iterator[str]:
        size = 0
        second = section * 60 // _SECTIONS
        first_step = section * 1000 // _SECTIONS
        while size < _SECTION_BYTES:
            for kind in self._normal.choose(rng, 40):
                rank, step = rng.choice(self._ranks), first_step + rng.randrange(4)
                if rng.random() < self._trouble_share:
                    line = self._trouble_line(rng, rank, second)
                else:
                    line = labelled(rank, kind(rng, rank, step, second))
                size += len(line)
                yield line

    def _trouble_line(self, rng: Random, rank: int, second: int) -> str:
        styles = self._trouble
        if rng.random() < self._sick_share:
            styles, rank = self._sick, rng.choice(SICK_RANKS)
        (kind,) = styles.choose(rng, 1)
        return labelled(rank, kind(rng, rank, 0, second) + _TROUBLE_MARK.decode())


def _outage_section(rng: Random, section: int) -> Iterator[str]:
    second = section * 60 // _SECTIONS
    for _ in range(_SECTION_BYTES // 180):
        rank = 1 + rng.randrange(WORLD_SIZE - 1)
        yield labelled(rank, lookup(rng, rank, 0, second) + _TROUBLE_MARK.decode())


def _with_clock(text: bytes, minute: int) -> bytes:
    """Put in the step number and the clock of a minute after the launch."""
    now = _LAUNCHED_AT + timedelta(minutes=minute)
    for mark, value in (
        (STEP, str(1 + minute)),
        (C10_MINUTE, f"{now.month}{now:%d %H:%M}"),
        (ISO_MINUTE, f"{now:%Y-%m-%d %H:%M}"),
    ):
        text = text.replace(mark.encode(), value.encode())
    return text


def _ending(shape: Shape, size_bytes: int, seed: int) -> list[bytes]:
    rng = Random(f"{seed}/{shape}/ending")
    if shape == "mixed":
        long = size_bytes >= _LONG_FROM_BYTES
        lines = resolver_ending(rng, _LONG_ENDING if long else _SHORT_ENDING)
    elif shape == "silent":
        lines = silent_ending(rng)
    else:
        lines = []
    # A piece of the body is a minute long and about 8 MB large.
    launched = 1 + size_bytes // (_SECTIONS * _SECTION_BYTES)
    return [_with_clock(text.encode(), launched + minute) for minute, text in lines]


def generate(
    write: Callable[[bytes], object], *, shape: Shape, size_bytes: int, seed: int = 1
) -> Truth:
    """Write a log of a shape, of ``size_bytes`` less the rest of a line, and return its truth."""
    ending = _ending(shape, size_bytes, seed)
    tail = b"".join(ending)
    if len(tail) > size_bytes // 2:
        raise ValueError(f"A log of the shape {shape} takes {2 * len(tail)} bytes at least.")
    lines, size, strewn = len(ending), len(tail), 0
    for piece, trouble in _Body(shape, seed).pieces(size_bytes - len(tail)):
        write(piece)
        lines += piece.count(b"\n")
        size += len(piece)
        strewn += trouble
    write(tail)
    return dataclasses.replace(
        _TRUTHS[shape],
        lines=lines,
        size_bytes=size,
        strewn_lines=strewn,
        ending_lines=len(ending),
    )


def parse_size(text: str) -> int:
    """Read ``64MB`` or ``1GB`` (powers of ten) as bytes."""
    unit = text[-2:].upper()
    if unit not in _UNITS or not text[:-2].isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size; write a number with KB, MB or GB, such as 64MB."
        )
    return int(text[:-2]) * _UNITS[unit]


def main() -> None:
    """Write a log to standard output and its truth as JSON to a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.generator")
    parser.add_argument("--shape", choices=SHAPES, default="mixed")
    parser.add_argument("--size", type=parse_size, default=64 * MB, help="such as 64MB or 1GB")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", type=Path, help="file for the right verdict, as JSON")
    parser.add_argument("--output", type=Path, help="file for the log instead of stdout")
    options = parser.parse_args()
    with ExitStack() as stack:
        out: BinaryIO = sys.stdout.buffer
        if options.output:
            out = stack.enter_context(options.output.open("wb"))
        truth = generate(out.write, shape=options.shape, size_bytes=options.size, seed=options.seed)
        out.flush()
    if options.truth:
        options.truth.write_text(truth.to_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
