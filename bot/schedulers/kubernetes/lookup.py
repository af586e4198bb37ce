"""Find an object that runs ranks and the pods that are really its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.schedulers.errors import UnknownJobError
from bot.schedulers.kubernetes import calls
from bot.schedulers.kubernetes.errors import NotThereError
from bot.schedulers.kubernetes.kinds import JOBSET_NAME, KINDS, Kind
from bot.schedulers.kubernetes.pods import owned
from bot.schedulers.kubernetes.server import ApiServer
from bot.schedulers.kubernetes.shapes import Raw, name, namespace, owner, text, uid

#: What makes other objects that run ranks; those are found by their makers.
_MAKERS = frozenset(kind.shown.rsplit(" ", 1)[-1] for kind in KINDS.values())
_MAX_LABEL = 63


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """An object that runs ranks, with its pods of every attempt."""

    kind: Kind
    raw: Raw
    pods: tuple[Raw, ...]
    #: uids of whatever its pods belong to
    owners: frozenset[str]
    #: label by which its pods are found
    selector: str
    #: the JobSet that a TrainJob made
    inner: Raw | None = None

    @property
    def namespace(self) -> str:
        """Return its namespace."""
        return namespace(self.raw)

    @property
    def shown(self) -> str:
        """Return its ID."""
        return f"{self.namespace}/{self.kind.word}/{name(self.raw)}"

    @property
    def at_work(self) -> tuple[Raw, ...]:
        """Return the pods that are not over."""
        ended = {"Succeeded", "Failed"}
        return tuple(pod for pod in self.pods if text(pod, "status", "phase") not in ended)


class Lookup:
    """Finds objects and pods as one account."""

    def __init__(self, server: ApiServer, cluster: str) -> None:
        self._server = server
        self._cluster = cluster

    async def find(self, kind: Kind, where: str, called: str) -> Found:
        """Return an object and its pods; raises UnknownJobError."""
        try:
            raw = await self._server.get(kind.resource, namespace=where, name=called)
        except NotThereError as error:
            raise self._unknown(kind, where, called, kinds=error.kind_missing) from None
        inner = await self._inner(kind, raw)
        owners = await self._owners(kind, inner or raw)
        selector, pods = await self._pods(kind, raw, owners)
        return Found(
            kind=kind, raw=raw, pods=tuple(pods), owners=owners, selector=selector, inner=inner
        )

    async def tops(self, kind: Kind, namespaces: Sequence[str]) -> list[Raw]:
        """Return the objects of a kind that no other object made; none where it is unknown."""
        found: list[Raw] = []
        for where in namespaces or ("",):
            try:
                found += await self._server.listed(kind.resource, namespace=where)
            except NotThereError:
                return []
        return [raw for raw in found if name(raw) and text(owner(raw), "kind") not in _MAKERS]

    async def _inner(self, kind: Kind, raw: Raw) -> Raw | None:
        """Return the JobSet that a TrainJob made; it bears its name."""
        if kind.word != "trainjob":
            return None
        try:
            found = await self._server.get(calls.JOBSETS, namespace=namespace(raw), name=name(raw))
        except NotThereError:
            return None
        return found if text(owner(found), "uid") == uid(raw) else None

    async def _owners(self, kind: Kind, raw: Raw) -> frozenset[str]:
        """Return the uids that the pods of an object name as their controller."""
        if not kind.by_jobs:
            return frozenset({uid(raw)})
        jobs = await self._server.listed(
            calls.JOBS, namespace=namespace(raw), labels=f"{JOBSET_NAME}={_value(name(raw))}"
        )
        return frozenset(uid(job) for job in jobs if text(owner(job), "uid") == uid(raw))

    async def _pods(self, kind: Kind, raw: Raw, owners: frozenset[str]) -> tuple[str, list[Raw]]:
        selector = ""
        for label in kind.pod_labels:
            selector = f"{label}={_value(name(raw))}"
            found = await self._server.listed(calls.PODS, namespace=namespace(raw), labels=selector)
            if pods := owned(found, owners):
                return selector, pods
        return f"{kind.pod_labels[0]}={_value(name(raw))}", []

    def _unknown(self, kind: Kind, where: str, called: str, *, kinds: bool) -> UnknownJobError:
        if kinds:
            return UnknownJobError(
                f"Cluster {self._cluster} does not know {kind.shown} objects, so it has no "
                f"{where}/{kind.word}/{called}. Check the kind and the cluster."
            )
        others = ", ".join(word for word in KINDS if word != kind.word)
        return UnknownJobError(
            f"Cluster {self._cluster} has no {where}/{kind.word}/{called}. Check the namespace, "
            f"the name and the kind ({others} are others); a deleted object is forgotten at once."
        )


def _value(called: str) -> str:
    """Return a name as controllers put it into a label, which is shorter than a name may be."""
    return called[:_MAX_LABEL]
