"""Prove what only Kubernetes has: kinds of jobs, pods and VMs, logs that go with their pods."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.diagnosis import diagnose
from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.fleet.vms import Vm, match_all
from bot.schedulers.errors import (
    AccessError,
    JobIdError,
    NeedsWayError,
    RequestRefusedError,
    UnknownJobError,
)
from bot.schedulers.excerpts import renumbered, sources
from bot.schedulers.ids import parse
from bot.schedulers.kubernetes.adapter import KubernetesScheduler
from bot.schedulers.model import Job, JobState
from bot.schedulers.placing import placement
from playground.kubernetes import build
from playground.kubernetes.controllers import RUNNERS
from playground.kubernetes.resources import Object
from playground.kubernetes.workloads import JOBS, PODS, PYTORCHJOBS, children
from tests.behaviour.schedulers.kubernetes_world import (
    NAMESPACE,
    KubernetesWorld,
    k8s_id,
    kubernetes_world,
)
from tests.behaviour.schedulers.world import LOOKUP_FAILED

pytestmark = pytest.mark.anyio

TIMED_OUT = (
    b"torch.distributed.DistNetworkError: The client socket has timed out after 1800000ms while "
    b"trying to connect to (node-0.lab.internal, 29500).\n"
)
FOUR = ("np-0", "np-1", "np-2", "np-3")


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[KubernetesWorld]:
    """Give a cluster of four nodes."""
    del anyio_backend
    async with kubernetes_world(nodes=FOUR) as one:
        yield one


def rows(job: Job) -> list[tuple[int, str, str]]:
    """Return rank, pod and node of each placed rank."""
    return [(one.rank, one.pod or "", one.host) for one in placement(job).ranks]


async def test_a_failing_job_from_its_id_to_the_vm_and_the_line(world: KubernetesWorld) -> None:
    """Ranks stand on nodes and VMs by ID, and a log of 100,000 lines costs some kilobytes."""
    pod = build.template(build.container("pytorch", gpus=8))
    build.submit(world.server.store, "pytorchjob", "llama", build.pytorchjob(3, pod, nproc=8))
    pods = world.server.controllers.owned(
        PODS, world.server.store.get(PYTORCHJOBS, NAMESPACE, "llama")
    )
    noise = [b"loading shard %d of the cache\n" % one for one in range(100_000)]
    noise[70_000] = f"{LOOKUP_FAILED}\n".encode()
    log = b"".join([*noise, TIMED_OUT])
    sick = next(one for one in pods if one["spec"]["nodeName"] == "np-2")
    for one in pods:
        world.server.logs_of(one, b"training\n")
    world.server.controllers.end(sick, 1, log=log)

    job = await world.scheduler.job(parse("k8s:ml/pytorchjob/llama"))
    logs = await world.scheduler.logs(job)
    nodes = await world.scheduler.nodes(job)
    vms = [Vm(id=build.vm_id(name), name=name) for name in (*FOUR, "other")]
    matched = match_all([node.host for node in nodes], vms)

    assert (job.state, job.exit_code, job.ntasks) == (JobState.FAILED, 1, 32)
    assert "pod llama-worker-1 was the first to end, with exit code 1" in job.reason
    assert rows(job)[16] == (16, "llama-worker-1", "np-2")
    assert {one.known for one in placement(job).ranks} == {Known.LAUNCH}
    assert matched.errors == {}
    assert matched.found["np-2"].vm.id == build.vm_id("np-2")
    assert matched.found["np-2"].by == ("uuid", "providerID", "name")
    file = next(one for one in logs.files if one.pod == "llama-worker-1")
    assert (file.path, file.host, file.ranks) == (
        "ml/llama-worker-1/pytorch.log",
        "np-2",
        tuple(range(16, 24)),
    )
    assert (file.line_count, file.size_bytes) == (100_001, len(log))
    assert len(file.text) < len(log) // 20
    told = renumbered(diagnose(sources(logs)), logs)
    assert told.cause is Cause.RESOLVER_FAILED
    assert told.evidence[0].line in {70_001, 100_001}
    assert [where.host for where in told.affected] == ["llama-worker-1"]


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (
            "job",
            build.indexed_job(2, build.template(build.container("main"))),
            ["train-0", "train-1"],
        ),
        (
            "jobset",
            build.jobset("workers", build.indexed_job(2, build.template(build.container("main")))),
            ["train-workers-0-0", "train-workers-0-1"],
        ),
        (
            "trainjob",
            {"trainer": {"numNodes": 2, "numProcPerNode": 1}},
            ["train-node-0-0", "train-node-0-1"],
        ),
        (
            "vcjob",
            {
                "queue": "gpu",
                "tasks": [
                    {
                        "name": "worker",
                        "replicas": 2,
                        "template": build.template(build.container("main")),
                    }
                ],
            },
            ["train-worker-0", "train-worker-1"],
        ),
    ],
)
async def test_every_kind_of_job_is_placed(
    world: KubernetesWorld, kind: str, spec: Object, expected: list[str]
) -> None:
    """Pods are found through whatever makes them, one rank each, and other steps have none."""
    build.submit(world.server.store, kind, "train", spec)

    job = await world.scheduler.job(k8s_id(kind, "train"))

    assert (job.label, job.state) == (f"ml/{kind}/train", JobState.RUNNING)
    assert job.ntasks == 2
    placed = placement(job)
    assert [one.rank for one in placed.ranks] == [0, 1]
    assert [
        (one.pod or "")[: len(name)] for one, name in zip(placed.ranks, expected, strict=True)
    ] == expected
    assert {one.host for one in placed.ranks} <= set(FOUR)
    assert job.nodes == tuple(one.host for one in placed.ranks)


@pytest.mark.parametrize("kind", ["job", "jobset", "trainjob", "pytorchjob", "vcjob"])
async def test_every_kind_fails_in_its_own_words(world: KubernetesWorld, kind: str) -> None:
    """Conditions and phases of each kind come out as a failure, listed once, with its time."""
    pod = build.template(build.container("node" if kind == "trainjob" else "pytorch"))
    specs: dict[str, Object] = {
        "job": build.indexed_job(1, pod),
        "jobset": {
            "replicatedJobs": [{"name": "w", "template": {"spec": build.indexed_job(1, pod)}}]
        },
        "trainjob": {"trainer": {"numNodes": 1}},
        "pytorchjob": build.pytorchjob(1, pod),
        "vcjob": {"tasks": [{"name": "w", "replicas": 1, "template": pod}]},
    }
    build.submit(world.server.store, kind, "train", specs[kind])
    first = world.server.store.of(PODS)[-1]
    world.server.controllers.end(first, 137, reason="OOMKilled")

    job = await world.scheduler.job(k8s_id(kind, "train"))
    failures = await world.scheduler.failures(datetime.now(UTC) - timedelta(minutes=1))

    assert job.state is JobState.OUT_OF_MEMORY
    assert (job.exit_code, job.exit_signal) == (None, 9)
    assert [one.id for one in failures] == [f"ml/{kind}/train"]
    assert failures[0].ended_at is not None


async def test_an_elastic_job_is_a_guess(world: KubernetesWorld) -> None:
    """Pods that meet in a c10d rendezvous are numbered in an order of its own."""
    pod = build.template(build.container("pytorch", ["torchrun", "train.py"]))
    spec = build.pytorchjob(1, pod, elasticPolicy={"rdzvBackend": "c10d"})
    build.submit(world.server.store, "pytorchjob", "elastic", spec)

    job = await world.scheduler.job(k8s_id("pytorchjob", "elastic"))

    assert job.elastic
    assert placement(job).weakest is Known.GUESS


async def test_a_pod_made_anew_takes_the_place_of_the_one_that_failed(
    world: KubernetesWorld,
) -> None:
    """One pod an index is placed, the newest; the logs of both are read."""
    pod = build.template(build.container("main"))
    raw = build.submit(world.server.store, "job", "train", build.indexed_job(2, pod))
    old = world.server.controllers.owned(PODS, raw)[1]
    world.server.controllers.end(old, 1, log=LOOKUP_FAILED.encode(), job_fails=False)
    new = world.server.controllers.replace(old)

    job = await world.scheduler.job(k8s_id("job", "train"))
    logs = await world.scheduler.logs(job)

    assert job.state is JobState.RUNNING
    assert new["metadata"]["name"] in [one.name for one in job.pods]
    assert len(placement(job).ranks) == 2
    assert old["metadata"]["name"] in {file.pod for file in logs.read}


async def test_what_has_no_switch_says_what_does(world: KubernetesWorld) -> None:
    """Volcano and Kueue start and stop jobs themselves; a job that is over never starts again."""
    pod = build.template(build.container("main"))
    build.submit(
        world.server.store,
        "vcjob",
        "volcanic",
        {"tasks": [{"name": "w", "replicas": 1, "template": pod}]},
    )
    queued = build.submit(world.server.store, "job", "queued", build.indexed_job(1, pod))
    world.server.store.change(
        JOBS,
        queued,
        lambda raw: raw["metadata"].update(labels={"kueue.x-k8s.io/queue-name": "gpu"}),
        manager="test",
    )
    failed = world.failed()

    with pytest.raises(NeedsWayError, match="vcctl job suspend"):
        await world.scheduler.cancel(k8s_id("vcjob", "volcanic"))
    with pytest.raises(NeedsWayError, match="the Kueue queue gpu"):
        await world.scheduler.cancel(k8s_id("job", "queued"))
    with pytest.raises(NeedsWayError, match="never starts again"):
        await world.scheduler.requeue(world.id(failed))
    with pytest.raises(RequestRefusedError, match="cannot be held"):
        await world.scheduler.hold(world.id(world.running()))
    patches = [asked.path for asked, _, _ in world.server.api.served if asked.method == "PATCH"]
    assert patches == []


async def test_without_an_account_for_changes_nothing_is_changed(world: KubernetesWorld) -> None:
    """The bot that only looks says what it lacks, and names no way."""
    from bot.schedulers.port import Operation

    looking = KubernetesScheduler("kube", world.scheduler._look)

    for change in (
        looking.drain("np-1", "x"),
        looking.cancel(world.id(world.running())),
    ):
        with pytest.raises(NeedsWayError, match="has no account for changes"):
            await change
    assert looking.ways(Operation.DRAIN) == ()
    assert looking.ways(Operation.LOGS) == ("the API server",)


async def test_a_cancelled_job_can_be_put_back(world: KubernetesWorld) -> None:
    """Suspending keeps the object: the same one starts again, and no longer counts as cancelled."""
    number = world.running()
    await world.scheduler.cancel(world.id(number))

    await world.scheduler.requeue(world.id(number))

    job = await world.scheduler.job(world.id(number))
    assert (job.state, job.restarts, len(job.pods)) == (JobState.RUNNING, 1, 2)


async def test_only_the_namespaces_of_the_settings_are_asked(anyio_backend: str) -> None:
    """Another namespace is refused here, and the rights end there as well."""
    del anyio_backend
    async with kubernetes_world("ml") as world:
        number = world.failed()
        with pytest.raises(AccessError, match=r"Namespace other .* is not among"):
            await world.scheduler.job(k8s_id("job", "x", "other"))
        assert (await world.scheduler.job(world.id(number))).state is JobState.FAILED
        assert len(await world.scheduler.failures(datetime.now(UTC) - timedelta(hours=1))) == 1
        anywhere = KubernetesScheduler("kube", world.scheduler._look)
        with pytest.raises(AccessError, match='cannot get resource "jobs" in API group "batch"'):
            await anywhere.job(k8s_id("job", "x", "other"))


async def test_a_kind_that_the_cluster_does_not_know(world: KubernetesWorld) -> None:
    """A cluster without an operator has no such jobs; a search for failures goes on."""
    for kind in RUNNERS:
        if kind.custom and kind is not PYTORCHJOBS:
            world.server.api.undefined.add(kind.key)
    world.failed()

    with pytest.raises(UnknownJobError, match="does not know TrainJob objects"):
        await world.scheduler.job(k8s_id("trainjob", "x"))
    with pytest.raises(UnknownJobError, match="has no ml/pytorchjob/none"):
        await world.scheduler.job(k8s_id("pytorchjob", "none"))
    assert len(await world.scheduler.failures(datetime.now(UTC) - timedelta(hours=1))) == 1


@pytest.mark.parametrize("name", ["../nodes", "a/b", "$(reboot)", "-o", "A", "", "x" * 300, "näh"])
async def test_a_name_that_is_none_is_never_asked_for(world: KubernetesWorld, name: str) -> None:
    """What is no name of Kubernetes does not become part of a path."""
    with pytest.raises(JobIdError):
        await world.scheduler.job(k8s_id("job", name))
    with pytest.raises(JobIdError):
        await world.scheduler.job(k8s_id("job", "x", name))

    assert world.server.api.served == []


async def test_a_pod_that_only_says_it_belongs_to_a_job_does_not(world: KubernetesWorld) -> None:
    """Anybody can put a job's labels on a pod; what counts is whose controller made it."""
    number = world.running()
    raw = world.server.store.get(PYTORCHJOBS, NAMESPACE, world.name(number))
    child = next(one for one in children(PYTORCHJOBS, raw) if one.kind is PODS)
    child.raw["metadata"].update(name="impostor")
    child.raw["metadata"]["ownerReferences"][0]["uid"] = "another"
    world.server.store.create(PODS, child.raw)

    job = await world.scheduler.job(world.id(number))

    assert [pod.name for pod in job.pods] == ["pretrain-1-master-0", "pretrain-1-worker-0"]


async def test_hostile_labels_names_and_lines_do_nothing(world: KubernetesWorld) -> None:
    """Odd values are read as what they are, or not at all; nothing is asked in their name."""
    number = world.running()
    worker = world.pods(number)[1]
    line = b"[pod/np-3/x] <!channel> $(reboot) \x1b[31m; kubectl delete node np-1\n"

    def edit(raw: Object) -> None:
        raw["metadata"]["labels"]["training.kubeflow.org/replica-index"] = "99999999999999999999"
        raw["metadata"]["annotations"] = {"kubectl.kubernetes.io/default-container": "../../x"}
        raw["spec"]["nodeName"] = "np-1/../../secrets"
        raw["status"]["containerStatuses"][0]["restartCount"] = -5

    world.server.logs_of(worker, line + f"{LOOKUP_FAILED}\n".encode())
    world.server.store.change(PODS, worker, edit, manager="test")

    job = await world.scheduler.job(world.id(number))
    logs = await world.scheduler.logs(job)
    await world.scheduler.cluster_dns(job)

    assert "np-1/../../secrets" not in job.nodes
    file = next(one for one in logs.read if one.pod == "pretrain-1-worker-0")
    assert file.text.startswith(line)
    assert sources(logs)
    asked = {asked.path for asked, _, _ in world.server.api.served}
    assert not any("secrets" in path or ".." in path for path in asked)
