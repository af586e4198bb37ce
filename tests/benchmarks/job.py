"""Describe the invented job whose log the benchmarks make: machines, ranks, addresses, clocks.

256 ranks run on 32 machines in blocks of eight, started by ``srun -l``, which labels each line
with the task number, padded to the width of the largest. Started that way a task is a rank.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

WORLD_SIZE = 256
RANKS_PER_HOST = 8
MASTER = "node-0.train.example"
PORT = 29500
TIMEOUT_SECONDS = 1800

#: The ranks that get no answer from the resolver of their machine in the shape ``mixed``.
SICK_RANKS = (64, 65)
#: The rank without any line in the shape ``silent``.
SILENT_RANK = 77
#: The rank that speaks exactly once in the shape ``silent``: whoever samples misses it.
ONCE_RANK = 201

# What changes from one piece of the log to the next; the generator puts the values in.
#: Leading digits of a step number; three more follow.
STEP = "\x01"
#: ``MMDD HH:MM`` as c10 writes it, the month without a leading zero.
C10_MINUTE = "\x02"
#: ``YYYY-MM-DD HH:MM``.
ISO_MINUTE = "\x03"

#: Makes one line, without label and end of line, out of chance, rank, step (0-999) and second.
Line = Callable[[Random, int, int, int], str]


def host(rank: int) -> str:
    """Name the machine of a rank, as NCCL and srun spell it."""
    return f"node-{rank // RANKS_PER_HOST}"


def address(rank: int) -> str:
    """Give the IPv4 address of the machine of a rank."""
    return f"10.20.0.{10 + rank // RANKS_PER_HOST}"


def labelled(rank: int, text: str) -> str:
    """Put the label of ``srun -l`` in front of one line."""
    return f"{rank:>3}: {text}\n"


def c10_stamp(rng: Random, second: int) -> str:
    """Give a c10 time stamp inside the current minute, with its nine digits."""
    return f"{C10_MINUTE}:{second:02}.{rng.randrange(10**9):09}"
