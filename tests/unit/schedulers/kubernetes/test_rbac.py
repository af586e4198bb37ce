"""Prove the manifest: what it holds, and that it is YAML."""

from __future__ import annotations

import pytest
import yaml

from bot.errors import InputError
from bot.schedulers.kubernetes.calls import CALLS, NODES, PODS, Verb, call
from bot.schedulers.kubernetes.rbac import documents, manifest


def test_the_manifest_is_the_documents_as_yaml() -> None:
    """What kubectl reads is what was made from the table."""
    assert list(yaml.safe_load_all(manifest(("ml", "research")))) == documents(("ml", "research"))


def test_no_right_is_wide() -> None:
    """No star, no secrets, nothing that creates, deletes or enters pods, and two accounts."""
    text = manifest()

    assert "*" not in text.replace("nccl-dns", "")
    for word in ("secrets", "create", "delete", "exec", "escalate", "impersonate", "update"):
        assert word not in text
    kinds = [one["kind"] for one in documents()]
    assert kinds.count("ServiceAccount") == 2


def test_only_the_account_that_acts_changes_anything() -> None:
    """Who looks has no verb that writes."""
    for one in documents(("ml",)):
        if "nccl-dns-look" in str(one["metadata"]):
            assert "patch" not in str(one)


def test_named_namespaces_get_roles_of_their_own() -> None:
    """Rights over jobs end at the border of the namespaces that are named."""
    whole = [one for one in documents(("ml",)) if one["kind"] == "ClusterRole"]

    assert "pytorchjobs" not in str(whole)
    assert "pytorchjobs" in str([one for one in documents() if one["kind"] == "ClusterRole"])


@pytest.mark.parametrize("name", ["", "a b", "ml\n---\nkind: Secret", "../x", "ml'", "x" * 64])
def test_what_is_no_namespace_is_refused(name: str) -> None:
    """Nothing else can get into the manifest."""
    with pytest.raises(InputError, match="is no namespace"):
        manifest((name,))


def test_a_request_that_has_no_row_cannot_be_made() -> None:
    """The table is the only way to a request, so no call can need more than it grants."""
    assert call(Verb.PATCH, NODES) in CALLS
    with pytest.raises(KeyError):
        call(Verb.PATCH, PODS)
