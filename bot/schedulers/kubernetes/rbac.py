"""The rights that the bot needs in a cluster, as a manifest made from the table of calls. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from bot.errors import InputError
from bot.schedulers.kubernetes.calls import CALLS, Account, Call, Scope

#: Where CoreDNS lives.
DNS_NAMESPACE = "kube-system"
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_GROUP = "rbac.authorization.k8s.io"

Rule = dict[str, list[str]]
Document = dict[str, object]


def rules(scope: Scope, account: Account, calls: Iterable[Call] = CALLS) -> list[Rule]:
    """Return the rules that an account needs in a scope, resources with the same verbs in one."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for one in calls:
        if one.scope is scope and one.account is account:
            verbs.setdefault((one.resource.group, one.resource.named), set()).add(one.verb)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), allowed in sorted(verbs.items()):
        alike.setdefault((group, tuple(sorted(allowed))), []).append(resource)
    return [
        {"apiGroups": [group], "resources": resources, "verbs": list(allowed)}
        for (group, allowed), resources in alike.items()
    ]


def documents(namespaces: Sequence[str] = (), *, home: str = "nccl-dns") -> list[Document]:
    """Return accounts, roles and bindings for a cluster.

    `namespaces` are those of the jobs (none: all); `home` is the one of the accounts. Raises
    InputError for what is no namespace.
    """
    for name in (*namespaces, home):
        if not _LABEL.fullmatch(name):
            message = f"{ascii(name)[:80]} is no namespace of Kubernetes; nothing was written."
            raise InputError(message)
    made: list[Document] = []
    for account in Account:
        made.append(_object("v1", "ServiceAccount", f"nccl-dns-{account}", home))
        everywhere = rules(Scope.CLUSTER, account)
        within = rules(Scope.JOBS, account)
        if namespaces:
            for name in namespaces:
                made += _granted(account, within, home, namespace=name, role="jobs")
        else:
            everywhere += within
        made += _granted(account, everywhere, home)
        if dns := rules(Scope.DNS, account):
            made += _granted(account, dns, home, namespace=DNS_NAMESPACE, role="dns")
    return made


def manifest(namespaces: Sequence[str] = (), *, home: str = "nccl-dns") -> str:
    """Return the documents as YAML for `kubectl apply -f -`; raises InputError as above."""
    head = (
        "# What nccl-dns needs in this cluster: nccl-dns-look reads, nccl-dns-act also cordons\n"
        "# nodes and suspends jobs. Leave the second account out where the bot must change nothing."
    )
    return f"{head}\n" + "".join(
        f"---\n{_yaml(document)}" for document in documents(namespaces, home=home)
    )


def _granted(
    account: Account, granted: list[Rule], home: str, *, namespace: str = "", role: str = ""
) -> list[Document]:
    if not granted:
        return []
    kind = "Role" if namespace else "ClusterRole"
    name = f"nccl-dns-{account}" + (f"-{role}" if role else "")
    return [
        {**_object(f"{_GROUP}/v1", kind, name, namespace), "rules": granted},
        {
            **_object(f"{_GROUP}/v1", f"{kind}Binding", name, namespace),
            "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": name},
            "subjects": [
                {"kind": "ServiceAccount", "name": f"nccl-dns-{account}", "namespace": home}
            ],
        },
    ]


def _object(version: str, kind: str, name: str, namespace: str) -> Document:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **where}}


def _yaml(document: Document) -> str:
    """Write one document: a key a line, whose value in JSON is YAML, too."""
    lines: list[str] = []
    for key, value in document.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"  - {json.dumps(one)}" for one in value)]
        else:
            lines.append(f"{key}: {value if isinstance(value, str) else json.dumps(value)}")
    return "\n".join(lines) + "\n"
