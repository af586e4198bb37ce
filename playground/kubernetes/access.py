"""Who may do what: tokens, and the rules of roles as the API server applies them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.kubernetes.resources import Kind
from playground.kubernetes.statuses import Refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What a role grants."""

    groups: frozenset[str]
    resources: frozenset[str]
    verbs: frozenset[str]
    #: empty for the whole cluster
    namespace: str = ""

    def grants(self, group: str, resource: str, verb: str, namespace: str) -> bool:
        """Tell whether this allows a request; a role of one namespace ends at its border."""
        return (
            (not self.namespace or self.namespace == namespace)
            and bool({group, "*"} & self.groups)
            and bool({resource, "*"} & self.resources)
            and bool({verb, "*"} & self.verbs)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A user with its rules."""

    name: str
    rules: tuple[Rule, ...] = ()

    def check(self, kind: Kind, part: str, verb: str, namespace: str, name: str) -> None:
        """Raise Refusal where no rule grants a request."""
        resource = f"{kind.plural}/{part}" if part else kind.plural
        if any(rule.grants(kind.group, resource, verb, namespace) for rule in self.rules):
            return
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        what = f'{kind.qualified} "{name}"' if name else kind.qualified
        message = (
            f'{what} is forbidden: User "{self.name}" '
            f'cannot {verb} resource "{resource}" in API group "{kind.group}" {where}'
        )
        details = {"name": name, "group": kind.group, "kind": kind.plural}
        raise Refusal(403, message, {key: said for key, said in details.items() if said})


#: May do everything.
ADMIN = Account(
    name="admin",
    rules=(Rule(groups=frozenset("*"), resources=frozenset("*"), verbs=frozenset("*")),),
)


@dataclass(kw_only=True)
class Accounts:
    """Tokens and whose they are."""

    by_token: dict[str, Account] = field(default_factory=dict)

    def of(self, authorization: str) -> Account:
        """Return who sends this header; raises Refusal for nobody."""
        scheme, _, token = authorization.partition(" ")
        account = self.by_token.get(token) if scheme.lower() == "bearer" else None
        if account is None:
            raise Refusal(401, "Unauthorized")
        return account


def account_of(documents: Iterable[Mapping[str, Any]], name: str) -> Account:
    """Return the service account of a manifest with what its bindings give it."""
    told = list(documents)
    roles = {
        (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]): one["rules"]
        for one in told
        if one["kind"] in {"Role", "ClusterRole"}
    }
    rules: list[Rule] = []
    for one in told:
        if not one["kind"].endswith("Binding"):
            continue
        if name not in [subject["name"] for subject in one["subjects"]]:
            continue
        where = one["metadata"].get("namespace", "")
        rules += [
            Rule(
                groups=frozenset(rule["apiGroups"]),
                resources=frozenset(rule["resources"]),
                verbs=frozenset(rule["verbs"]),
                namespace=where,
            )
            for rule in roles[one["roleRef"]["kind"], where, one["roleRef"]["name"]]
        ]
    home = next(one for one in told if one["kind"] == "ServiceAccount")["metadata"]["namespace"]
    return Account(name=f"system:serviceaccount:{home}:{name}", rules=tuple(rules))
