"""Look names up, and go on with the last good answer while nobody answers.

The bot must outlive the outage that it reports.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.network.route import address_of

_LOG = logging.getLogger(__name__)
#: A lookup that takes longer counts as not answered; glibc would go on for half a minute.
_BOUND_S = 3.0
#: While nobody answers, so long passes between two lookups of a name.
_AGAIN_S = 15.0
#: An answer holds for so long without a new lookup.
_FRESH_S = 10.0
#: An older answer is not used: whose address it is by now, nobody knows.
_GOOD_FOR = timedelta(days=7)
#: An unchanged answer is written again after this time.
_WRITE_EVERY = timedelta(minutes=10)
_THREADS = 4

Lookup = Callable[[str], Awaitable[tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The addresses of a host."""

    addresses: tuple[str, ...]
    #: when they were looked up
    at: datetime
    #: nobody answers now: it is the last good answer
    is_last_known: bool = False


class SystemLookup:
    """Asks the system, on threads of its own: hung lookups must not take those of other work."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="names")

    async def __call__(self, host: str) -> tuple[str, ...]:
        """Return the addresses of a host; raises socket.gaierror."""
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _ask, host)
        return tuple(dict.fromkeys(str(one[4][0]) for one in found))


def _ask(host: str) -> list[tuple[Any, ...]]:
    return list(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))


class Names:
    """The names of endpoints, and what they resolved to last."""

    def __init__(
        self,
        *,
        file: Path | None = None,
        fixed: Mapping[str, str] | None = None,
        lookup: Lookup | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        #: outlives a restart; None keeps nothing
        self._file = file
        self._fixed = dict(fixed or {})
        self._lookup = lookup or SystemLookup()
        self._now = now
        self._known: dict[str, Answer] = _read(file) if file else {}
        self._written: dict[str, Answer] = dict(self._known)
        #: host → until when its answer is taken without a new lookup
        self._holds: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def addresses(self, host: str) -> Answer:
        """Return the addresses of a host: fixed ones, fresh ones, or the last known.

        Raises socket.gaierror where the name has none, or nobody answers and none is known.
        """
        if address_of(host) is not None:
            return Answer(addresses=(host.strip("[]"),), at=self._now())
        if fixed := self._fixed.get(host):
            return Answer(addresses=(fixed,), at=self._now())
        async with self._locks.setdefault(host, asyncio.Lock()):
            known = self._known.get(host)
            if known is not None and self._holds.get(host, 0.0) > time.monotonic():
                return known
            return await self._asked(host, known)

    def is_fixed(self, host: str) -> bool:
        """Tell whether the settings give the address of a host."""
        return host in self._fixed

    def notes(self) -> tuple[str, ...]:
        """Say which hosts are reached at their last known address, one sentence for each."""
        return tuple(
            f"{host} is reached at its last known address {answer.addresses[0]} (from "
            f"{_when(answer.at, self._now())}): names do not resolve where the bot runs."
            for host, answer in sorted(self._known.items())
            if answer.is_last_known and host in self._holds
        )

    async def refresh(self, hosts: Iterable[str] = ()) -> None:
        """Look up hosts, and those asked for before, so that an outage finds their addresses."""
        for host in sorted({*hosts, *self._holds}):
            with suppress(OSError):
                await self.addresses(host)

    async def _asked(self, host: str, known: Answer | None) -> Answer:
        try:
            async with asyncio.timeout(_BOUND_S):
                addresses = await self._lookup(host)
        except (TimeoutError, socket.gaierror) as error:
            return self._last_known(host, known, error)
        if known is not None and known.is_last_known:
            _LOG.info("%s resolves again", host)
        answer = Answer(addresses=addresses, at=self._now())
        self._keep(host, answer, _FRESH_S)
        self._write(host)
        return answer

    def _last_known(self, host: str, known: Answer | None, error: Exception) -> Answer:
        silent = isinstance(error, TimeoutError) or error.errno == socket.EAI_AGAIN  # type: ignore[attr-defined]
        if not silent:
            raise error
        if known is None or self._now() - known.at > _GOOD_FOR:
            raise socket.gaierror(
                socket.EAI_AGAIN, f"nobody answers for the name {host} where the bot runs"
            ) from error
        answer = Answer(addresses=known.addresses, at=known.at, is_last_known=True)
        self._keep(host, answer, _AGAIN_S)
        if not known.is_last_known:
            _LOG.warning(
                "nobody answers for the name %s: its last known address %s is used (from %s)",
                host, answer.addresses[0], _when(answer.at, self._now()),
            )  # fmt: skip
        return answer

    def _keep(self, host: str, answer: Answer, seconds: float) -> None:
        self._known[host] = answer
        self._holds[host] = time.monotonic() + seconds

    def _write(self, host: str) -> None:
        """Put what is known into the file; where that fails, a restart knows less."""
        before, answer = self._written.get(host), self._known[host]
        same = before is not None and before.addresses == answer.addresses
        if self._file is None or (same and before and answer.at - before.at < _WRITE_EVERY):
            return
        rows = {
            name: {"addresses": list(one.addresses), "at": one.at.isoformat()}
            for name, one in sorted(self._known.items())
        }
        fresh = self._file.with_name(f".{self._file.name}.{secrets.token_hex(4)}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh.write_text(json.dumps(rows, indent=1), encoding="utf-8")
            os.replace(fresh, self._file)  # noqa: PTH105 - one name for one call
        except OSError as error:
            _LOG.warning("%s was not written: %s", self._file, error.strerror)
        self._written[host] = answer


def _read(file: Path) -> dict[str, Answer]:
    """Return what was known when the file was written; nothing where it cannot be read."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return {
            str(host): Answer(
                addresses=tuple(map(str, row["addresses"])), at=datetime.fromisoformat(row["at"])
            )
            for host, row in rows.items()
            if row["addresses"]
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        _LOG.warning("%s cannot be read, so no address is known from before", file)
        return {}


def _when(at: datetime, now: datetime) -> str:
    return f"{at:%H:%M} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"
