"""Prove the local API server's selectors, patches, records of who changed what, and refusals."""

from __future__ import annotations

import json

import pytest

from playground.kubernetes.access import ADMIN, Accounts
from playground.kubernetes.api import Api, Asked
from playground.kubernetes.build import add_node
from playground.kubernetes.patches import MERGE, OPERATIONS, STRATEGIC, patched
from playground.kubernetes.resources import Object, kind
from playground.kubernetes.selectors import by_fields, by_labels
from playground.kubernetes.statuses import Refusal
from playground.kubernetes.store import Store

NODES, PODS, JOBSETS = kind("nodes"), kind("pods"), kind("jobsets", "jobset.x-k8s.io")
ONE: Object = {"metadata": {"name": "a", "labels": {"app": "x", "tier.io/role": "w"}}}


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        ("", True),
        ("app=x", True),
        ("app==x,tier.io/role=w", True),
        ("app!=x", False),
        ("none!=x", True),
        ("app in (x, y)", True),
        ("app notin (x),tier.io/role", False),
        ("!none", True),
        ("!app", False),
        ("app=", False),
    ],
)
def test_label_selectors(selector: str, fits: bool) -> None:  # noqa: FBT001
    """Equality, sets and presence, as the API reads them."""
    assert by_labels(selector)(ONE) is fits


@pytest.mark.parametrize("selector", ["a b", "=x", "app=x y", "app in x", "app=" + "x" * 64, "a=;"])
def test_what_is_no_selector(selector: str) -> None:
    """A selector that cannot be read is refused, never taken for none."""
    with pytest.raises(Refusal) as refused:
        by_labels(selector)

    assert refused.value.code == 400


def test_fields_by_which_a_kind_cannot_be_selected() -> None:
    """Pods are selected by their node, custom kinds by name and namespace alone."""
    bound = {**ONE, "spec": {"nodeName": "n0"}}
    assert by_fields("spec.nodeName=n0", PODS)(bound)
    assert not by_fields("spec.nodeName!=n0,metadata.name=a", PODS)(bound)
    with pytest.raises(Refusal, match=r"field label not supported: spec.nodeName"):
        by_fields("spec.nodeName=n0", JOBSETS)


def test_a_merge_patch_replaces_lists_and_a_strategic_one_joins_them() -> None:
    """Taints have a merge key; null takes a field away in both."""
    old: Object = {"spec": {"taints": [{"key": "a"}], "unschedulable": True}}
    change = json.dumps({"spec": {"taints": [{"key": "b"}], "unschedulable": None}}).encode()

    assert patched(NODES, old, MERGE, change) == {"spec": {"taints": [{"key": "b"}]}}
    assert patched(NODES, old, f"{STRATEGIC}; charset=utf-8", change) == {
        "spec": {"taints": [{"key": "a"}, {"key": "b"}]}
    }


def test_operations() -> None:
    """Add, replace, remove and test work on paths; a test that fails changes nothing."""
    old: Object = {"metadata": {"annotations": {"a/b": "1"}}}
    steps = [
        {"op": "test", "path": "/metadata/annotations/a~1b", "value": "1"},
        {"op": "replace", "path": "/metadata/annotations/a~1b", "value": "2"},
        {"op": "add", "path": "/metadata/annotations/c", "value": "3"},
    ]
    new = patched(NODES, old, OPERATIONS, json.dumps(steps).encode())
    assert new == {"metadata": {"annotations": {"a/b": "2", "c": "3"}}}
    with pytest.raises(Refusal):
        patched(NODES, new, OPERATIONS, json.dumps(steps[:1]).encode())


@pytest.mark.parametrize("media", ["application/json", "", "application/apply-patch+yaml"])
def test_patches_of_another_type_are_refused(media: str) -> None:
    """The type says how to merge, so there is no default; custom kinds know no strategic merge."""
    with pytest.raises(Refusal) as refused:
        patched(NODES, {}, media, b"{}")
    assert refused.value.code == 415
    with pytest.raises(Refusal):
        patched(JOBSETS, {}, STRATEGIC, b"{}")


def test_who_changed_a_field_is_recorded() -> None:
    """The last to change a field has it; what is removed belongs to nobody."""
    store = Store()
    add_node(store, "n0")

    def patch(manager: str, *, on: object) -> list[str]:
        body = json.dumps({"spec": {"unschedulable": on}}).encode()
        new = store.patch(NODES, "", "n0", MERGE, body, manager=manager)
        return [
            one["manager"]
            for one in new["metadata"]["managedFields"]
            if "f:unschedulable" in one["fieldsV1"].get("f:spec", {})
        ]

    assert patch("nccl-dns", on=True) == ["nccl-dns"]
    assert patch("kubectl", on=True) == ["nccl-dns"]
    assert patch("kubectl", on=None) == []
    assert patch("kubectl", on=True) == ["kubectl"]


def test_a_version_in_a_patch_must_be_the_present_one() -> None:
    """So two who read the same object cannot both change it."""
    store = Store()
    seen = add_node(store, "n0")["metadata"]["resourceVersion"]
    body = json.dumps({"metadata": {"resourceVersion": seen}, "spec": {"a": 1}}).encode()

    store.patch(NODES, "", "n0", MERGE, body, manager="x")
    with pytest.raises(Refusal, match="the object has been modified") as refused:
        store.patch(NODES, "", "n0", MERGE, body, manager="x")

    assert refused.value.code == 409


def test_what_may_not_change_does_not() -> None:
    """Names and uids stay, and annotations are texts."""
    store = Store()
    add_node(store, "n0")
    for change in ({"uid": "x"}, {"name": "n1"}, {"annotations": {"a": 1}}):
        body = json.dumps({"metadata": change}).encode()
        with pytest.raises(Refusal) as refused:
            store.patch(NODES, "", "n0", MERGE, body, manager="x")
        assert refused.value.code == 422


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"path": "/api/v1/nodes/none"}, 404),
        ({"path": "/api/v1/unicorns"}, 404),
        ({"path": "/api/v1/pods/x"}, 404),
        ({"method": "DELETE", "path": "/api/v1/nodes/n0"}, 405),
        ({"accept": "text/html"}, 406),
        ({"authorization": "Basic YTpi"}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"query": {"labelSelector": "a b"}}, 400),
        ({"query": {"limit": "x"}}, 400),
        ({"query": {"continue": "x"}}, 400),
        ({}, 200),
    ],
)
def test_requests_that_are_refused(change: dict[str, object], status: int) -> None:
    """Each mistake has the status that the real server gives it."""
    api = Api(store=Store(), accounts=Accounts(by_token={"t": ADMIN}))
    add_node(api.store, "n0")
    asked: dict[str, object] = {
        "method": "GET",
        "path": "/api/v1/nodes",
        "query": {},
        "authorization": "Bearer t",
    }

    answer = api.reply(Asked(**{**asked, **change}))  # type: ignore[arg-type]

    assert answer.status == status


def test_a_page_of_a_list_that_is_forgotten() -> None:
    """After a compaction a list has to be begun anew."""
    api = Api(store=Store(), accounts=Accounts(by_token={"t": ADMIN}))
    for number in range(3):
        add_node(api.store, f"n{number}")

    def page(**query: str) -> tuple[int, Object]:
        asked = Asked(method="GET", path="/api/v1/nodes", query=query, authorization="Bearer t")
        answer = api.reply(asked)
        return answer.status, dict(answer.json or {})

    _, first = page(limit="2")
    token = first["metadata"]["continue"]
    assert first["metadata"]["remainingItemCount"] == 1
    assert len(page(**{"limit": "2", "continue": token})[1]["items"]) == 1
    api.store.version += 1
    api.store.forget()
    assert page(**{"limit": "2", "continue": token})[0] == 410
