"""Look for input that the diagnosis cannot take: `python -m tests.fuzz [SECONDS]`.

Mutates known logs and the examples of every table row: cuts, splices, repeats, byte noise, other
prefixes, records. Fails on any exception, on an answer outside the contract, and where the verdict
depends on how the stream is split. Each find is printed as bytes, to become a test.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from bot.diagnosis import Source, diagnose, diagnose_bytes
from bot.diagnosis.contract import DiagnosisV1
from bot.diagnosis.prefixes import PREFIXES
from bot.diagnosis.signatures import SIGNATURES, literals
from tests.cases.accuracy import cases
from tests.trickle import Trickle

_SEEDS = [case.log for case in cases([Path(__file__).parent / "cases"])]
_LINES = [row.example.encode() for row in SIGNATURES]
_WORDS = [
    *literals(),
    *(row.example.format("").encode() for row in PREFIXES),
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\x1b[31m",
    b"\xe2\x80\xae",
    b'{"log": "',
    b'"}',
    b"{" * 40,
    b"[" * 2000,
    b"==> ",
    b" <==\n",
    b"Traceback (most recent call last):\n",
    b"Root Cause (first observed failure):\n",
    b"9" * 400,
    b"-" * 300,
    b"(",
    b")",
    b"\\n",
    b"\\",
    b" " * 5000,
]

Mutation = Callable[[random.Random, bytearray], None]


def _cut(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    del data[at : at + rng.randrange(2000)]


def _insert(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(_WORDS) * rng.choice((1, 1, 1, 3))


def _line(rng: random.Random, data: bytearray) -> None:
    at = data.find(b"\n", rng.randrange(len(data) + 1)) + 1
    prefix = rng.choice(PREFIXES).example.encode()
    data[at:at] = prefix.replace(b"{}", rng.choice(_LINES)) + b"\n"


def _noise(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.randrange(1, 30)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)


def _splice(rng: random.Random, data: bytearray) -> None:
    other = rng.choice(_SEEDS)
    start = rng.randrange(len(other) + 1)
    at = rng.randrange(len(data) + 1)
    data[at:at] = other[start : start + rng.randrange(3000)]


def _join(rng: random.Random, data: bytearray) -> None:
    data[:] = data.replace(
        b"\n", rng.choice((b" ", b"\\n", b"\r", b"", b"\n\n")), rng.randrange(99)
    )


def _shuffle(rng: random.Random, data: bytearray) -> None:
    lines = bytes(data).split(b"\n")
    rng.shuffle(lines)
    data[:] = b"\n".join(lines)


_MUTATIONS: tuple[Mutation, ...] = (_cut, _insert, _line, _noise, _splice, _join, _shuffle)


def mutated(rng: random.Random) -> bytes:
    """Return a known log after a few random changes."""
    data = bytearray(rng.choice(_SEEDS))
    for _ in range(rng.choice((1, 2, 3, 5, 8, 20))):
        rng.choice(_MUTATIONS)(rng, data)
    return bytes(data[:200_000])


def complaint(data: bytes, rng: random.Random) -> str | None:
    """Return what is wrong with the answer to this input, or None."""
    try:
        found = diagnose_bytes(data)
        DiagnosisV1.model_validate_json(found.to_json())
        sizes = [rng.randrange(1, 4000) for _ in range(5)]
        split = diagnose([Source(name=None, open=lambda: nullcontext(Trickle(data, sizes)))])
    except Exception:  # noqa: BLE001 - any is a find
        return traceback.format_exc()
    if found != split:
        return f"split {sizes} changes {found.cause} to {split.cause}"
    if found.restart_may_help != (found.cause == "resolver_failed"):
        return f"{found.cause} may be helped by a restart"
    if found.log.bytes != len(data):
        return f"{found.log.bytes} bytes counted, {len(data)} given"
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    if found.log.lines != lines:
        return f"{found.log.lines} lines counted, {lines} given"
    return None


def main() -> int:
    """Fuzz for so many seconds (600); return 1 where something was found."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns()
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    slowest, runs, finds = 0.0, 0, 0
    print(f"seed {seed}")
    while time.monotonic() < end:
        data = mutated(rng)
        began = time.process_time()
        wrong = complaint(data, rng)
        took = (time.process_time() - began) / (len(data) / 1e6 + 0.05)
        if took > slowest:
            slowest = took
            Path("fuzz-slowest.log").write_bytes(data)
        runs += 1
        if wrong is not None:
            finds += 1
            print(f"FIND {finds}: {wrong}\n{data[:3000]!r}\n")
            Path(f"fuzz-find-{finds}.log").write_bytes(data)
        if sys.stderr.isatty() and runs % 50 == 0:
            print(f"\r{runs} runs, {finds} finds", end="", file=sys.stderr)
    print(
        f"{runs} runs in {seconds:.0f} s, {finds} finds, slowest {slowest:.2f} s a MB (three looks)"
    )
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
