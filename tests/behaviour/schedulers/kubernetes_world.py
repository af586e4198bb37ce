"""A cluster behind the local API server, spoken to with the rights of the generated manifest."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.schedulers.kubernetes.access import Access, connected
from bot.schedulers.kubernetes.adapter import KubernetesScheduler
from bot.schedulers.kubernetes.rbac import documents
from bot.schedulers.kubernetes.server import ApiServer
from bot.schedulers.model import JobId, JobState, Kind, Limits
from playground.kubernetes import build
from playground.kubernetes.access import account_of
from playground.kubernetes.controllers import NODES
from playground.kubernetes.server import KubernetesServer, running
from playground.kubernetes.tls import server_context
from playground.kubernetes.workloads import PODS, PYTORCHJOBS
from tests.behaviour.schedulers.world import LOOKUP_FAILED, World

NAMESPACE = "ml"
#: A cordon's reason as the operator of Slurm in pods writes it.
REASON = "nodeset.slinky.slurm.net/node-cordon-reason"
Object = dict[str, Any]


class KubernetesWorld(World):
    """Two nodes, jobs as PyTorchJobs, and a hand that does what others do."""

    waits_for = "0/2 nodes are available"
    held_by = "suspended"

    def __init__(self, server: KubernetesServer, scheduler: KubernetesScheduler) -> None:
        self.server = server
        self.scheduler: KubernetesScheduler = scheduler
        #: where its tokens and its authority's certificate lie
        self.folder = Path()
        self._next = 0

    def id(self, number: int) -> JobId:
        """Return the ID of a PyTorchJob."""
        return k8s_id("pytorchjob", self.name(number))

    def label(self, number: int) -> str:
        """Return namespace, kind and name."""
        return self.id(number).job

    def name(self, number: int) -> str:
        """Return the name of the object."""
        return f"pretrain-{number}"

    def failed(self) -> int:
        """Let the worker log what it could not look up and fail; the master only starts."""
        number = self._submit()
        master, worker = self.pods(number)
        self.server.controllers.end(worker, 1, log=f"{LOOKUP_FAILED}\n".encode())
        self.server.controllers.end(master, 1, log=b"starting\n")
        return number

    def running(self, *, node: str = "") -> int:
        """Start a master and a worker, both on one node where it is given."""
        return self._submit(nodeSelector={"kubernetes.io/hostname": node} if node else {})

    def waiting(self) -> int:
        """Submit a job that fits on no node."""
        return self._submit(nodeSelector={"disk": "none"})

    def array(self) -> int:
        """Refuse: there are none."""
        raise NotImplementedError

    def heterogeneous(self) -> int:
        """Refuse: there are none."""
        raise NotImplementedError

    def somebody_drains(self, node: str, reason: str) -> None:
        """Cordon a node with a reason, as an operator does with kubectl."""

        def edit(raw: Object) -> None:
            raw["spec"]["unschedulable"] = True
            raw["metadata"].setdefault("annotations", {})[REASON] = reason

        self.edit_node(node, edit, manager="kubectl-cordon")

    def somebody_reserves(self, node: str) -> None:
        """Let the autoscaler choose a node for removal."""
        taint = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1796", "effect": "NoSchedule"}
        self.edit_node(
            node, lambda raw: raw["spec"].update(taints=[taint]), manager="cluster-autoscaler"
        )

    def somebody_wants_reboot(self, node: str) -> None:
        """Let kured choose a busy node."""
        self.running(node=node)
        told = {"weave.works/kured-reboot-in-progress": "2026-11-30T17:00:00Z"}
        self.edit_node(node, lambda raw: raw["metadata"].update(annotations=told), manager="kured")

    def settle(self, number: int, state: JobState) -> None:
        """Check that the object is held."""
        assert state is JobState.CANCELLED
        raw = self.server.store.get(PYTORCHJOBS, NAMESPACE, self.name(number))
        assert raw["spec"]["runPolicy"]["suspend"] is True

    def pods(self, number: int) -> list[Object]:
        """Return the pods of a job."""
        raw = self.server.store.get(PYTORCHJOBS, NAMESPACE, self.name(number))
        return self.server.controllers.owned(PODS, raw)

    def edit_node(self, node: str, edit: Callable[[Object], None], *, manager: str) -> None:
        """Change a node as somebody else does."""
        store = self.server.store
        store.change(NODES, store.get(NODES, "", node), edit, manager=manager)

    def _submit(self, **spec: object) -> int:
        self._next += 1
        pod = build.template(build.container("pytorch"), **spec)
        build.submit(
            self.server.store, "pytorchjob", self.name(self._next), build.pytorchjob(1, pod)
        )
        return self._next


def k8s_id(kind: str, name: str, namespace: str = NAMESPACE) -> JobId:
    """Return the ID of an object."""
    return JobId(kind=Kind.KUBERNETES, namespace=namespace, object_kind=kind, name=name)


def admit(server: KubernetesServer, *namespaces: str) -> None:
    """Let both accounts in with what the manifest grants them, and no more."""
    granted: list[Object] = json.loads(json.dumps(documents(namespaces)))
    for name in ("nccl-dns-look", "nccl-dns-act"):
        server.admit(f"token-of-{name}", account_of(granted, name))


async def reach(
    stack: AsyncExitStack, server: KubernetesServer, folder: Path, account: str
) -> ApiServer:
    """Connect as one of the accounts."""
    token = folder / account
    token.write_text(f"token-of-{account}\n")
    ca_file = folder / "ca.crt" if server.secure else None
    access = Access(url=server.url, token_file=token, ca_file=ca_file)
    return await stack.enter_async_context(connected(access, cluster="kube"))


@asynccontextmanager
async def kubernetes_world(
    *namespaces: str,
    limits: Limits | None = None,
    nodes: tuple[str, ...] = ("n0", "n1"),
    tls: bool = False,
) -> AsyncIterator[KubernetesWorld]:
    """Run a cluster and give a scheduler for it."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        context = server_context(folder) if tls else None
        server = await stack.enter_async_context(running(tls=context))
        admit(server, *namespaces)
        for place, name in enumerate(nodes):
            build.add_node(server.store, name, gpus=4, address=f"10.20.1.{10 + place}")
        look = await reach(stack, server, folder, "nccl-dns-look")
        act = await reach(stack, server, folder, "nccl-dns-act")
        scheduler = KubernetesScheduler(
            "kube",
            look,
            act,
            namespaces=namespaces,
            limits=limits,
            settling=timedelta(seconds=20),
        )
        world = KubernetesWorld(server, scheduler)
        world.folder = folder
        yield world
