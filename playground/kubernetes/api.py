"""Paths, verbs and media types, as strict as the API server is about them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.kubernetes import discovery, tables
from playground.kubernetes.access import Account, Accounts
from playground.kubernetes.podlogs import TAKEN, Logs
from playground.kubernetes.resources import KINDS, Kind, Object
from playground.kubernetes.selectors import by_fields, by_labels
from playground.kubernetes.statuses import Json, Refusal, expired, expired_list
from playground.kubernetes.store import Event, Store

_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[a-z0-9.-]+)/(?P<version>[a-z0-9]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<part>[a-z]+))?"
)
#: A watch that is not told how long to last ends after this, as the server's own do in the end.
_LONGEST_WATCH = 1800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    accept: str = "application/json"
    media: str = ""
    agent: str = ""
    authorization: str = ""
    body: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is sent back: JSON, or bytes, or lines as they come."""

    status: int = 200
    json: Json | None = None
    data: bytes | None = None
    lines: AsyncIterator[bytes] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    kind: Kind
    namespace: str
    name: str
    part: str


@dataclass(kw_only=True)
class Api:
    """Answer requests from a store."""

    store: Store
    accounts: Accounts
    logs: Logs = field(default_factory=Logs)
    #: objects of one page at most, whatever `limit` says
    page: int = 500
    #: kinds that nobody has defined in this cluster
    undefined: set[tuple[str, str]] = field(default_factory=set)
    served: list[tuple[Asked, str, int]] = field(default_factory=list)

    def reply(self, asked: Asked) -> Answer:
        """Return the answer to a request; what is refused is a Status."""
        who = ""
        try:
            account = self.accounts.of(asked.authorization)
            who = account.name
            answer = self._answered(asked, account)
        except Refusal as refusal:
            answer = Answer(status=refusal.code, json=refusal.status)
        self.served.append((asked, who, answer.status))
        return answer

    def _answered(self, asked: Asked, account: Account) -> Answer:
        self._check_accept(asked)
        if (told := discovery.document(asked.path)) is not None:
            return Answer(json=told)
        place = self._place(asked.path)
        if place is None:
            return Answer(status=404, data=b"404 page not found\n")
        verb = self._verb(asked, place)
        account.check(place.kind, place.part, verb, place.namespace, place.name)
        answers: dict[str, Callable[[Asked, _Place], Answer]] = {
            "get": self._log if place.part else self._get,
            "list": self._list,
            "watch": self._watch,
            "patch": self._patch,
        }
        return answers[verb](asked, place)

    def _check_accept(self, asked: Asked) -> None:
        offered = {one.split(";")[0].strip() for one in asked.accept.split(",")}
        if not offered & {"application/json", "application/*", "*/*", ""}:
            message = (
                "only the following media types are accepted: application/json, "
                "application/yaml, application/vnd.kubernetes.protobuf"
            )
            raise Refusal(406, message)

    def _place(self, path: str) -> _Place | None:
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        group, version = found["group"] or "", found["version"] or "v1"
        kind = next(
            (
                one
                for one in KINDS
                if (one.group, one.version, one.plural) == (group, version, found["plural"])
                and one.key not in self.undefined
            ),
            None,
        )
        part = found["part"] or ""
        inside = found["namespace"] or ""
        if kind is None or (inside and not kind.namespaced):
            return None
        if part and (kind.plural, part) != ("pods", "log"):
            return None
        if kind.namespaced and found["name"] and not inside:
            return None
        return _Place(kind=kind, namespace=inside, name=found["name"] or "", part=part)

    def _verb(self, asked: Asked, place: _Place) -> str:
        watches = asked.query.get("watch") in {"true", "1"}
        if asked.method == "GET":
            if not place.name:
                return "watch" if watches else "list"
            return "get"
        if asked.method == "PATCH" and place.name and not place.part:
            return "patch"
        raise Refusal(405, "the server does not allow this method on the requested resource")

    def _get(self, asked: Asked, place: _Place) -> Answer:
        one = self.store.get(place.kind, place.namespace, place.name)
        return Answer(json=self._shown(asked, place.kind, [one], one))

    def _log(self, asked: Asked, place: _Place) -> Answer:
        if unknown := asked.query.keys() - TAKEN:
            raise Refusal(400, f"unknown query parameters: {sorted(unknown)}")
        pod = self.store.get(place.kind, place.namespace, place.name)
        return Answer(data=self.logs.read(pod, asked.query))

    def _list(self, asked: Asked, place: _Place) -> Answer:
        test = self._test(asked.query, place)
        found = [one for one in self.store.of(place.kind) if test(one)]
        version, first = self._from(asked.query)
        limit = min(_number(asked.query, "limit") or self.page, self.page)
        page, rest = found[first : first + limit], found[first + limit :]
        metadata: Json = {"resourceVersion": str(version)}
        if rest:
            metadata["continue"] = _token(version, first + limit)
            metadata["remainingItemCount"] = len(rest)
        whole: Json = {
            "kind": f"{place.kind.kind}List",
            "apiVersion": place.kind.api_version,
            "metadata": metadata,
            # items of a list carry neither kind nor version where the kind is the server's own
            "items": page if place.kind.custom else [_bare(one) for one in page],
        }
        shown = self._shown(asked, place.kind, page, whole)
        if shown.get("kind") == "Table":
            shown["metadata"] = metadata
        return Answer(json=shown)

    def _from(self, query: Mapping[str, str]) -> tuple[int, int]:
        """Return version and first place of the page that is asked for."""
        token = query.get("continue", "")
        if not token:
            return self.store.version, 0
        try:
            told = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            version, first = int(told["rv"]), int(told["start"])
        except (ValueError, KeyError, TypeError):
            raise Refusal(400, "continue key is not valid") from None
        if version < self.store.forgotten:
            raise expired_list()
        return version, first

    def _patch(self, asked: Asked, place: _Place) -> Answer:
        manager = asked.query.get("fieldManager") or asked.agent.split("/")[0] or "unknown"
        one = self.store.patch(
            place.kind, place.namespace, place.name, asked.media, asked.body, manager=manager
        )
        return Answer(json=self._shown(asked, place.kind, [one], one))

    def _test(self, query: Mapping[str, str], place: _Place) -> Callable[[Object], bool]:
        labels = by_labels(query.get("labelSelector", ""))
        fields = by_fields(query.get("fieldSelector", ""), place.kind)
        inside = place.namespace

        def test(one: Object) -> bool:
            here = not inside or one["metadata"].get("namespace") == inside
            return here and labels(one) and fields(one)

        return test

    def _watch(self, asked: Asked, place: _Place) -> Answer:
        seconds = _number(asked.query, "timeoutSeconds") or _LONGEST_WATCH
        return Answer(lines=self._events(asked, place, self._test(asked.query, place), seconds))

    async def _events(
        self, asked: Asked, place: _Place, test: Callable[[Object], bool], seconds: float
    ) -> AsyncIterator[bytes]:
        import asyncio

        def line(what: str, one: object) -> bytes:
            return json.dumps({"type": what, "object": one}).encode() + b"\n"

        since = _number(asked.query, "resourceVersion") or 0
        if not since:
            for one in self.store.of(place.kind):
                if test(one):
                    yield line("ADDED", self._shown(asked, place.kind, [one], one))
            since = self.store.version
        elif since < self.store.forgotten:
            yield line("ERROR", expired(since, self.store.forgotten).status)
            return
        try:
            async with asyncio.timeout(seconds):
                while True:
                    moved = self.store.moved
                    for event in [one for one in self.store.events if one.version > since]:
                        since = event.version
                        if event.kind.key == place.kind.key and (what := _seen(event, test)):
                            one = event.new
                            yield line(what, self._shown(asked, place.kind, [one], one))
                    await moved.wait()
        except TimeoutError:
            if asked.query.get("allowWatchBookmarks") == "true":
                last = {"metadata": {"resourceVersion": str(self.store.version)}}
                told = {"kind": place.kind.kind, "apiVersion": place.kind.api_version, **last}
                yield line("BOOKMARK", told)

    def _shown(
        self, asked: Asked, kind: Kind, objects: list[Object], plain: Json
    ) -> dict[str, Any]:
        if tables.wanted(asked.accept):
            return tables.table(kind, objects, str(self.store.version), self.store.now())
        return plain


def _seen(event: Event, test: Callable[[Object], bool]) -> str:
    """Return what a watch sees of a change: an object may enter or leave its selection."""
    was = event.old is not None and test(event.old)
    is_now = test(event.new)
    if event.what == "DELETED":
        return "DELETED" if was else ""
    if is_now:
        return "MODIFIED" if was else "ADDED"
    return "DELETED" if was else ""


def _bare(one: Object) -> Object:
    return {key: entry for key, entry in one.items() if key not in {"kind", "apiVersion"}}


def _number(query: Mapping[str, str], key: str) -> int | None:
    told = query.get(key, "")
    if not told:
        return None
    if not told.isdigit():
        message = f'strconv.ParseInt: parsing "{told}": invalid syntax'
        raise Refusal(400, message)
    return int(told)


def _token(version: int, start: int) -> str:
    told = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start}).encode()
    return base64.urlsafe_b64encode(told).decode().rstrip("=")
