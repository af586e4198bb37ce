"""Speak to an API server: one request is one row of the table of calls, errors become sentences."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from bot.network.telling import why
from bot.schedulers.errors import (
    AccessError,
    RequestRefusedError,
    SchedulerError,
    SchedulerUnavailableError,
    UnreadableAnswerError,
)
from bot.schedulers.kubernetes.calls import Call, Resource, Verb, call
from bot.schedulers.kubernetes.errors import ConflictError, ExpiredError, NotThereError
from bot.schedulers.kubernetes.shapes import Raw, is_name, listed, text, whole, words

if TYPE_CHECKING:
    import aiohttp
    from kubernetes_asyncio.client import ApiClient

_METHODS = {Verb.GET: "GET", Verb.LIST: "GET", Verb.WATCH: "GET", Verb.PATCH: "PATCH"}
#: Objects of one page of a list, as kubectl asks for them.
_PAGE = 500
#: Pages of one list: no cluster has more pods.
_MOST_PAGES = 1000
#: Bytes of one answer that are read; a page of 500 fat pods is some megabytes.
_MOST_BYTES = 64 << 20
_MOST_LINE = 8 << 20
#: Further tries of a reading request that was turned away, and the longest wait for one.
_AGAIN = 2
_LONGEST_WAIT = 5.0
_BUSY = frozenset({429, 502, 503, 504})


class ApiServer:
    """One API server, as one account."""

    def __init__(self, client: ApiClient, *, cluster: str, timeout: timedelta) -> None:
        self._client = client
        self._cluster = cluster
        self._timeout = timeout.total_seconds()

    async def get(self, resource: Resource, *, namespace: str = "", name: str) -> Raw:
        """Return one object; raises NotThereError."""
        return await self._json(call(Verb.GET, resource), namespace=namespace, name=name)

    async def patch(
        self, resource: Resource, *, namespace: str = "", name: str, body: Raw, manager: str
    ) -> Raw:
        """Change an object by a merge patch; raises ConflictError where it is another by now."""
        return await self._json(
            call(Verb.PATCH, resource),
            namespace=namespace,
            name=name,
            query={"fieldManager": manager},
            body=body,
        )

    async def listed(
        self, resource: Resource, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[Raw]:
        """Return the objects of a kind, page by page; from the start where the list expires."""
        found, _ = await self.listed_at(resource, namespace=namespace, labels=labels, fields=fields)
        return found

    async def listed_at(
        self, resource: Resource, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> tuple[list[Raw], str]:
        """Return the objects and the version of the list, from which it can be watched."""
        for _ in range(3):
            try:
                return await self._pages(resource, namespace, _selectors(labels, fields))
            except ExpiredError:
                continue
        message = f"Cluster {self._cluster} forgets lists of {resource.named} while they are read."
        raise SchedulerUnavailableError(message)

    async def watch(
        self,
        resource: Resource,
        *,
        namespace: str,
        labels: str,
        version: str,
        seconds: int,
    ) -> AsyncGenerator[tuple[str, Raw]]:
        """Yield what becomes of objects from a version on: ADDED, MODIFIED, DELETED, BOOKMARK.

        Ends after `seconds` by the server's own hand. Raises ExpiredError where the version is
        forgotten.
        """
        query = {
            **_selectors(labels, ""),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        asked = call(Verb.WATCH, resource)
        async with self._sent(
            asked, namespace=namespace, query=query, seconds=seconds + self._timeout
        ) as answer:
            async for line in _lines(answer):
                event = _parsed(line, self._cluster)
                told = event.get("object")
                if text(event, "type") == "ERROR":
                    raise self._refusal(whole(told, "code") or 500, _quoted(told), told)
                if isinstance(told, Mapping):
                    yield text(event, "type"), cast("Raw", told)

    async def log(
        self, resource: Resource, *, namespace: str, name: str, query: Mapping[str, str]
    ) -> AsyncGenerator[bytes]:
        """Yield the bytes of a container's log as they come."""
        async with self._sent(
            call(Verb.GET, resource), namespace=namespace, name=name, query=query, seconds=0
        ) as answer:
            async for piece in answer.content.iter_chunked(1 << 17):
                yield piece

    async def _pages(
        self, resource: Resource, namespace: str, query: Mapping[str, str]
    ) -> tuple[list[Raw], str]:
        found: list[Raw] = []
        asked = {**query, "limit": str(_PAGE)}
        for _ in range(_MOST_PAGES):
            page = await self._json(call(Verb.LIST, resource), namespace=namespace, query=asked)
            found += listed(page, "items")
            following = text(page, "metadata", "continue")
            if not following:
                return found, text(page, "metadata", "resourceVersion")
            asked["continue"] = following
        message = f"Cluster {self._cluster} does not end its list of {resource.named}."
        raise UnreadableAnswerError(message)

    async def _json(
        self,
        asked: Call,
        *,
        namespace: str,
        name: str = "",
        query: Mapping[str, str] | None = None,
        body: Raw | None = None,
    ) -> Raw:
        for left in reversed(range(1 if body is not None else _AGAIN + 1)):
            try:
                async with self._sent(
                    asked, namespace=namespace, name=name, query=query or {}, body=body
                ) as answer:
                    return _parsed(await _whole(answer), self._cluster)
            except _BusyError as busy:
                if not left:
                    raise
                await asyncio.sleep(busy.wait)
        raise AssertionError

    @asynccontextmanager
    async def _sent(
        self,
        asked: Call,
        *,
        namespace: str = "",
        name: str = "",
        query: Mapping[str, str],
        body: Raw | None = None,
        seconds: float | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send one request and give its answer, or raise what its status means."""
        import aiohttp

        for one in (namespace, name):
            if one and not is_name(one):
                message = f"{ascii(one)[:80]} is no name of Kubernetes; nobody was asked."
                raise RequestRefusedError(message)
        total = self._timeout if seconds is None else seconds or None
        limits = aiohttp.ClientTimeout(
            total=total, sock_connect=self._timeout, sock_read=total or self._timeout
        )
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json"
        try:
            answer = await self._client.call_api(
                asked.resource.path(namespace=namespace, name=name),
                _METHODS[asked.verb],
                query_params=list(query.items()),
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=limits,
            )
            async with answer:
                if answer.history:
                    message = f"The API server of {self._cluster} sends requests elsewhere."
                    raise UnreadableAnswerError(f"{message} Check its URL in the settings.")
                if answer.status >= HTTPStatus.BAD_REQUEST:
                    raise await self._refused(answer)
                yield answer
        except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError) as error:
            raise self._unreachable(error) from error

    async def _refused(self, answer: aiohttp.ClientResponse) -> SchedulerError:
        raw = await answer.content.read(1 << 16)
        try:
            told: object = json.loads(raw)
        except (ValueError, RecursionError):
            told = None
        said = _quoted(told) or words({"": raw.decode("utf-8", "replace")}, "")
        if answer.status in _BUSY:
            return _BusyError(
                f"The API server of {self._cluster} is busy or away ({answer.status}: {said}). "
                "Nothing was changed; ask again in a minute.",
                wait=_wait(answer.headers.get("Retry-After", "")),
            )
        return self._refusal(answer.status, said, told)

    def _refusal(  # noqa: PLR0911 - one line a status
        self, status: int, said: str, told: object
    ) -> SchedulerError:
        """Return the error that a status means (Status of meta/v1, `reason` and `message`)."""
        cluster = self._cluster
        if status == HTTPStatus.UNAUTHORIZED:
            return AccessError(
                f"The API server of {cluster} refuses the credentials ({said}). "
                "Check the token or the kubeconfig in the settings."
            )
        if status == HTTPStatus.FORBIDDEN:
            return AccessError(
                f"The API server of {cluster} forbids it: {said}. Nothing was done; apply the "
                "RBAC manifest again, or ask whoever runs the cluster."
            )
        if status == HTTPStatus.NOT_FOUND:
            kind_missing = text(told, "kind") != "Status" or not text(told, "details", "name")
            return NotThereError(f"{cluster}: {said}", kind_missing=kind_missing)
        if status == HTTPStatus.CONFLICT:
            return ConflictError(f"{cluster}: {said}")
        if status == HTTPStatus.GONE:
            return ExpiredError(f"{cluster}: {said}")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return SchedulerUnavailableError(f"The API server of {cluster} fails: {said}")
        return RequestRefusedError(f"The API server of {cluster} refuses that: {said}")

    def _unreachable(self, error: Exception) -> SchedulerUnavailableError:
        said = why(error) or str(error)
        told = words({"": said}, "") if said else type(error).__name__
        return SchedulerUnavailableError(
            f"The API server of {self._cluster} cannot be reached ({told}). Nothing was changed; "
            "check the network between this machine and it."
        )


class _BusyError(SchedulerUnavailableError):
    def __init__(self, message: str, *, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


def _wait(after: str) -> float:
    seconds = int(after) if after.isascii() and after.isdigit() and len(after) < 6 else 1  # noqa: PLR2004
    return min(float(seconds), _LONGEST_WAIT)


def _selectors(labels: str, fields: str) -> dict[str, str]:
    told = {"labelSelector": labels, "fieldSelector": fields}
    return {key: selector for key, selector in told.items() if selector}


def _quoted(told: object) -> str:
    return words(told, "message") or words(told, "reason")


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    found = bytearray()
    async for piece in answer.content.iter_chunked(1 << 16):
        found += piece
        if len(found) > _MOST_BYTES:
            message = f"An answer of the API server is over {_MOST_BYTES >> 20} MiB."
            raise UnreadableAnswerError(message)
    return bytes(found)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    carried = b""
    async for piece in answer.content.iter_any():
        *lines, carried = (carried + piece).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(carried) > _MOST_LINE:
            raise UnreadableAnswerError("An event of the API server does not end.")


def _parsed(data: bytes, cluster: str) -> Raw:
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        shown = words({"": data[:200].decode("utf-8", "replace")}, "")
        message = f"The API server of {cluster} should answer JSON, and says {shown!r}."
        raise UnreadableAnswerError(message)
    return cast("Raw", found)
