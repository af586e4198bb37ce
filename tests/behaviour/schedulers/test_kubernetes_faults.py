"""Prove what comes of an API server that refuses, forgets, is busy, away, or answers nonsense."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.schedulers.errors import (
    AccessError,
    NeedsWayError,
    NodeHeldError,
    RequestRefusedError,
    SchedulerError,
    SchedulerUnavailableError,
    UnreadableAnswerError,
)
from bot.schedulers.kubernetes.access import Access, connected
from bot.schedulers.kubernetes.adapter import KubernetesScheduler
from playground.kubernetes import build
from playground.kubernetes.controllers import NODES
from playground.kubernetes.server import Fault
from tests.behaviour.schedulers.kubernetes_world import KubernetesWorld, kubernetes_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[KubernetesWorld]:
    """Give a cluster of two nodes."""
    del anyio_backend
    async with kubernetes_world() as one:
        yield one


async def test_a_token_that_nobody_knows(world: KubernetesWorld) -> None:
    """The refusal names the credentials, and not the token."""
    world.server.api.accounts.by_token.clear()

    with pytest.raises(AccessError, match=r"refuses the credentials \(Unauthorized\)") as refused:
        await world.scheduler.idle_nodes()

    assert "token-of" not in str(refused.value)


async def test_a_token_is_read_anew(world: KubernetesWorld) -> None:
    """Tokens are replaced while the bot runs; the file's new content is used at once."""
    account = world.server.api.accounts.by_token.pop("token-of-nccl-dns-look")
    world.server.admit("fresh", account)
    (world.folder / "nccl-dns-look").write_text("fresh\n")

    assert len(await world.scheduler.idle_nodes()) == 2


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RequestRefusedError),
        (403, AccessError),
        (422, RequestRefusedError),
        (500, SchedulerUnavailableError),
        (301, UnreadableAnswerError),
    ],
)
async def test_what_a_status_means(
    world: KubernetesWorld, status: int, error: type[SchedulerError]
) -> None:
    """Every refusal is an error of ours that quotes the server in one line."""
    body = json.dumps({"kind": "Status", "message": "said\nthe\x1b[31m server"}).encode()
    where = (("Location", f"{world.server.url}/version"),)
    world.server.faults.append(Fault(status=status, body=body, path="/nodes", headers=where))

    with pytest.raises(error) as raised:
        await world.scheduler.idle_nodes()

    assert "\n" not in str(raised.value)
    assert "\x1b" not in str(raised.value)
    assert status < 400 or "said the" in str(raised.value)


async def test_a_busy_server_is_asked_again(world: KubernetesWorld) -> None:
    """Reading is tried again after 429 and 503; it is given up in the end."""
    busy = Fault(status=429, body=b"", path="/nodes", headers=(("Retry-After", "0"),))
    away = replace(busy, status=503, body=b"<html>Bad Gateway</html>")

    world.server.faults += [busy, away]
    assert len(await world.scheduler.idle_nodes()) == 2
    world.server.faults += [busy] * 3
    with pytest.raises(SchedulerUnavailableError, match="busy or away") as given_up:
        await world.scheduler.idle_nodes()

    assert given_up.value.transient


async def test_a_change_is_never_sent_twice(world: KubernetesWorld) -> None:
    """A patch that was turned away may have been done: it is not repeated."""
    busy = Fault(status=503, body=b"", method="PATCH", headers=(("Retry-After", "0"),))
    world.server.faults += [busy, busy]

    with pytest.raises(SchedulerUnavailableError):
        await world.scheduler.drain("n1", "resolver failed")

    assert world.server.faults == [busy]


@pytest.mark.parametrize("body", [b"", b"<html></html>", b"[1]", b'"x"', b"{" * 5000, b"[" * 99999])
async def test_what_is_no_json_object(world: KubernetesWorld, body: bytes) -> None:
    """A proxy's page and broken JSON are named as what they are."""
    world.server.faults.append(Fault(status=200, body=body, path="/nodes"))

    with pytest.raises(UnreadableAnswerError, match="should answer JSON"):
        await world.scheduler.idle_nodes()


async def test_nobody_listens(world: KubernetesWorld) -> None:
    """A server that is not there is out of reach, and asking later may help."""
    access = Access(url="http://127.0.0.1:1", timeout=timedelta(seconds=5))
    async with connected(access, cluster="kube") as server:
        with pytest.raises(SchedulerUnavailableError, match="cannot be reached"):
            await KubernetesScheduler("kube", server).idle_nodes()
    assert world.server.api.served == []


async def test_a_certificate_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """Without the authority's certificate there is no trust, and no token is sent."""
    async with kubernetes_world(tls=True) as world:
        assert len(await world.scheduler.idle_nodes()) == 2
        before = len(world.server.api.served)
        (tmp_path / "token").write_text("secret")
        access = Access(url=world.server.url, token_file=tmp_path / "token")
        async with connected(access, cluster="kube") as server:
            with pytest.raises(SchedulerUnavailableError, match="certificate"):
                await KubernetesScheduler("kube", server).idle_nodes()
        assert len(world.server.api.served) == before


async def test_a_kubeconfig_is_taken(tmp_path: Path) -> None:
    """Server, authority and token come from a kubeconfig's context; what is none is named."""
    async with kubernetes_world(tls=True) as world:
        user = {"name": "bot", "user": {"token": "token-of-nccl-dns-look"}}
        ca = str(world.folder / "ca.crt")
        cluster = {"server": world.server.url, "certificate-authority": ca}
        path = tmp_path / "config"
        path.write_text(
            json.dumps(
                {
                    "clusters": [{"name": "kube", "cluster": cluster}],
                    "users": [user],
                    "contexts": [{"name": "gpu", "context": {"cluster": "kube", "user": "bot"}}],
                    "current-context": "none",
                }
            )
        )
        async with connected(Access(kubeconfig=path, context="gpu"), cluster="kube") as server:
            assert len(await KubernetesScheduler("kube", server).idle_nodes()) == 2
        with pytest.raises(AccessError, match="cannot be read"):
            async with connected(Access(kubeconfig=path, context="no"), cluster="kube"):
                pass
    with pytest.raises(AccessError, match="cannot be read"):
        async with connected(Access(kubeconfig=tmp_path / "missing"), cluster="kube"):
            pass


async def test_outside_of_a_pod_there_is_no_service_account() -> None:
    """With nothing configured the pod's own account is meant, and there is none here."""
    with pytest.raises(AccessError, match="cannot be read"):
        async with connected(Access(), cluster="kube"):
            pass


async def test_pages_are_put_together_and_a_forgotten_list_is_begun_anew(
    world: KubernetesWorld,
) -> None:
    """A list of several pages comes out whole, also where its first version expires."""
    for number in range(5):
        build.add_node(world.server.store, f"more-{number}")
    world.server.api.page = 3
    assert len(await world.scheduler.idle_nodes()) == 7

    seen = len(world.server.api.served)
    expired = json.dumps({"kind": "Status", "code": 410, "message": "too old"}).encode()
    whole = world.server.api.served
    world.server.faults.append(Fault(status=410, body=expired, path="/nodes"))
    assert len(await world.scheduler.idle_nodes()) == 7
    assert len(whole) > seen


async def test_a_node_that_changes_under_our_hands_is_judged_again(
    world: KubernetesWorld,
) -> None:
    """A kubelet's write in between is no matter; another operator's cordon is."""
    store = world.server.store

    def heartbeat(asked_path: str) -> None:
        if asked_path.endswith("/nodes/n1") and len(reads) < 3:
            reads.append(asked_path)
            world.edit_node(
                "n1",
                lambda raw: raw["status"].update(beat=len(reads)),
                manager="kubelet",
            )

    reads: list[str] = []
    world.server.after_read = heartbeat
    drained = await world.scheduler.drain("n1", "resolver failed")
    assert drained.after.drained
    assert len(reads) == 3

    def taken(asked_path: str) -> None:
        raw = store.get(NODES, "", "n0")
        if asked_path.endswith("/nodes/n0") and world.server.asked_for("/nodes/n0") == 2:
            assert not raw["spec"].get("unschedulable")
            world.somebody_drains("n0", "mine")

    world.server.after_read = taken
    with pytest.raises(NodeHeldError, match='drained already: "mine"'):
        await world.scheduler.drain("n0", "resolver failed")


async def test_the_library_is_needed_only_where_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the extra, a cluster of Kubernetes names what to install; nothing else breaks."""
    monkeypatch.setitem(__import__("sys").modules, "kubernetes_asyncio", None)

    with pytest.raises(NeedsWayError, match=r"Install nccl-dns-bot\[kubernetes\]"):
        async with connected(Access(), cluster="kube"):
            pass
