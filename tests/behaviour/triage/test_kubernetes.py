"""Prove that a job of Kubernetes is checked by its ID as one of Slurm is."""

from __future__ import annotations

import pytest

from bot.schedulers.ids import Cluster
from bot.schedulers.model import Kind
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.services import Services, Watched
from tests.behaviour.schedulers.kubernetes_world import kubernetes_world

pytestmark = pytest.mark.anyio


async def test_a_failed_job_of_kubernetes_is_checked() -> None:
    """Its pods' logs are read, its ranks are on pods, and pods are on nodes."""
    async with kubernetes_world() as world:
        number = world.failed()
        kube = Watched(
            name="kube",
            known_as=Cluster(name="kube", kind=Kind.KUBERNETES),
            scheduler=world.scheduler,
            cloud=None,
        )
        services = Services(clusters={"kube": kube}, level=1)

        checked = await check(services, Asked(job=f"k8s:{world.label(number)}"))

    assert checked.wrong
    assert checked.job is not None
    assert checked.job.nodes == ("n0", "n1")
    assert [log.reading for log in checked.logs] == ["read", "read"]
    assert checked.diagnosis is not None
    assert checked.diagnosis.cause == "resolver_failed"
    assert [one.host for one in checked.machines] == ["n1"]
    assert "No SSH account" in checked.machines[0].untold
