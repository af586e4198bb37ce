"""Steps of Slurm are placed as surely as what is known of them allows."""

from __future__ import annotations

import pytest

from bot.errors import PlacementError
from bot.fleet.distribution import Distribution, Order
from bot.fleet.placement import Known, Placement
from bot.fleet.slurm import SlurmJob, SlurmStep, jobs_of, place_het, place_step

BLOCK = Distribution(order=Order.BLOCK)
CYCLIC = Distribution(order=Order.CYCLIC)
NODES = ("node-0", "node-1", "node-2", "node-3")


def hosts(placement: Placement) -> list[str]:
    """Return the host of each rank in rank order."""
    assert [placed.rank for placed in placement.ranks] == list(range(len(placement.ranks)))
    return [placed.host for placed in placement.ranks]


def test_a_step_that_is_fully_told_is_known() -> None:
    """Nodes, counts and distribution of the step leave no doubt."""
    placement = place_step(SlurmStep(nodes=NODES[:2], tasks_per_node=(2, 1), distribution=CYCLIC))

    assert hosts(placement) == ["node-0", "node-1", "node-0"]
    assert placement.weakest is Known.LAUNCH
    assert [placed.local_rank for placed in placement.ranks] == [0, 0, 1]
    assert [placed.node_rank for placed in placement.ranks] == [0, 1, 0]
    assert not placement.notes


def test_an_unknown_distribution_makes_a_guess_and_says_so() -> None:
    """Slurm shows the distribution only while the step runs; block is then an assumption."""
    placement = place_step(SlurmStep(nodes=NODES, tasks_per_node=(8,) * 4))

    assert placement.weakest is Known.GUESS
    assert "distribution is not known" in placement.notes[0]
    rank = placement.of(17)
    assert rank is not None
    assert (rank.host, rank.local_rank) == ("node-2", 1)


@pytest.mark.parametrize(
    "step",
    [
        SlurmStep(nodes=NODES[:1], tasks_per_node=(8,)),
        SlurmStep(nodes=NODES, tasks_per_node=(1,) * 4),
        SlurmStep(nodes=NODES, ntasks=4),
        SlurmStep(nodes=NODES, ntasks_per_node=1),
    ],
)
def test_a_distribution_that_changes_nothing_need_not_be_known(step: SlurmStep) -> None:
    """On one node, or with one task a node (a torchrun each), every rule gives the same."""
    assert place_step(step).weakest is Known.LAUNCH


def test_tasks_per_node_give_the_counts() -> None:
    """`--ntasks-per-node` over all nodes is exact where `--ntasks` does not cut it short."""
    exact = place_step(SlurmStep(nodes=NODES, ntasks_per_node=8, distribution=BLOCK))
    cut = place_step(SlurmStep(nodes=NODES, ntasks_per_node=8, ntasks=30, distribution=BLOCK))

    assert exact.weakest is Known.LAUNCH
    assert len(exact.ranks) == 32
    assert cut.weakest is Known.GUESS
    assert [len(cut.on(node)) for node in NODES] == [8, 8, 7, 7]


def test_a_step_inside_a_larger_allocation_is_a_guess_without_its_own_nodes() -> None:
    """`srun -N2` in a job of four nodes may run on any two of them."""
    step = SlurmStep(nodes=NODES, nodes_of_job=True, tasks_per_node=(1,) * 4, distribution=BLOCK)

    placement = place_step(step)

    assert placement.weakest is Known.GUESS
    assert "all nodes of the job" in placement.notes[0]


def test_a_step_inside_a_larger_allocation_is_placed_on_its_own_nodes() -> None:
    """With the step's node list, task 0 is on the step's first node, not on the job's."""
    step = SlurmStep(nodes=NODES[2:], tasks_per_node=(2, 2), distribution=BLOCK)

    assert hosts(place_step(step)) == ["node-2", "node-2", "node-3", "node-3"]


def test_counts_of_the_job_do_not_fit_the_nodes_of_the_step() -> None:
    """Lists from different levels are not mixed."""
    with pytest.raises(PlacementError, match="one list is the job's"):
        place_step(SlurmStep(nodes=NODES[2:], tasks_per_node=(2, 2, 2, 2)))
    with pytest.raises(PlacementError, match="4 tasks over the nodes, but 8"):
        place_step(SlurmStep(nodes=NODES[2:], tasks_per_node=(2, 2), ntasks=8))


@pytest.mark.parametrize("step", [SlurmStep(nodes=()), SlurmStep(nodes=NODES)])
def test_too_little_is_an_error(step: SlurmStep) -> None:
    """A pending job has no nodes, and nodes without a number of tasks place nothing."""
    with pytest.raises(PlacementError):
        place_step(step)


def test_the_host_file_overrides_the_distribution() -> None:
    """SLURM_HOSTFILE lists the node of each task and wins over any other rule (srun(1))."""
    step = SlurmStep(
        nodes=NODES[:2],
        hostfile=("node-1", "node-0", "node-1", "node-1"),
        distribution=CYCLIC,
        ntasks=3,
    )

    placement = place_step(step)

    assert hosts(placement) == ["node-1", "node-0", "node-1"]
    assert placement.weakest is Known.LAUNCH


@pytest.mark.parametrize(
    "step",
    [
        SlurmStep(nodes=NODES[:2], hostfile=("node-7",)),
        SlurmStep(nodes=NODES[:2], hostfile=("node-1",), ntasks=2),
    ],
)
def test_a_host_file_of_another_job_is_refused(step: SlurmStep) -> None:
    """Hosts that the job does not have, or too few lines, mean that the file is not this step's."""
    with pytest.raises(PlacementError):
        place_step(step)


def test_arbitrary_without_its_file_is_a_guess() -> None:
    """Without the list of hosts nothing tells the order; srun falls back to block."""
    arbitrary = Distribution(order=Order.ARBITRARY)
    step = SlurmStep(nodes=NODES[:2], tasks_per_node=(1, 1), distribution=arbitrary)

    assert place_step(step).weakest is Known.GUESS


def test_ranks_count_on_through_a_heterogeneous_step() -> None:
    """The second component's first task is the rank after the first component's last."""
    first = SlurmStep(nodes=("cpu-0",), tasks_per_node=(2,))
    second = SlurmStep(nodes=NODES[:2], tasks_per_node=(2, 2), distribution=CYCLIC)

    placement = place_het([first, second])

    assert hosts(placement) == ["cpu-0", "cpu-0", "node-0", "node-1", "node-0", "node-1"]
    assert placement.hosts == ("cpu-0", "node-0", "node-1")
    assert [placed.node_rank for placed in placement.ranks] == [0, 0, 1, 2, 1, 2]
    assert placement.weakest is Known.LAUNCH


STEP = SlurmStep(nodes=NODES[:1], ntasks=1)
JOBS = [
    SlurmJob(job_id=100, step=STEP),
    SlurmJob(job_id=201, step=STEP, array_job_id=203, array_task_id=1),
    SlurmJob(job_id=202, step=STEP, array_job_id=203, array_task_id=7),
    SlurmJob(job_id=203, step=STEP, array_job_id=203, array_task_id=9),
    SlurmJob(job_id=301, step=STEP, het_job_id=300, het_offset=1),
    SlurmJob(job_id=300, step=STEP, het_job_id=300, het_offset=0),
]


@pytest.mark.parametrize(
    ("job_id", "array_task", "het", "found"),
    [
        (100, None, None, [100]),
        (203, 7, None, [202]),
        (203, 9, None, [203]),
        (202, None, None, [202]),
        (300, None, None, [300, 301]),
        (300, None, 1, [301]),
        (301, None, None, [301]),
    ],
)
def test_which_jobs_an_id_means(
    job_id: int, array_task: int | None, het: int | None, found: list[int]
) -> None:
    """A task or component is found by either number; a het ID means all components in order."""
    jobs = jobs_of(JOBS, job_id, array_task=array_task, het=het)

    assert [job.job_id for job in jobs] == found


@pytest.mark.parametrize(
    ("job_id", "array_task", "message"),
    [
        (203, None, "203_1, 203_7, 203_9"),
        (999, None, "no job 999"),
        (203, 2, "no job 203_2"),
    ],
)
def test_an_id_that_is_not_one_job_is_refused(
    job_id: int, array_task: int | None, message: str
) -> None:
    """Each task of an array is a job of its own, so the array's ID alone places nothing."""
    with pytest.raises(PlacementError, match=message):
        jobs_of(JOBS, job_id, array_task=array_task)


def test_an_array_is_not_its_last_visible_task() -> None:
    """When the controller has forgotten the other tasks, the array's ID still means the array."""
    with pytest.raises(PlacementError, match="is an array"):
        jobs_of([JOBS[1]], 203)


def test_two_clusters_with_one_id_are_told_apart_by_a_person() -> None:
    """The same number twice is never a pick."""
    with pytest.raises(PlacementError, match="name the cluster"):
        jobs_of([JOBS[0], JOBS[0]], 100)
