"""Keep one connection to each machine, and share the way there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import asyncssh

from bot.hosts.errors import LoginError, RouteError
from bot.hosts.port import Target
from bot.hosts.ssh.connect import Opened, Place, open_to
from bot.hosts.ssh.options import SshOptions
from bot.hosts.ssh.pins import Pins


@dataclass(kw_only=True)
class _Slot:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    opened: Opened | None = None
    used: float = 0.0
    #: probes that use it now; None where it is not for probes, and closed for its age alone
    probes: int | None = None


class Pool:
    """Connections that stay open between probes."""

    def __init__(self, options: SshOptions, pins: Pins, clock: Callable[[], float]) -> None:
        self._options = options
        self._pins = pins
        self._clock = clock
        self._slots: dict[tuple[str, str], _Slot] = {}
        self._jump = _Slot()
        #: when the way failed last, and how: those who waited need not try it again, one by one
        self._blocked: tuple[float, str] = (float("-inf"), "")

    async def get(self, target: Target) -> Opened:
        """Return an open connection to a machine, one for all who ask; raises a LoginError."""
        place = Place(
            name=target.name,
            alias=target.vm_id,
            address=target.address,
            port=self._options.port,
            user=self._options.user,
        )
        opened = await self.at(place)
        slot = self._slots.get((place.alias, place.address))
        if slot is not None and slot.opened is opened:
            slot.probes = (slot.probes or 0) + 1
        return opened

    def spare(self, target: Target, opened: Opened) -> None:
        """Say that a probe is over; close what was unused for longest where too many are open."""
        slot = self._slots.get((target.vm_id, target.address))
        if slot is not None and slot.opened is opened and slot.probes:
            slot.probes -= 1
        unused = [(key, one) for key, one in self._slots.items() if one.probes == 0]
        unused.sort(key=lambda item: item[1].used)
        for key, one in unused[: max(len(unused) - self._options.limits.kept, 0)]:
            del self._slots[key]
            if one.opened:
                one.opened.connection.close()

    async def at(self, place: Place, *, by: Place | None = None) -> Opened:
        """Return an open connection to a place, through another one instead of the jump hosts.

        Raises a LoginError.
        """
        if by and (before := self._slots.get((by.alias, by.address))):
            before.used = self._clock()
        await self._close_idle()
        slot = self._slots.setdefault((place.alias, place.address), _Slot())
        async with slot.lock:
            slot.used = self._clock()
            if slot.opened is None or slot.opened.connection.is_closed():
                through = (await self.at(by)).connection if by else await self._way()
                slot.opened = await open_to(
                    place, self._options.keys, self._pins, self._options.limits, through
                )
            return slot.opened

    async def drop(self, target: Target) -> None:
        """Close the connection to a machine that did not behave."""
        await self.leave(target.vm_id, target.address)

    async def leave(self, alias: str, address: str) -> None:
        """Close the connection to a place, by what its host key is pinned to and its address."""
        slot = self._slots.pop((alias, address), None)
        if slot and slot.opened:
            slot.opened.connection.abort()

    async def close(self) -> None:
        """Close everything."""
        slots = [*self._slots.values(), self._jump]
        self._slots.clear()
        for slot in slots:
            if slot.opened:
                slot.opened.connection.abort()
        for slot in slots:
            if slot.opened:
                await slot.opened.connection.wait_closed()

    async def _close_idle(self) -> None:
        oldest = self._clock() - self._options.limits.idle.total_seconds()
        for key, slot in list(self._slots.items()):
            if slot.used < oldest and slot.opened and not slot.lock.locked():
                del self._slots[key]
                slot.opened.connection.close()

    async def _way(self) -> asyncssh.SSHClientConnection | None:
        """Return the last jump host's connection; a jump host that fails is no machine's fault."""
        if not self._options.jumps:
            return None
        async with self._jump.lock:
            if self._jump.opened is None or self._jump.opened.connection.is_closed():
                since, why = self._blocked
                if self._clock() < since + self._options.limits.connect.total_seconds():
                    raise RouteError(why)
                self._jump.opened = await self._open_way()
            return self._jump.opened.connection

    async def _open_way(self) -> Opened:
        opened: Opened | None = None
        limits = self._options.limits
        for jump in self._options.jumps:
            place = Place(
                name=f"the jump host {jump.host}",
                alias=jump.host,
                address=jump.host,
                port=jump.port,
                user=jump.user,
            )
            try:
                opened = await open_to(
                    place,
                    self._options.keys,
                    self._pins,
                    replace(limits, login=limits.connect),
                    opened.connection if opened else None,
                )
            except LoginError as error:
                why = f"The way to the machines fails: {error}"
                self._blocked = (self._clock(), why)
                raise RouteError(why) from error
        assert opened is not None  # noqa: S101 # only asked where there are jumps
        return opened
