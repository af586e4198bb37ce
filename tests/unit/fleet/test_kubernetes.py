"""Pods carry the number that their controller gave them, and ranks follow it."""

from __future__ import annotations

import pytest

from bot.errors import PlacementError
from bot.fleet.kubernetes import Pod, names_of, place_pods
from bot.fleet.placement import Known, Placement
from bot.fleet.settle import settle

REPLICA = "training.kubeflow.org/replica-"
COMPLETION = "batch.kubernetes.io/job-completion-index"
JOBSET = "jobset.sigs.k8s.io/"


def replica(role: str, index: int, node: str | None) -> Pod:
    """Return a pod of a PyTorchJob."""
    labels = {f"{REPLICA}type": role, f"{REPLICA}index": str(index)}
    return Pod(name=f"llm-{role}-{index}", node=node, labels=labels)


def indexed(index: int, *, job: int | None = None, node: str = "") -> Pod:
    """Return a pod of an indexed job, perhaps one of a JobSet."""
    labels = {} if job is None else {f"{JOBSET}job-global-index": str(job)}
    return Pod(
        name=f"llm-{job or 0}-{index}-x7k2p",
        node=node or f"vm-{(job or 0) * 2 + index}",
        labels=labels,
        annotations={COMPLETION: str(index)},
    )


def hosts(placement: Placement) -> list[tuple[int, str]]:
    """Return rank and host of each placed rank."""
    return [(placed.rank, placed.host) for placed in placement.ranks]


def test_the_master_comes_before_the_workers() -> None:
    """In a PyTorchJob worker 0 is the second pod."""
    pods = [
        replica("worker", 0, "vm-b"),
        replica("master", 0, "vm-a"),
        replica("worker", 1, "vm-c"),
    ]

    placement = place_pods(pods, 2)

    assert hosts(placement) == [
        (0, "vm-a"),
        (1, "vm-a"),
        (2, "vm-b"),
        (3, "vm-b"),
        (4, "vm-c"),
        (5, "vm-c"),
    ]
    assert placement.weakest is Known.LAUNCH
    assert placement.ranks[2].pod == "llm-worker-0"


def test_without_a_master_in_sight_the_numbers_may_be_off_by_one() -> None:
    """The master's pod may be deleted already, or the job may never have had one."""
    placement = place_pods([replica("worker", 0, "vm-b"), replica("worker", 1, "vm-c")], 1)

    assert placement.weakest is Known.GUESS
    assert "no master pod" in placement.notes[0]


def test_a_missing_pod_shifts_nobody() -> None:
    """A pod keeps its own number when one before it is gone."""
    placement = place_pods([indexed(0), indexed(3)], 2)

    assert hosts(placement) == [(0, "vm-0"), (1, "vm-0"), (6, "vm-3"), (7, "vm-3")]
    assert placement.weakest is Known.LAUNCH
    assert placement.hosts == ("vm-0", "", "", "vm-3")


def test_numbers_sort_as_numbers() -> None:
    """Pod 10 comes after pod 9."""
    placement = place_pods([indexed(index) for index in (10, 9, 2)], 1)

    assert [placed.rank for placed in placement.ranks] == [2, 9, 10]


def test_a_jobset_of_one_job_is_its_indexed_job() -> None:
    """This is also the shape of a TrainJob's nodes."""
    assert place_pods([indexed(0, job=0), indexed(1, job=0)], 8).weakest is Known.LAUNCH


def test_a_jobset_of_several_jobs_is_a_guess() -> None:
    """How ranks run through several jobs is up to whoever wrote the JobSet."""
    pods = [indexed(1, job=1), indexed(0, job=0), indexed(1, job=0), indexed(0, job=1)]

    placement = place_pods(pods, 1)

    assert hosts(placement) == [(0, "vm-0"), (1, "vm-1"), (2, "vm-2"), (3, "vm-3")]
    assert placement.weakest is Known.GUESS


@pytest.mark.parametrize(
    "labels",
    [
        {"pytorch-replica-type": "master", "pytorch-replica-index": "0"},
        {"replica-type": "master", "replica-index": "0"},
        {"volcano.sh/task-spec": "master", "volcano.sh/task-index": "0"},
        {"apps.kubernetes.io/pod-index": "0"},
        {COMPLETION: "0"},
    ],
)
def test_each_controllers_label_is_known(labels: dict[str, str]) -> None:
    """Older operators, Volcano, StatefulSets and plain indexed jobs all number their pods."""
    placement = place_pods([Pod(name="llm-7", node="vm-a", labels=labels)], 1)

    assert hosts(placement) == [(0, "vm-a")]
    assert placement.weakest is Known.LAUNCH


def test_a_number_in_the_name_is_a_guess() -> None:
    """Names follow a convention that nobody enforces."""
    placement = place_pods([Pod(name="llm-1", node="vm-b"), Pod(name="llm-0", node="vm-a")], 1)

    assert hosts(placement) == [(0, "vm-a"), (1, "vm-b")]
    assert placement.weakest is Known.GUESS


def test_an_elastic_job_is_a_guess() -> None:
    """Pods that meet by c10d or etcd are numbered there, whatever their labels say."""
    assert place_pods([indexed(0), indexed(1)], 8, elastic=True).weakest is Known.GUESS
    assert place_pods([indexed(0)], 8, elastic=True).weakest is Known.LAUNCH


def test_a_pod_without_a_node_is_said() -> None:
    """Ranks of a pod that still waits for a node run nowhere."""
    placement = place_pods([replica("master", 0, "vm-a"), replica("worker", 0, None)], 1)

    assert hosts(placement) == [(0, "vm-a")]
    assert placement.notes == ("no node yet for 1 pods, such as llm-worker-0",)


@pytest.mark.parametrize(
    ("pods", "each", "message"),
    [
        ([indexed(0), indexed(0, node="vm-z")], 1, "same number"),
        ([Pod(name="debug", node="vm-a")], 1, "no index label"),
        ([indexed(0)], None, "how many ranks"),
        ([indexed(999_999_999)], 1, "has the number"),
    ],
)
def test_what_cannot_be_numbered_is_refused(
    pods: list[Pod], each: int | None, message: str
) -> None:
    """Two pods of one number (a restart caught half-way) and strangers are never picked from."""
    with pytest.raises(PlacementError, match=message):
        place_pods(pods, each)


def test_a_log_that_names_pods_is_placed_on_nodes() -> None:
    """Pod names in a log lead to the node, and nodes lead to the VM."""
    pods = [replica("master", 0, "vm-a"), replica("worker", 0, "vm-b")]

    placement = settle(place_pods(pods, 1), [(1, "llm-worker-0")], names=names_of(pods))

    rank = placement.of(1)
    assert rank is not None
    assert (rank.host, rank.known, rank.pod) == ("vm-b", Known.LOG, "llm-worker-0")
    assert not placement.disagreements
