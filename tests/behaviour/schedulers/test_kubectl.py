"""Let kubectl judge the shapes of the local API server: it must read them as a real cluster's."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.schedulers.errors import NodeHeldError
from playground.kubernetes.access import ADMIN
from playground.kubernetes.controllers import NODES
from tests.behaviour.schedulers.kubernetes_world import KubernetesWorld, kubernetes_world
from tests.behaviour.schedulers.world import LOOKUP_FAILED

pytestmark = [pytest.mark.anyio, pytest.mark.needs("kubectl")]


@dataclass(frozen=True, kw_only=True)
class Kubectl:
    """kubectl, pointed at a server."""

    folder: Path

    async def start(self, *argv: str) -> asyncio.subprocess.Process:
        """Start a command."""
        env = {**os.environ, "HOME": str(self.folder), "KUBECONFIG": str(self.folder / "config")}
        return await asyncio.create_subprocess_exec(
            *("kubectl", *argv),
            env=env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def __call__(self, *argv: str, code: int = 0) -> str:
        """Run a command and return what it printed."""
        process = await self.start(*argv)
        out, err = await process.communicate()
        assert process.returncode == code, err.decode()
        return (out or err).decode()


@asynccontextmanager
async def judged(
    folder: Path, who: str = ADMIN.name
) -> AsyncIterator[tuple[KubernetesWorld, Kubectl]]:
    """Give a cluster and kubectl as its administrator."""
    async with kubernetes_world(tls=True) as world:
        world.server.admit(ADMIN.name, ADMIN)
        # kubectl sends no token in the clear
        where = {
            "server": world.server.url,
            "certificate-authority": str(world.folder / "ca.crt"),
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "kube",
            "clusters": [{"name": "kube", "cluster": where}],
            "users": [{"name": "one", "user": {"token": who}}],
            "contexts": [
                {"name": "kube", "context": {"cluster": "kube", "user": "one", "namespace": "ml"}}
            ],
        }
        (folder / "config").write_text(json.dumps(config))
        yield world, Kubectl(folder=folder)


async def test_get_and_list(tmp_path: Path) -> None:
    """Nodes, pods by label and field, and custom kinds are listed with their columns."""
    async with judged(tmp_path) as (world, kubectl):
        number = world.running()

        nodes = await kubectl("get", "nodes")
        workers = await kubectl("get", "pods", "-l", "training.kubeflow.org/replica-type=worker")
        there = await kubectl("get", "po", "--field-selector", "spec.nodeName=n0", "-o", "name")
        job = await kubectl("get", "pytorchjob", world.name(number))
        where = await kubectl(
            "get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name}={.spec.nodeName} {end}"
        )

    assert [line.split()[:2] for line in nodes.splitlines()] == [
        ["NAME", "STATUS"],
        ["n0", "Ready"],
        ["n1", "Ready"],
    ]
    assert [line.split()[:3] for line in workers.splitlines()] == [
        ["NAME", "READY", "STATUS"],
        ["pretrain-1-worker-0", "1/1", "Running"],
    ]
    assert there == "pod/pretrain-1-master-0\n"
    assert job.split()[0] == "NAME"
    assert where.split() == ["pretrain-1-master-0=n0", "pretrain-1-worker-0=n1"]


async def test_pages_are_put_together(tmp_path: Path) -> None:
    """A list of many pages comes out whole."""
    async with judged(tmp_path) as (world, kubectl):
        for _ in range(5):
            world.running()

        names = await kubectl("get", "pods", "--chunk-size=3", "-o", "name")

    assert len(names.split()) == 10


async def test_logs(tmp_path: Path) -> None:
    """The log of a pod is printed, and its last lines alone where that is asked for."""
    async with judged(tmp_path) as (world, kubectl):
        world.failed()

        whole = await kubectl("logs", "pretrain-1-worker-0")
        last = await kubectl("logs", "pretrain-1-master-0", "--tail=1", "--limit-bytes=5")
        before = await kubectl("logs", "pretrain-1-master-0", "--previous", code=1)

    assert whole == f"{LOOKUP_FAILED}\n"
    assert last == "start"
    assert (
        'previous terminated container "pytorch" in pod "pretrain-1-master-0" not found' in before
    )


async def test_watch(tmp_path: Path) -> None:
    """A watch shows a pod that comes, changes and goes."""
    async with judged(tmp_path) as (world, kubectl):
        number = world.running()
        watching = await kubectl.start("get", "pods", "--watch", "-o", "wide")
        assert watching.stdout is not None
        seen: list[list[str]] = []

        async def until(*words: str) -> None:
            async with asyncio.timeout(20):
                while not (seen and all(word in seen[-1] for word in words)):
                    assert watching.stdout is not None
                    line = await watching.stdout.readline()
                    assert line, "the watch has ended"
                    seen.append(line.decode().split())

        await until("pretrain-1-worker-0", "Running")
        await world.scheduler.cancel(world.id(number))
        await until("pretrain-1-worker-0", "Terminating")
        watching.terminate()
        await watching.communicate()

    assert seen[0][:3] == ["NAME", "READY", "STATUS"]


async def test_cordon_and_uncordon(tmp_path: Path) -> None:
    """A cordon by kubectl is seen, quoted with who made it, and left alone."""
    async with judged(tmp_path) as (world, kubectl):
        said = await kubectl("cordon", "n1")
        node = await world.scheduler.node("n1")
        shown = await kubectl("get", "node", "n1", "--no-headers")
        with pytest.raises(NodeHeldError, match=r"no reason given by kubectl.* at 20"):
            await world.scheduler.drain("n1", "resolver failed")
        back = await kubectl("uncordon", "n1")
        free = await world.scheduler.node("n1")
        raw = world.server.store.get(NODES, "", "n1")

    assert said == "node/n1 cordoned\n"
    assert node.drained
    assert shown.split()[:2] == ["n1", "Ready,SchedulingDisabled"]
    assert back == "node/n1 uncordoned\n"
    assert not free.drained
    assert raw["spec"]["taints"] == []


async def test_our_cordon_taken_over_by_kubectl_is_not_ours_any_more(tmp_path: Path) -> None:
    """Who uncordons a node and cordons it again has made another cordon, whatever note is left."""
    async with judged(tmp_path) as (world, kubectl):
        drained = await world.scheduler.drain("n1", "resolver failed")
        described = await kubectl(
            "get", "node", "n1", "-o", r"jsonpath={.metadata.annotations.nccl-dns/drain}"
        )
        await kubectl("uncordon", "n1")
        await kubectl("cordon", "n1")
        node = await world.scheduler.node("n1")

    assert json.loads(described)["reason"] == drained.reason
    assert json.loads(described)["was"] == "IDLE"
    assert node.drained
    assert (node.reason, node.reason_by.startswith("kubectl")) == ("", True)


async def test_refusals_are_read(tmp_path: Path) -> None:
    """A token that nobody knows, an object that is not there, and a kind that is not."""
    async with judged(tmp_path) as (world, kubectl):
        world.running()
        missing = await kubectl("get", "pod", "none", code=1)
        kind = await kubectl("get", "unicorns", code=1)
    async with judged(tmp_path, who="another") as (_, kubectl):
        stranger = await kubectl("get", "nodes", code=1)

    assert missing == 'Error from server (NotFound): pods "none" not found\n'
    assert "the server doesn't have a resource type" in kind
    assert "Unauthorized" in stranger or "logged in" in stranger


async def test_rights_end_where_the_manifest_ends(tmp_path: Path) -> None:
    """The account that reads cannot cordon."""
    async with judged(tmp_path, who="token-of-nccl-dns-look") as (world, kubectl):
        assert "n1" in await kubectl("get", "nodes")
        # it says so and exits with 0
        refused = await kubectl("cordon", "n1")
        raw = world.server.store.get(NODES, "", "n1")

    assert 'cannot patch resource "nodes" in API group ""' in refused
    assert "unschedulable" not in raw["spec"]
