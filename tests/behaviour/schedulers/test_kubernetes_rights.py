"""Prove that the manifest grants what the adapter does, and nothing that it does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from bot.schedulers.errors import AccessError, SchedulerError
from bot.schedulers.kubernetes.calls import CALLS, Call, Scope
from bot.schedulers.kubernetes.kinds import KINDS
from bot.schedulers.kubernetes.rbac import DNS_NAMESPACE, documents
from bot.schedulers.model import Job, JobState
from playground.kubernetes import build
from playground.kubernetes.access import Account, account_of
from playground.kubernetes.resources import Object
from playground.kubernetes.workloads import PODS
from tests.behaviour.schedulers.kubernetes_world import (
    NAMESPACE,
    KubernetesWorld,
    k8s_id,
    kubernetes_world,
)

pytestmark = pytest.mark.anyio

_HOLDABLE = [word for word, kind in KINDS.items() if kind.suspend]


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[KubernetesWorld]:
    """Give a cluster whose accounts may work in one namespace, with a job of every kind."""
    del anyio_backend
    async with kubernetes_world(NAMESPACE) as one:
        store, pod = one.server.store, build.template(build.container("pytorch"))
        build.add_dns(store, "n0")
        specs: dict[str, Object] = {
            "job": build.indexed_job(1, pod),
            "jobset": build.jobset("w", build.indexed_job(1, pod)),
            "trainjob": {"trainer": {"numNodes": 1}},
            "pytorchjob": build.pytorchjob(1, pod),
            "vcjob": {"tasks": [{"name": "w", "replicas": 1, "template": pod}]},
        }
        for kind, spec in specs.items():
            build.submit(store, kind, f"a-{kind}", spec)
        yield one


async def _everything(world: KubernetesWorld) -> list[str]:
    """Do once what the adapter can do, and return what was forbidden."""
    one, job = (
        world.scheduler,
        Job(
            id="ml/job/a-job",
            cluster="kube",
            state=JobState.RUNNING,
            raw_state="Running",
            nodes=("n0",),
        ),
    )
    steps: list[Callable[[], Awaitable[object]]] = [
        lambda: one.failures(datetime.now(UTC)),
        lambda: one.named_nodes(("n0",)),
        one.idle_nodes,
        lambda: one.drain("n1", "test"),
        lambda: one.resume("n1"),
        lambda: one.cluster_dns(job),
        lambda: one.logs(job),
        lambda: _followed(world),
        *(partial(one.job, k8s_id(kind, f"a-{kind}")) for kind in KINDS),
        *(partial(one.cancel, k8s_id(kind, f"a-{kind}")) for kind in _HOLDABLE),
    ]
    refused: list[str] = []
    for step in steps:
        try:
            await step()
        except AccessError as error:
            refused.append(str(error))
        except SchedulerError:
            # a node that could not be drained cannot be resumed
            continue
    return refused


async def _followed(world: KubernetesWorld) -> None:
    """Follow a job until its pods are watched, and let it fail then."""
    following = asyncio.create_task(world.scheduler.capture(k8s_id("vcjob", "a-vcjob")))
    async with asyncio.timeout(60):
        while not (following.done() or world.server.asked("watch")):  # noqa: ASYNC110 - polled
            await asyncio.sleep(0.01)
    for pod in world.server.store.of(PODS):
        if pod["metadata"]["name"] == "a-vcjob-w-0":
            world.server.controllers.end(pod, 1)
    await following


async def test_the_manifest_grants_all_that_is_done(world: KubernetesWorld) -> None:
    """Nothing that the adapter does is forbidden, in one namespace with one role."""
    assert await _everything(world) == []

    done = {(asked.method, status) for asked, _, status in world.server.api.served}
    assert ("PATCH", 200) in done
    assert not {status for _, status in done} & {401, 403}


def _shown(right: Call) -> str:
    return f"{right.verb}-{right.resource.path()}-{right.scope}"


@pytest.mark.parametrize("right", CALLS, ids=_shown)
async def test_nothing_is_granted_in_vain(world: KubernetesWorld, right: Call) -> None:
    """With any one right less, something that the adapter does is forbidden."""
    granted: list[Object] = json.loads(json.dumps(documents((NAMESPACE,))))
    for name in ("nccl-dns-look", "nccl-dns-act"):
        world.server.admit(f"token-of-{name}", _less(account_of(granted, name), right))

    refused = await _everything(world)

    of = right.resource
    wanted = f'cannot {right.verb} resource "{of.named}" in API group "{of.group}"'
    assert any(wanted in one for one in refused)


def _less(account: Account, right: Call) -> Account:
    """Return an account without one right."""
    where = {Scope.JOBS: NAMESPACE, Scope.DNS: DNS_NAMESPACE, Scope.CLUSTER: ""}[right.scope]
    rules = []
    for rule in account.rules:
        same = right.resource.group in rule.groups and rule.namespace == where
        if not (same and right.resource.named in rule.resources):
            rules.append(rule)
            continue
        rules += [
            replace(rule, resources=rule.resources - {right.resource.named}),
            replace(
                rule,
                resources=frozenset({right.resource.named}),
                verbs=rule.verbs - {right.verb},
            ),
        ]
    return replace(account, rules=tuple(rules))
