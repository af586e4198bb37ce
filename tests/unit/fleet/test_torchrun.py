"""A static torchrun keeps the order of its hosts; an elastic one never does."""

from __future__ import annotations

import pytest

from bot.errors import PlacementError
from bot.fleet.placement import Known
from bot.fleet.torchrun import Torchrun, place, read_command

HOSTS = tuple(f"node-{n}" for n in range(4))
STATIC = Torchrun(nnodes=(4, 4), nproc_per_node=8, node_rank="$SLURM_NODEID")


def test_a_static_launch_in_node_order_is_known() -> None:
    """SLURM_NODEID numbers the nodes as the node list does, so rank 17 is on the third node."""
    placement = place(STATIC, HOSTS)

    rank = placement.of(17)
    assert rank is not None
    assert (rank.host, rank.local_rank, rank.known) == ("node-2", 1, Known.LAUNCH)
    assert len(placement.ranks) == 32
    assert placement.weakest is Known.LAUNCH


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (Torchrun(nnodes=(4, 4), nproc_per_node=8, rdzv_backend="c10d"), "c10d rendezvous"),
        (Torchrun(nnodes=(4, 4), nproc_per_node=8, rdzv_backend="etcd-v2"), "etcd-v2 rendezvous"),
        (Torchrun(nnodes=(2, 4), nproc_per_node=8, node_rank="$SLURM_NODEID"), "order of its own"),
        (Torchrun(nnodes=(2, 2), nproc_per_node=8, node_rank="$SLURM_NODEID"), "expects 2 nodes"),
        (Torchrun(nnodes=(4, 4), nproc_per_node=8, node_rank="$NODE_RANK"), "NODE_RANK"),
        (Torchrun(nnodes=(4, 4), nproc_per_node=8, node_rank="0"), "--node-rank is 0"),
        (Torchrun(nnodes=(4, 4), nproc_per_node=8), "no --node-rank"),
    ],
)
def test_every_doubt_makes_a_guess_and_is_said(command: Torchrun, why: str) -> None:
    """Order is never assumed: an elastic rendezvous numbers the nodes as they arrive."""
    placement = place(command, HOSTS)

    assert placement.weakest is Known.GUESS
    assert why in placement.notes[0]


def test_one_host_has_all_ranks_whatever_the_rendezvous() -> None:
    """With a single host no order can be wrong."""
    elastic = Torchrun(nnodes=(1, 1), nproc_per_node=8, rdzv_backend="c10d")

    assert place(elastic, HOSTS[:1]).weakest is Known.LAUNCH


def test_ranks_a_host_must_be_known() -> None:
    """`--nproc-per-node=gpu` needs somebody who counted the GPUs."""
    counted_by_torchrun = Torchrun(nnodes=(4, 4), node_rank="$SLURM_NODEID")

    assert len(place(counted_by_torchrun, HOSTS, nproc_per_node=8).ranks) == 32
    with pytest.raises(PlacementError, match="how many ranks"):
        place(counted_by_torchrun, HOSTS)
    with pytest.raises(PlacementError, match="the hosts"):
        place(STATIC, ())


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("torchrun --nnodes=4 --nproc-per-node=8 --node-rank=$SLURM_NODEID train.py", STATIC),
        ("torchrun --nnodes 4 --nproc_per_node 8 --node_rank $SLURM_NODEID train.py", STATIC),
        (
            (
                "srun python -m torch.distributed.run \\\n --nnodes=4 \\\n --nproc_per_node=8 \\\n"
                "  --node_rank=$SLURM_NODEID train.py --nnodes 99"
            ),
            STATIC,
        ),
        (
            "srun bash -c 'torchrun --nnodes=4 --nproc-per-node=8 --node-rank=$SLURM_NODEID t.py'",
            STATIC,
        ),
        (
            'LAUNCHER="torchrun --nnodes=4 --nproc-per-node=8 --node-rank=$SLURM_NODEID"',
            STATIC,
        ),
        (
            (
                "/opt/venv/bin/torchrun -r 3 --nnodes=4 --tee 3 --nproc-per-node=8 "
                "--node-rank=$SLURM_NODEID -m pkg.train"
            ),
            STATIC,
        ),
        (
            "torchrun --nnodes=1:4 --nproc-per-node=gpu --rdzv-backend=C10d train.py",
            Torchrun(nnodes=(1, 4), rdzv_backend="c10d"),
        ),
        (
            "torchrun --standalone --nproc-per-node=8 train.py",
            Torchrun(nnodes=(1, 1), nproc_per_node=8, rdzv_backend="c10d"),
        ),
        (
            "torchrun --nnodes=$SLURM_NNODES --nproc-per-node=8 train.py",
            Torchrun(nproc_per_node=8),
        ),
        ("torchrun train.py", Torchrun(nnodes=(1, 1), nproc_per_node=1)),
    ],
)
def test_the_command_is_read_as_written(script: str, expected: Torchrun) -> None:
    """Dashes or underscores, continued lines, wrappers and options of the script itself."""
    assert read_command(f"#!/bin/bash\n# torchrun --nnodes=9\n{script}\n") == expected


@pytest.mark.parametrize(
    "script",
    [
        "which torchrun\ntorchrun --nnodes=2 a.py",
        "command -v torchrun >/dev/null || exit 1\n$(which torchrun) --nnodes=2 a.py",
        'echo "starting torchrun"\ntorchrun --nnodes=2 a.py >out 2>&1',
    ],
)
def test_who_only_looks_for_torchrun_does_not_start_it(script: str) -> None:
    """Scripts check for the program before they use it."""
    assert read_command(script) == Torchrun(nnodes=(2, 2), nproc_per_node=1)


def test_a_script_without_torchrun_says_nothing() -> None:
    """Other launchers are other people's."""
    assert read_command("srun python train.py") is None


def test_two_different_commands_are_not_picked_from() -> None:
    """A script that starts torchrun in two ways needs a person."""
    with pytest.raises(PlacementError, match="more than one way"):
        read_command("torchrun --nnodes=2 a.py\ntorchrun --nnodes=4 a.py\n")

    same = "torchrun --nnodes=2 a.py\n"
    assert read_command(same * 2) == read_command(same)
