"""Prove that no answer of an API server, however odd, ends in anything but a value or our error."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from bot.schedulers.errors import SchedulerError
from bot.schedulers.kubernetes import dns
from bot.schedulers.kubernetes.kinds import KINDS
from bot.schedulers.kubernetes.logs import ranks_by_pod, wanted
from bot.schedulers.kubernetes.managed import seat_of, workers
from bot.schedulers.kubernetes.nodes import DRAIN, node_of, note
from bot.schedulers.kubernetes.shapes import is_name, one_line
from bot.schedulers.kubernetes.states import CANCELLED, REQUEUED, job_of

KEYS = sorted(
    {
        *("metadata", "name", "namespace", "uid", "labels", "annotations", "ownerReferences"),
        *("creationTimestamp", "deletionTimestamp", "managedFields", "fieldsV1", "time", "manager"),
        *("spec", "status", "conditions", "type", "reason", "message", "lastTransitionTime"),
        *("phase", "state", "terminated", "waiting", "exitCode", "finishedAt", "containers"),
        *("containerStatuses", "restartCount", "command", "args", "env", "value", "resources"),
        *("limits", "nvidia.com/gpu", "allocatable", "taints", "key", "nodeName", "hostNetwork"),
        *("dnsPolicy", "subdomain", "hostname", "suspend", "runPolicy", "replicas", "parallelism"),
        *("pytorchReplicaSpecs", "Worker", "tasks", "replicatedJobs", "template", "completions"),
        *("nprocPerNode", "elasticPolicy", "endpoints", "ready", "selector", "f:spec"),
        *("training.kubeflow.org/replica-index", "batch.kubernetes.io/job-completion-index"),
        *(DRAIN, CANCELLED, REQUEUED, "f:unschedulable", "unschedulable", "providerID"),
    }
)
WORDS = st.sampled_from(
    [
        *("True", "Failed", "Running", "Ready", "Error", "OOMKilled", "2026-11-30T17:00:00Z"),
        *(
            "a",
            "n0",
            "-1",
            "99999999999999999999",
            "torchrun --nproc-per-node=0x",
            "[{]",
            "é\n\x1b[",
        ),
        *('{"reason": 1}', '{"reason": "nccl-dns: x", "beside": [1]}', "$(reboot)", "../..", "٣"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=6)


@given(OBJECTS, st.lists(OBJECTS, max_size=4), st.sampled_from(sorted(KINDS)))
def test_any_job(raw: dict[str, object], pods: list[dict[str, object]], kind: str) -> None:
    """Wrong types and missing fields are "not told"; nodes are names, and texts one line."""
    job = job_of(KINDS[kind], raw, pods, "kube")

    assert all(is_name(node) for node in job.nodes)
    assert job.reason == one_line(job.reason) or "; " in job.reason
    assert "\n" not in job.reason
    ranks_by_pod(job)
    wanted(pods)


@given(OBJECTS, st.lists(OBJECTS, max_size=3))
def test_any_node(raw: dict[str, object], pods: list[dict[str, object]]) -> None:
    """A node of any shape has a state and flags, and what is quoted of it is one line."""
    node = node_of(raw, pods, "kube")

    for said in (node.reason, node.reason_by, node.reservation, node.provider_id, node.claim):
        assert said.isprintable()


@given(st.lists(OBJECTS, max_size=3), st.lists(OBJECTS, max_size=3))
def test_any_services_and_workers(
    some: list[dict[str, object]], others: list[dict[str, object]]
) -> None:
    """Services, slices and pods of any shape are looked through to the end."""
    found = dns.cluster_dns(
        dns_services=some,
        dns_slices=others,
        dns_pods=some,
        services=others,
        slices=some,
        pods=others,
    )
    assert all(is_name(host) for host in found.hosts)
    try:
        seat_of("a", workers(some), "kube")
    except SchedulerError:
        return


def test_json_that_is_deep_or_strange_in_our_note_is_no_note() -> None:
    """Anybody can write our annotation; what is not ours is not taken for it."""
    from datetime import UTC, datetime

    raw = {"metadata": {"name": "n0"}, "spec": {"unschedulable": True}}
    ours = note("nccl-dns: x", datetime(2026, 11, 30, tzinfo=UTC), raw, "IDLE")
    assert json.loads(ours)["was"] == "IDLE"
    for text in ("[" * 100_000, "null", "7", '"x"', "", '{"reason": ["x"]}'):
        odd = {**raw, "metadata": {"name": "n0", "annotations": {DRAIN: text}}}
        assert node_of(odd, (), "kube").reason == ""
