"""Prove whose a cordon is, and which marks on a node are claims."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.schedulers.claims import is_ours, refusal_to_drain, refusal_to_resume
from bot.schedulers.kubernetes.nodes import DRAIN, MANAGER, node_of, note
from bot.schedulers.model import NodeFlag

AT = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)
REASON = "nccl-dns: resolver failed (was IDLE)"
READY = {
    "conditions": [{"type": "Ready", "status": "True"}],
    "allocatable": {"nvidia.com/gpu": "8"},
}


def cordoned(
    manager: str, annotations: dict[str, str], at: str = "2026-11-30T17:05:00Z"
) -> dict[str, object]:
    """Return a node that somebody cordoned."""
    fields: dict[str, object] = {"f:spec": {"f:unschedulable": {}}}
    return {
        "metadata": {
            "name": "n0",
            "annotations": annotations,
            "managedFields": [
                {
                    "manager": "kubelet",
                    "time": "2026-11-30T18:00:00Z",
                    "fieldsV1": {"f:status": {}},
                },
                {"manager": manager, "time": at, "fieldsV1": fields},
            ],
        },
        "spec": {"unschedulable": True},
        "status": READY,
    }


def ours(**beside: str) -> dict[str, str]:
    """Return the annotations after a cordon of ours."""
    return {DRAIN: note(REASON, AT, {"metadata": {"annotations": beside}}, "IDLE"), **beside}


def test_our_cordon_is_known_by_note_and_manager() -> None:
    """The note says why; the server's record says that the cordon is still the one we made."""
    node = node_of(cordoned(MANAGER, ours()), (), "kube")

    assert is_ours(node)
    assert (node.reason, node.reason_by, node.reason_at) == (REASON, "nccl-dns", AT)
    assert refusal_to_resume(node, REASON) == ""


def test_our_note_under_somebody_elses_cordon_is_not_ours() -> None:
    """They uncordoned the node and cordoned it again; our note stayed behind."""
    node = node_of(cordoned("kubectl-cordon", ours()), (), "kube")

    assert not is_ours(node)
    assert node.claim == "no reason given by kubectl-cordon at 2026-11-30 17:05 UTC"


def test_a_reason_that_came_after_our_cordon_takes_it_over() -> None:
    """A reason that was there before ours, from an earlier cordon, does not."""
    stale = {"ops.example/cordon-reason": "old disk"}
    node = node_of(cordoned(MANAGER, ours(**stale)), (), "kube")
    taken = node_of(
        cordoned(MANAGER, {**ours(**stale), "x.example/maintenance-reason": "keep it"}), (), "kube"
    )

    assert is_ours(node)
    assert not is_ours(taken)
    assert "keep it" in refusal_to_resume(taken, REASON)


@pytest.mark.parametrize(
    "key",
    [
        "nodeset.slinky.slurm.net/node-cordon-reason",
        "ops.example/drain-reason",
        "maintenance-reason",
        "lab.example/triage-reason",
    ],
)
def test_reasons_are_found_where_people_and_tools_write_them(key: str) -> None:
    """An annotation that says it is a reason is quoted, with who cordoned the node."""
    node = node_of(cordoned("argo", {key: "RMA 4711"}), (), "kube")

    assert 'drained already: "RMA 4711" by argo' in refusal_to_drain(node)


@pytest.mark.parametrize(
    ("change", "flag", "said"),
    [
        (
            {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "value": "17"}]}},
            NodeFlag.MAINTENANCE,
            "ToBeDeletedByClusterAutoscaler=17",
        ),
        (
            {"spec": {"taints": [{"key": "karpenter.sh/disrupted"}]}},
            NodeFlag.MAINTENANCE,
            "karpenter",
        ),
        (
            {
                "metadata": {
                    "name": "n0",
                    "annotations": {"weave.works/kured-reboot-in-progress": "x"},
                }
            },
            NodeFlag.REBOOT,
            "kured-reboot-in-progress=x",
        ),
        (
            {
                "metadata": {
                    "name": "n0",
                    "labels": {"nvidia.com/gpu-driver-upgrade-state": "drain-required"},
                }
            },
            NodeFlag.MAINTENANCE,
            "drain-required",
        ),
    ],
)
def test_marks_of_tools_are_claims(change: dict[str, object], flag: NodeFlag, said: str) -> None:
    """Who is about to remove, repair or reboot a node is not disturbed, and is quoted."""
    node = node_of({"metadata": {"name": "n0"}, "status": READY, **change}, (), "kube")

    assert flag in node.flags
    assert said in refusal_to_drain(node)


@pytest.mark.parametrize("state", ["upgrade-done", ""])
def test_marks_that_say_it_is_over_are_none(state: str) -> None:
    """A driver that was upgraded claims nothing, nor does a taint for GPUs."""
    labels = {"nvidia.com/gpu-driver-upgrade-state": state}
    taints = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    raw = {
        "metadata": {"name": "n0", "labels": labels},
        "spec": {"taints": taints},
        "status": READY,
    }

    assert refusal_to_drain(node_of(raw, (), "kube")) == ""


def pod(gpus: int, owner: str = "PyTorchJob", phase: str = "Running") -> dict[str, object]:
    """Return a pod with accelerators."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "metadata": {"name": "p", "ownerReferences": [{"controller": True, "kind": owner}]},
        "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]},
        "status": {"phase": phase},
    }


@pytest.mark.parametrize(
    ("pods", "state"),
    [
        ([], "IDLE"),
        ([pod(2)], "MIXED"),
        ([pod(4), pod(4)], "ALLOCATED"),
        ([pod(8, phase="Succeeded"), pod(8, "DaemonSet"), pod(0)], "IDLE"),
    ],
)
def test_a_node_is_as_busy_as_its_accelerators(pods: list[dict[str, object]], state: str) -> None:
    """Pods that are over, part of the node, or without accelerators take none."""
    assert node_of({"metadata": {"name": "n0"}, "status": READY}, pods, "kube").state == state


def test_a_node_whose_kubelet_is_silent_is_down() -> None:
    """Ready is not True: nobody knows what is going on there."""
    status = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    node = node_of({"metadata": {"name": "n0"}, "status": status}, (), "kube")

    assert (node.state, node.idle) == ("DOWN", False)
    assert refusal_to_drain(node) == ""
