"""Prove that the logs of pods are read, searched, and kept before the pods are gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from bot.schedulers.kubernetes.adapter import KubernetesScheduler
from bot.schedulers.model import Limits, Reading
from playground.kubernetes.resources import Object
from playground.kubernetes.server import Fault
from playground.kubernetes.workloads import PODS, PYTORCHJOBS
from tests.behaviour.schedulers.kubernetes_world import (
    NAMESPACE,
    KubernetesWorld,
    kubernetes_world,
)
from tests.behaviour.schedulers.world import LOOKUP_FAILED

pytestmark = pytest.mark.anyio

FOUR = ("np-0", "np-1", "np-2", "np-3")


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[KubernetesWorld]:
    """Give a cluster of four nodes."""
    del anyio_backend
    async with kubernetes_world(nodes=FOUR) as one:
        yield one


async def until(holds: Callable[[], bool]) -> None:
    """Poll until something holds of the server, which tells nobody; fail after a time-out."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - polled
            await asyncio.sleep(0.01)


async def test_the_run_before_a_restart_is_read_too(world: KubernetesWorld) -> None:
    """What a container logged before the kubelet started it again is where the error is."""
    number = world.running()
    worker = world.pods(number)[1]
    world.server.controllers.restart(worker, f"{LOOKUP_FAILED}\n".encode())

    job = await world.scheduler.job(world.id(number))
    logs = await world.scheduler.logs(job)

    assert job.restarts == 1
    assert [file.path for file in logs.read if LOOKUP_FAILED.encode() in file.text] == [
        "ml/pretrain-1-worker-0/pytorch.run0.log"
    ]


async def test_logs_are_kept_while_the_pods_live(world: KubernetesWorld) -> None:
    """Who follows a job has the logs of its pods when they are gone; who does not is told so."""
    number = world.running()
    for pod in world.pods(number):
        world.server.logs_of(pod, f"{LOOKUP_FAILED}\n".encode())
    world.server.controllers.grace = 3600
    seen = await world.scheduler.job(world.id(number))
    following = asyncio.create_task(world.scheduler.capture(world.id(number)))
    await until(lambda: bool(world.server.asked("watch")))

    await world.scheduler.cancel(world.id(number))
    await until(lambda: world.server.asked_for("/log") == 2)
    world.server.controllers.let_go()
    logs = await following

    assert world.pods(number) == []
    assert sorted(file.pod for file in logs.read) == [
        "pretrain-1-master-0",
        "pretrain-1-worker-0",
    ]
    assert all(LOOKUP_FAILED.encode() in file.text for file in logs.read)
    assert "of pods that are gone" in logs.notes[0]
    other = KubernetesScheduler("kube", world.scheduler._look)
    said = "The pods of job ml/pytorchjob/pretrain-1 are gone, and their logs with them."
    assert (await other.logs(seen)).notes == (f"{said} Paste the log.",)


async def test_the_logs_of_a_job_that_is_deleted_are_kept(world: KubernetesWorld) -> None:
    """Who deletes a job deletes its pods; who followed it has what they logged."""
    number = world.running()
    for pod in world.pods(number):
        world.server.logs_of(pod, f"{LOOKUP_FAILED}\n".encode())
    world.server.controllers.grace = 3600
    following = asyncio.create_task(world.scheduler.capture(world.id(number)))
    await until(lambda: bool(world.server.asked("watch")))

    store = world.server.store
    pods = world.pods(number)
    store.delete(PYTORCHJOBS, store.get(PYTORCHJOBS, NAMESPACE, world.name(number)))
    for pod in pods:
        world.server.controllers.end_softly(pod)
    await until(lambda: world.server.asked_for("/log") == 2)
    world.server.controllers.let_go()
    logs = await following

    assert "was deleted" in logs.notes[0]
    assert LOOKUP_FAILED.encode() in logs.read[0].text


@pytest.mark.parametrize(
    "said",
    [
        b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n',
        b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n\n',
        b"",
    ],
)
async def test_a_watch_that_ends_too_soon_is_begun_anew(
    world: KubernetesWorld, said: bytes
) -> None:
    """A server that has forgotten the version, or a proxy that hangs up, loses no log."""
    number = world.running()
    world.server.faults.append(Fault(status=200, body=said, path="/pods", carries="watch"))
    following = asyncio.create_task(world.scheduler.capture(world.id(number)))
    await until(lambda: bool(world.server.asked("watch")))

    for pod in world.pods(number):
        world.server.controllers.end(pod, 1, log=f"{LOOKUP_FAILED}\n".encode())
    logs = await following

    assert world.server.faults == []
    assert len(logs.read) == 2


async def test_a_log_over_the_limit_is_read_at_both_ends(anyio_backend: str) -> None:
    """Of an endless log the first megabytes are searched, and its last lines come apart."""
    del anyio_backend
    limits = Limits(stream_bytes=200_000, tail_lines=3, head_bytes=100, tail_bytes=100)
    async with kubernetes_world(limits=limits) as world:
        number = world.running()
        log = b"x" * 99 + b"\n"
        world.server.logs_of(world.pods(number)[1], log * 50_000 + f"{LOOKUP_FAILED}\n".encode())
        job = await world.scheduler.job(world.id(number))
        files = [one for one in (await world.scheduler.logs(job)).files if one.size_bytes]

    assert [one.path for one in files] == [
        "ml/pretrain-1-worker-0/pytorch.log",
        "ml/pretrain-1-worker-0/pytorch.last-lines.log",
    ]
    assert (files[0].size_bytes, files[0].cut) == (200_000, True)
    assert LOOKUP_FAILED.encode() in files[1].text
    assert files[1].line_count == 3


async def test_a_container_that_waits_has_no_log_and_says_why(world: KubernetesWorld) -> None:
    """A file that cannot be read is in the answer, with the server's reason."""
    number = world.running()
    worker = world.pods(number)[1]

    def edit(raw: Object) -> None:
        raw["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "ImagePullBackOff"}}

    world.server.store.change(PODS, worker, edit, manager="kubelet")
    logs = await world.scheduler.logs(await world.scheduler.job(world.id(number)))

    file = next(one for one in logs.files if one.pod == "pretrain-1-worker-0")
    assert file.reading is Reading.MISSING
    assert "is waiting to start: ImagePullBackOff" in file.because
