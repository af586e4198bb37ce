"""Make the lines that NCCL writes at INFO while its communicators come up.

They start with ``host:pid:tid [gpu]``, where host is the machine that logs (NCCL, misc/utils.cc).
"""

from __future__ import annotations

from random import Random

from tests.benchmarks.job import RANKS_PER_HOST, WORLD_SIZE, Line, address, host

_HCAS = " ".join(f"[{index}]mlx5_{index}:1/IB" for index in range(RANKS_PER_HOST))


def _message(rng: Random, rank: int, text: str) -> str:
    pid = 40000 + rank
    return f"{host(rank)}:{pid}:{pid + rng.randrange(300, 900)} [{rank % 8}] NCCL INFO {text}"


def _channel(rng: Random, rank: int, _step: int, _second: int) -> str:
    peer = (rank + 1) % WORLD_SIZE
    near = peer // RANKS_PER_HOST == rank // RANKS_PER_HOST
    way = "via P2P/CUMEM/read" if near else f"[send] via NET/IB/{rng.randrange(8)}/GDRDMA"
    hop = f"{rank}[{rank % 8}] -> {peer}[{peer % 8}]"
    return _message(rng, rank, f"Channel {rng.randrange(16):02}/0 : {hop} {way}")


def _ring(rng: Random, rank: int, _step: int, _second: int) -> str:
    before, after = (rank - 1) % WORLD_SIZE, (rank + 1) % WORLD_SIZE
    return _message(rng, rank, f"Ring {rng.randrange(16):02} : {before} -> {rank} -> {after}")


def _trees(rng: Random, rank: int, _step: int, _second: int) -> str:
    up, down = (rank - 1) % WORLD_SIZE, (rank + 1) % WORLD_SIZE
    trees = " ".join(f"[{index}] {down}/-1/-1->{rank}->{up}" for index in range(8))
    return _message(rng, rank, f"Trees {trees}")


def _bootstrap(rng: Random, rank: int, _step: int, _second: int) -> str:
    return _message(rng, rank, f"Bootstrap : Using eth0:{address(rank)}<0>")


def _net_ib(rng: Random, rank: int, _step: int, _second: int) -> str:
    return _message(rng, rank, f"NET/IB : Using {_HCAS} [RO]; OOB eth0:{address(rank)}<0>")


def _init(rng: Random, rank: int, _step: int, _second: int) -> str:
    end = rng.choice(("START", "COMPLETE"))
    return _message(
        rng,
        rank,
        f"comm 0x{rng.getrandbits(46):x} rank {rank} nranks {WORLD_SIZE} cudaDev {rank % 8} "
        f"nvmlDev {rank % 8} busId {rank % 8}b000 commId 0x{rng.getrandbits(62):x} - Init {end}",
    )


def _fixed(rng: Random, rank: int, _step: int, _second: int) -> str:
    return _message(
        rng,
        rank,
        rng.choice(
            (
                "Connected all rings",
                "Connected all trees",
                "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
                "NCCL_IB_DISABLE set by environment to 0.",
                "NCCL_SOCKET_IFNAME set by environment to eth0",
                "Setting affinity for GPU 4 to ffff,ffffffff,00000000",
                "threadThresholds 8/8/64 | 2048/8/64 | 512 | 512",
                "16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels",
                "DMA-BUF is available on GPU device 3",
                "P2P Chunksize set to 131072",
                "Using network IB",
                "Using non-device net plugin version 0",
                "cudaDriverVersion 12040",
            )
        ),
    )


#: NCCL's chatter, with how often each kind comes: mostly channels, as a real start has it.
NCCL_INFO: tuple[tuple[Line, int], ...] = (
    (_channel, 60),
    (_ring, 4),
    (_trees, 2),
    (_bootstrap, 1),
    (_net_ib, 1),
    (_init, 2),
    (_fixed, 14),
)
