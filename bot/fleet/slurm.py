"""Where the tasks of a Slurm step run, from what Slurm says of the job and of the step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.errors import PlacementError
from bot.fleet.distribution import (
    MOST_TASKS,
    Distribution,
    Order,
    node_of_each_task,
    order_matters,
)
from bot.fleet.placement import Known, Placement, joined, laid_out


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmStep:
    """What is known of one `srun`, or of one component of a heterogeneous one."""

    #: nodes of the step in Slurm's order; those of the job where the step's are not known
    nodes: tuple[str, ...]
    #: the nodes are those of the job, and the step may run on some of them only
    nodes_of_job: bool = False
    #: tasks on each node (SLURM_STEP_TASKS_PER_NODE); the job's SLURM_TASKS_PER_NODE is a request
    tasks_per_node: tuple[int, ...] | None = None
    #: `--ntasks`
    ntasks: int | None = None
    #: `--ntasks-per-node`
    ntasks_per_node: int | None = None
    #: None where nobody told; Slurm shows it only while the step runs
    distribution: Distribution | None = None
    #: lines of SLURM_HOSTFILE, which overrides every other distribution
    hostfile: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmJob:
    """One job as the controller lists it: plain, one task of an array, or one het component."""

    job_id: int
    step: SlurmStep
    #: `48213` of `48213_7`, and the 7
    array_job_id: int | None = None
    array_task_id: int | None = None
    #: `48213` of `48213+1`, and the 1
    het_job_id: int | None = None
    het_offset: int | None = None


def place_step(step: SlurmStep) -> Placement:
    """Return where the tasks of a step run, and how surely.

    It is known by the *launch* when the step's own nodes, its tasks on each node and its
    distribution are told, or when the last makes no difference. Anything assumed makes it a
    *guess*, and a note says what was assumed. Raises PlacementError where the parts contradict
    each other.
    """
    if not step.nodes:
        raise PlacementError("Slurm names no nodes for this job: it has not started.")
    if step.hostfile:
        return _by_hostfile(step)
    assumed: list[str] = []
    counts = _counts(step, assumed)
    if step.nodes_of_job and len(step.nodes) > 1:
        assumed.append("the step is taken to run on all nodes of the job")
    distribution = step.distribution
    if distribution is None or distribution.order is Order.ARBITRARY:
        if distribution is not None or order_matters(counts):
            assumed.append("the distribution is not known and taken as block, Slurm's default")
        distribution = Distribution(order=Order.BLOCK)
    told = f"{distribution.order} distribution over the step's nodes"
    return laid_out(
        step.nodes,
        node_of_each_task(counts, distribution),
        known=Known.GUESS if assumed else Known.LAUNCH,
        because="; ".join(assumed) or told,
        notes=tuple(assumed),
    )


def _counts(step: SlurmStep, assumed: list[str]) -> tuple[int, ...]:
    """Return the tasks on each node, and add what had to be assumed for it."""
    nodes = len(step.nodes)
    if step.tasks_per_node is not None:
        if len(step.tasks_per_node) != nodes:
            message = (
                f"Slurm names {nodes} nodes and tasks for {len(step.tasks_per_node)}: "
                "one list is the job's, the other the step's."
            )
            raise PlacementError(message)
        if step.ntasks is not None and sum(step.tasks_per_node) != step.ntasks:
            message = f"{sum(step.tasks_per_node)} tasks over the nodes, but {step.ntasks} in all."
            raise PlacementError(message)
        return step.tasks_per_node
    each = step.ntasks_per_node
    if each is not None and step.ntasks in {None, each * nodes} and each * nodes <= MOST_TASKS:
        return (each,) * nodes
    if step.ntasks is None or not 0 < step.ntasks <= MOST_TASKS:
        raise PlacementError("Slurm does not say how many tasks the step has on each node.")
    if nodes in {1, step.ntasks}:
        # srun puts a task on every node before a second one on any
        return (step.ntasks // nodes,) * nodes
    assumed.append("tasks are taken to be spread evenly over the nodes")
    fewer, more = divmod(step.ntasks, nodes)
    return tuple(fewer + (node < more) for node in range(nodes))


def _by_hostfile(step: SlurmStep) -> Placement:
    index = {host: node for node, host in enumerate(step.nodes)}
    lines = step.hostfile[: step.ntasks]
    if strange := sorted(set(lines) - index.keys()):
        message = f"the host file names {', '.join(strange[:5])}, not in the job's node list."
        raise PlacementError(message)
    if step.ntasks is not None and len(lines) < step.ntasks:
        message = f"the host file has {len(lines)} lines for {step.ntasks} tasks."
        raise PlacementError(message)
    return laid_out(
        step.nodes,
        [index[host] for host in lines],
        known=Known.LAUNCH,
        because="arbitrary distribution, as the host file lists the nodes",
    )


def place_het(components: Sequence[SlurmStep]) -> Placement:
    """Return where the tasks of a heterogeneous step run: ranks count on through its components.

    The components are those of `--het-group`, in ascending order (srun(1)); the default is the
    first alone.
    """
    return joined([place_step(component) for component in components])


def jobs_of(
    jobs: Iterable[SlurmJob], job_id: int, *, array_task: int | None = None, het: int | None = None
) -> tuple[SlurmJob, ...]:
    """Return the job that an ID means: one, or the components of a heterogeneous one in order.

    `48213_7` names a task of an array and `48213+1` a component; a task or component also has a
    plain number of its own. Raises PlacementError for an ID that no job or more than one has.
    """
    known = list(jobs)
    if array_task is not None:
        found = [
            job for job in known if (job.array_job_id, job.array_task_id) == (job_id, array_task)
        ]
        return _only(found, f"{job_id}_{array_task}")
    if het is not None:
        found = [job for job in known if (job.het_job_id, job.het_offset) == (job_id, het)]
        return _only(found, f"{job_id}+{het}")
    parts = [job for job in known if job.het_job_id == job_id]
    if parts:
        return tuple(sorted(parts, key=lambda job: job.het_offset or 0))
    tasks = [job for job in known if job.array_job_id == job_id]
    if len(tasks) > 1 or (tasks and tasks[0].job_id != job_id):
        named = ", ".join(f"{job_id}_{job.array_task_id}" for job in tasks[:3])
        message = f"{job_id} is an array; name one of its tasks, such as {named}."
        raise PlacementError(message)
    return _only(tasks or [job for job in known if job.job_id == job_id], str(job_id))


def _only(found: list[SlurmJob], name: str) -> tuple[SlurmJob, ...]:
    if not found:
        raise PlacementError(f"Slurm lists no job {name}.")
    if len(found) > 1:
        raise PlacementError(f"Slurm lists {len(found)} jobs {name}; name the cluster.")
    return tuple(found)
