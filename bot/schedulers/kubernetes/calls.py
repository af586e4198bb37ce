"""Every request that this room makes, as a table; the rights it needs are made from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote


class Verb(StrEnum):
    """What is done to a resource, in the words of RBAC."""

    GET = "get"
    LIST = "list"
    WATCH = "watch"
    PATCH = "patch"


class Scope(StrEnum):
    """Where a right is needed."""

    #: in the namespaces of the settings, or in all where they name none
    JOBS = "jobs"
    #: in the namespace of the cluster's DNS
    DNS = "dns"
    #: in the whole cluster
    CLUSTER = "cluster"


class Account(StrEnum):
    """Who makes a request: one account reads, the other changes."""

    LOOK = "look"
    ACT = "act"


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One resource of the API, or a part of one."""

    #: empty for the core group
    group: str = ""
    version: str = "v1"
    plural: str
    namespaced: bool = True
    #: `log` of `pods/log`
    part: str = ""

    @property
    def named(self) -> str:
        """Return it as RBAC names it: `pods`, `pods/log`."""
        return f"{self.plural}/{self.part}" if self.part else self.plural

    def path(self, *, namespace: str = "", name: str = "") -> str:
        """Return the path of one object, or of a list where no name is given."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        one = f"/{quote(name, safe='')}" if name else ""
        part = f"/{self.part}" if self.part else ""
        return f"{base}{inside}/{self.plural}{one}{part}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One kind of request."""

    verb: Verb
    resource: Resource
    scope: Scope
    account: Account = Account.LOOK
    why: str


PODS = Resource(plural="pods")
POD_LOG = Resource(plural="pods", part="log")
NODES = Resource(plural="nodes", namespaced=False)
SERVICES = Resource(plural="services")
SLICES = Resource(group="discovery.k8s.io", plural="endpointslices")
JOBS = Resource(group="batch", plural="jobs")
JOBSETS = Resource(group="jobset.x-k8s.io", version="v1alpha2", plural="jobsets")
TRAINJOBS = Resource(group="trainer.kubeflow.org", version="v1alpha1", plural="trainjobs")
PYTORCHJOBS = Resource(group="kubeflow.org", plural="pytorchjobs")
VCJOBS = Resource(group="batch.volcano.sh", version="v1alpha1", plural="jobs")

#: The objects that run ranks; those before the last can be suspended.
SUSPENDED = (JOBS, JOBSETS, TRAINJOBS, PYTORCHJOBS)
RUNNING_RANKS = (*SUSPENDED, VCJOBS)


def _row(verb: Verb, resource: Resource, scope: Scope, why: str) -> Call:
    account = Account.ACT if verb is Verb.PATCH else Account.LOOK
    return Call(verb=verb, resource=resource, scope=scope, account=account, why=why)


CALLS: tuple[Call, ...] = (
    *(_row(Verb.GET, one, Scope.JOBS, "find a job by its ID") for one in RUNNING_RANKS),
    *(_row(Verb.LIST, one, Scope.JOBS, "find the jobs that failed") for one in RUNNING_RANKS),
    *(_row(Verb.PATCH, one, Scope.JOBS, "hold, cancel and requeue") for one in SUSPENDED),
    _row(Verb.LIST, PODS, Scope.CLUSTER, "place ranks, and see who else is on a node"),
    _row(Verb.WATCH, PODS, Scope.JOBS, "read a pod's log before the pod is gone"),
    _row(Verb.GET, POD_LOG, Scope.JOBS, "read what ranks logged"),
    _row(Verb.GET, NODES, Scope.CLUSTER, "state of a node, and which VM it is"),
    _row(Verb.LIST, NODES, Scope.CLUSTER, "find nodes that are free"),
    _row(Verb.PATCH, NODES, Scope.CLUSTER, "cordon and uncordon, with the reason"),
    _row(Verb.LIST, SERVICES, Scope.JOBS, "the Services by which ranks find each other"),
    _row(Verb.LIST, SLICES, Scope.JOBS, "whether those Services have a ready endpoint"),
    _row(Verb.LIST, SERVICES, Scope.DNS, "the Service of the cluster's DNS"),
    _row(Verb.LIST, SLICES, Scope.DNS, "whether it has a ready endpoint"),
)
_KNOWN = {(call.verb, call.resource): call for call in CALLS}


def call(verb: Verb, resource: Resource) -> Call:
    """Return the row of a request; raises KeyError for one that the table does not have."""
    return _KNOWN[verb, resource]
