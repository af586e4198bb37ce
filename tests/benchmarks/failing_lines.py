"""Make the lines of start-up failures: those strewn over a log, and its fatal last ones.

The wording and the line numbers are those of PyTorch 2.13 (torch/csrc/distributed/c10d/socket.cpp
and TCPStore.cpp), of NCCL 2.24 and of srun 22.05.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.benchmarks.job import (
    MASTER,
    ONCE_RANK,
    PORT,
    RANKS_PER_HOST,
    SICK_RANKS,
    SILENT_RANK,
    TIMEOUT_SECONDS,
    WORLD_SIZE,
    Line,
    address,
    c10_stamp,
    host,
    labelled,
)

_MS = TIMEOUT_SECONDS * 1000
_MINUTES = TIMEOUT_SECONDS // 60
#: From this many lines on an ending shows what every rank says when it gives up.
_WHOLE_ENDING = 1700
_TIMED_OUT = (
    f"The client socket has timed out after {_MS}ms while trying to connect to ({MASTER}, {PORT})."
)
_LIB = "/opt/venv/lib/python3.11/site-packages/torch"
_TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/train/pretrain.py", line 41, in <module>',
    '    dist.init_process_group("nccl", timeout=timedelta(minutes=30))',
)


def lookup(rng: Random, _rank: int, _step: int, second: int) -> str:
    """Make a failing forward look-up of the master's name (EAI_AGAIN)."""
    return (
        f"[W{c10_stamp(rng, second)} socket.cpp:764] [c10d] The IPv6 network addresses of "
        f"({MASTER}, {PORT}) cannot be retrieved (gai error: -3 - Temporary failure in name "
        "resolution)."
    )


def _reverse_lookup(rng: Random, _rank: int, _step: int, second: int) -> str:
    return (
        f"[W{c10_stamp(rng, second)} socket.cpp:207] [c10d] The hostname of the client socket "
        "cannot be retrieved. err=-3"
    )


def _repeated(rng: Random, rank: int, step: int, second: int) -> str:
    line = _reverse_lookup(rng, rank, step, second)
    worker = f"(RayTrainWorker pid={50000 + rank}, ip={address(rank)})"
    return f"{worker} {line} [repeated {rng.randrange(2, 99)}x across cluster]"


def _wait_for_input(rng: Random, rank: int, _step: int, second: int) -> str:
    return (
        f"[W{c10_stamp(rng, second)} socket.cpp:469] [c10d] waitForInput: poll for socket "
        f"SocketImpl(fd={rng.randrange(3, 90)}, addr=[::ffff:{address(rank)}]:"
        f"{rng.randrange(32768, 61000)}, remote=[::ffff:{address(0)}]:{PORT}) returned 0, likely a "
        "timeout"
    )


def _store_retry(rng: Random, _rank: int, _step: int, second: int) -> str:
    return (
        f"[W{c10_stamp(rng, second)} TCPStore.cpp:340] [c10d] TCP client failed to connect/validate"
        f" to host {MASTER}:{PORT} - retrying (try=0, timeout={_MS}ms, "
        f"delay={rng.randrange(900, 40000)}ms): {_TIMED_OUT}"
    )


def _no_ipv6(rng: Random, _rank: int, _step: int, second: int) -> str:
    return (
        f"[W{c10_stamp(rng, second)} socket.cpp:764] [c10d] The client socket cannot be initialized"
        f" to connect to [{MASTER}]:{PORT} (errno: 97 - Address family not supported by protocol)."
    )


def _nccl_retry(rng: Random, rank: int, _step: int, _second: int) -> str:
    pid = 40000 + rank
    return (
        f"{host(rank)}:{pid}:{pid + 412} [{rank % 8}] NCCL INFO socketPollConnect: connect returned"
        f" Connection refused, retrying ({rng.randrange(1, 9)}/34) after sleep for 300 msec"
    )


#: Failures of the sick ranks that later pass, with how often each kind comes.
SICK_TROUBLE: tuple[tuple[Line, int], ...] = ((lookup, 9), (_store_retry, 1))
#: Failures of any rank that hurt nobody.
TROUBLE: tuple[tuple[Line, int], ...] = (
    (_reverse_lookup, 4),
    (_wait_for_input, 2),
    (_nccl_retry, 2),
    (_repeated, 2),
    (_no_ipv6, 1),
)
#: The same as long as there is no process group.
EARLY_TROUBLE: tuple[tuple[Line, int], ...] = ((_reverse_lookup, 1), (_no_ipv6, 1))


def _frames() -> Iterator[str]:
    yield (
        "Exception raised from throwTimeoutError at "
        "/pytorch/torch/csrc/distributed/c10d/socket.cpp:1030 (most recent call first):"
    )
    for number in range(9):
        yield (
            f"frame #{number}: <unknown function> + 0x{0x67E500D + number:x} "
            f"(0x7fe674fe50{number:02x} in {_LIB}/lib/libtorch_cpu.so)"
        )
    yield "<omitting python frames>"
    yield ""


def _sick_end(rng: Random) -> Iterator[str]:
    """Yield what a rank without an answer says when its time is over."""
    yield f"[E{c10_stamp(rng, 1)} socket.cpp:1028] [c10d] {_TIMED_OUT}"
    yield _store_retry(rng, 0, 0, 1)
    yield from _frames()
    yield lookup(rng, 0, 0, 9)
    yield f"[E{c10_stamp(rng, 9)} socket.cpp:1028] [c10d] {_TIMED_OUT}"
    yield (
        f"[E{c10_stamp(rng, 9)} TCPStore.cpp:328] [c10d] TCP client failed to connect/validate to "
        f"host {MASTER}:{PORT} - timed out (try=1, timeout={_MS}ms): {_TIMED_OUT}"
    )
    yield from _frames()
    yield from _TRACEBACK
    yield f"torch.distributed.DistNetworkError: {_TIMED_OUT}"


def _server_end(joined: int) -> Iterator[str]:
    yield from _TRACEBACK
    yield f'  File "{_LIB}/distributed/rendezvous.py", line 199, in _create_c10d_store'
    yield "    return TCPStore("
    yield (
        f"torch.distributed.DistStoreError: Timed out after {TIMEOUT_SECONDS + 1} seconds waiting "
        f"for clients. {joined}/{WORLD_SIZE} clients joined."
    )


def _waiting_end(rng: Random, rank: int) -> Iterator[str]:
    poll = _wait_for_input(rng, rank, 0, 2)
    yield poll
    yield poll.replace(" poll for socket", " socket").replace(
        "returned 0, likely a timeout", f"timed out after {_MS}ms"
    )
    yield from _TRACEBACK
    yield (
        f"torch.distributed.DistStoreError: wait timeout after {_MS}ms, keys: "
        "/default_pg/0//cuda//ncclUniqueId"
    )


def _interleaved(rng: Random, talks: dict[int, Iterator[str]]) -> Iterator[str]:
    """Mix what several ranks say; each keeps its own order."""
    waiting = {rank: list(lines)[::-1] for rank, lines in talks.items()}
    turns = [rank for rank, lines in waiting.items() for _ in lines]
    rng.shuffle(turns)
    for rank in turns:
        yield labelled(rank, waiting[rank].pop())


def _task_list(tasks: list[int]) -> str:
    """Fold task numbers as srun does: ``72-76,78-79``."""
    runs: list[list[int]] = []
    for task in tasks:
        if runs and runs[-1][-1] == task - 1:
            runs[-1].append(task)
        else:
            runs.append([task])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _exits(left_out: tuple[int, ...], apart: tuple[int, ...]) -> Iterator[str]:
    """Yield srun's report on the tasks of each machine; those set apart come last."""
    for first in range(0, WORLD_SIZE, RANKS_PER_HOST):
        block = range(first, first + RANKS_PER_HOST)
        tasks = _task_list([task for task in block if task not in (*left_out, *apart)])
        yield f"srun: error: {host(first)}: tasks {tasks}: Exited with exit code 1\n"
    for task in apart:
        yield f"srun: error: {host(task)}: task {task}: Exited with exit code 1\n"


_LAUNCH = labelled(
    0,
    f"[launch] starting {WORLD_SIZE} processes on {WORLD_SIZE // RANKS_PER_HOST} hosts, "
    f"MASTER_ADDR={MASTER} MASTER_PORT={PORT}",
)


def resolver_ending(rng: Random, total: int) -> list[tuple[int, str]]:
    """Make the last lines of a start that two ranks of one machine missed for want of a name.

    Returns ``total`` lines with their minute after the launch. What the time-outs leave is filled
    with failing look-ups. Below 1,700, only the lines on which the verdict rests are there.
    """
    joined = WORLD_SIZE - len(SICK_RANKS)
    server = [labelled(0, text) for text in _server_end(joined)]
    sick = {rank: _sick_end(rng) for rank in SICK_RANKS}
    exits = list(_exits((), SICK_RANKS))
    if total < _WHOLE_ENDING:
        server = server[-1:]
        sick = {rank: iter(list(lines)[-1:]) for rank, lines in sick.items()}
        exits = exits[-len(SICK_RANKS) :]
        talks = sick
    else:
        others = [rank for rank in range(1, WORLD_SIZE) if rank not in SICK_RANKS]
        talks = {rank: _waiting_end(rng, rank) for rank in others} | sick
    tail = [*server, *_interleaved(rng, talks), *exits]
    fill = total - len(tail) - 1
    asking = []
    for index in range(fill):
        rank = SICK_RANKS[index % len(SICK_RANKS)]
        minute, second = divmod(index * _MINUTES * 60 // fill, 60)
        asking.append((minute, labelled(rank, lookup(rng, rank, 0, second))))
    return [(0, _LAUNCH), *asking, *((_MINUTES, text) for text in tail)]


def silent_ending(rng: Random) -> list[tuple[int, str]]:
    """Make the last lines of a start that waited in vain for one rank; nothing says why.

    Returns the lines with their minute after the launch. Neither the silent rank nor the one
    that speaks once is in srun's report, so only the labels of all lines tell them apart.
    """
    left_out = (SILENT_RANK, ONCE_RANK)
    others = [rank for rank in range(1, WORLD_SIZE) if rank not in left_out]
    tail = [labelled(0, text) for text in _server_end(WORLD_SIZE - 1)]
    tail += _interleaved(rng, {rank: _waiting_end(rng, rank) for rank in others})
    tail += _exits(left_out, ())
    return [(0, _LAUNCH), *((_MINUTES, text) for text in tail)]
