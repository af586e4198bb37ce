"""The server as one thing: a world, its keys, its faults and what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from bot.clouds.timing import Timing
from playground.crusoe.api import PREFIX, Api
from playground.crusoe.faults import Fault, Faults, carry_out, refused
from playground.crusoe.http1 import Reply, Request, serving
from playground.crusoe.judge import Key, Unsigned, judge
from playground.crusoe.world import World

#: How far a request's timestamp may be off; Crusoe documents no number.
TOLERANCE = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """One request and what it was answered with."""

    request: Request
    #: 0 where no answer was given
    status: int
    #: why the signature was not good, where it was not
    finding: str = ""


@dataclass(kw_only=True)
class CrusoeServer:
    """A local Crusoe API, running."""

    world: World
    api: Api
    keys: dict[str, Key]
    timing: Timing
    port: int = 0
    tolerance: timedelta = TOLERANCE
    faults: Faults = field(default_factory=Faults)
    served: list[Served] = field(default_factory=list)
    #: told of each request when its answer is ready and before it is sent
    watcher: Callable[[Served], None] | None = None

    @property
    def base_url(self) -> str:
        """Return what a client is given to reach it."""
        return f"http://127.0.0.1:{self.port}{PREFIX}"

    def fail(self, fault: Fault) -> None:
        """Let something go wrong with a later request."""
        self.faults.add(fault)

    def asked(self, method: str, ending: str = "") -> list[Served]:
        """Return what was asked so far with a method and a path that ends so."""
        return [
            one
            for one in self.served
            if one.request.method == method
            and one.request.target.partition("?")[0].endswith(ending)
        ]

    async def handle(self, request: Request) -> Reply:
        """Judge the signature, then answer, or let a fault answer."""
        fault = self.faults.take(request)
        finding, reply = "", refused(401)
        if fault is None or fault.after_effect:
            finding, reply = self._answered(request)
        gives = fault.gives if fault else reply
        status = gives.status if isinstance(gives, Reply) else 0
        served = Served(request=request, status=status, finding=finding)
        self.served.append(served)
        if self.watcher:
            self.watcher(served)
        return await carry_out(gives)

    def _answered(self, request: Request) -> tuple[str, Reply]:
        try:
            key = judge(request, self.keys, now=self.timing.now(), tolerance=self.tolerance)
        except Unsigned as finding:
            return str(finding), refused(401)
        return "", self.api.reply(request, key)


@asynccontextmanager
async def running(
    *, keys: Iterable[Key], timing: Timing | None = None, port: int = 0
) -> AsyncIterator[CrusoeServer]:
    """Run a server with an empty world on 127.0.0.1; port 0 lets the kernel choose one."""
    timing = timing or Timing()
    world = World(timing=timing)
    server = CrusoeServer(
        world=world,
        api=Api(world=world),
        keys={key.access_key_id: key for key in keys},
        timing=timing,
    )
    async with serving(server.handle, timing=timing, port=port) as chosen:
        server.port = chosen
        yield server
