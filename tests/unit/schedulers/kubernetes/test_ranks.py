"""Prove how many ranks a pod is said to have, and by what."""

from __future__ import annotations

import pytest

from bot.schedulers.kubernetes.ranks import Ranks, ranks_of

GPUS = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}


def env(**variables: str) -> dict[str, object]:
    """Return the variables of a container."""
    return {"env": [{"name": key, "value": said} for key, said in variables.items()]}


@pytest.mark.parametrize(
    ("container", "spec", "told"),
    [
        ({"command": ["torchrun", "--nproc-per-node=4", "t.py"]}, {}, Ranks(per_pod=4)),
        (
            {"command": ["torchrun", "--nproc_per_node", "gpu", "t.py"], **GPUS},
            {},
            Ranks(per_pod=8),
        ),
        ({"command": ["torchrun", "--nproc-per-node=gpu", "t.py"]}, {}, Ranks()),
        ({"command": ["torchrun", "t.py"], **env(PET_NPROC_PER_NODE="8")}, {}, Ranks(per_pod=8)),
        (
            {"command": ["torchrun", "--nproc-per-node=2", "t.py"], **env(PET_NPROC_PER_NODE="8")},
            {},
            Ranks(per_pod=2),
        ),
        (
            {"command": ["torchrun", "t.py"], **env(PET_NPROC_PER_NODE="auto"), **GPUS},
            {},
            Ranks(per_pod=8),
        ),
        ({"command": ["torchrun", "t.py"], **GPUS}, {}, Ranks(per_pod=1)),
        ({"command": ["torchrun", "t.py"]}, {"nprocPerNode": "4"}, Ranks(per_pod=4)),
        ({"command": ["torchrun", "t.py"]}, {"trainer": {"numProcPerNode": 4}}, Ranks(per_pod=4)),
        ({"command": ["python", "t.py"], **GPUS}, {}, Ranks(per_pod=1)),
        ({"command": ["/usr/bin/python3.11", "t.py"]}, {}, Ranks(per_pod=1)),
        (
            {"command": ["bash", "-c"], "args": ["cd /w && torchrun --nproc-per-node 8 t.py"]},
            {},
            Ranks(per_pod=8),
        ),
        (
            {"command": ["torchrun", "--rdzv-backend=c10d", "--nproc-per-node=8", "t.py"]},
            {},
            Ranks(per_pod=8, elastic=True),
        ),
        (
            {
                "command": ["torchrun", "t.py"],
                **env(PET_RDZV_BACKEND="c10d", PET_NPROC_PER_NODE="2"),
            },
            {},
            Ranks(per_pod=2, elastic=True),
        ),
        ({"command": ["./start"]}, {}, Ranks()),
        ({"command": ["torchrun", "t.py"], **env(PET_NPROC_PER_NODE="999999")}, {}, Ranks()),
    ],
)
def test_what_tells_the_number(
    container: dict[str, object], spec: dict[str, object], told: Ranks
) -> None:
    """The option wins over the variable, that over nothing; `auto` is the pod's accelerators."""
    pod = {"spec": {"containers": [{"name": "pytorch", **container}]}}

    assert ranks_of({"spec": spec}, [pod]) == told


def test_a_script_with_accelerators_is_a_guess() -> None:
    """Nobody sees what a script starts; one rank an accelerator is likely, and said to be."""
    pod = {"spec": {"containers": [{"name": "a", "command": ["bash", "run.sh"], **GPUS}]}}

    told = ranks_of({}, [pod])

    assert told.per_pod == 8
    assert "likely" in told.doubt


def test_pods_that_differ_have_no_one_number() -> None:
    """A launcher beside workers, or workers of two sizes, are not counted with one number."""
    one, other = (
        {
            "spec": {
                "containers": [{"name": "a", "command": ["torchrun", f"--nproc-per-node={n}", "t"]}]
            }
        }
        for n in (2, 4)
    )

    assert ranks_of({}, [one, other]).per_pod is None
    assert ranks_of({}, []) == Ranks()
