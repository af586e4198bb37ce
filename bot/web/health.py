"""Health for those who restart and route, numbers for those who watch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

_OK, _UNAVAILABLE = 200, 503


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """Whether it works, and the reasons why not."""

    #: seconds since an envelope came or a ping was answered; None in HTTP mode
    silent_s: float | None
    problems: tuple[str, ...] = ()


def healthz(request: Request) -> Response:
    """Answer that the process runs: the event loop turned to say so."""
    del request
    return JSONResponse({"ok": True})


def readyz(
    ready: Callable[[], Awaitable[Readiness]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers whether Slack was heard lately and the store takes rows."""

    async def answer(request: Request) -> Response:
        del request
        found = await ready()
        said = {"ok": not found.problems, "problems": list(found.problems)}
        if found.silent_s is not None:
            said["last_heard_s"] = round(found.silent_s, 1)
        return JSONResponse(said, status_code=_UNAVAILABLE if found.problems else _OK)

    return answer


class _Numbers(Collector):
    """The numbers as they are at the moment of a scrape."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        for name, value in self._read().items():
            yield GaugeMetricFamily(f"nccl_dns_{name}", name.replace("_", " "), value=value)


def metrics(
    read: Callable[[], Mapping[str, float]],
) -> Callable[[Request], Response]:
    """Return what answers a scrape, in Prometheus' format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Numbers(read))

    def answer(request: Request) -> Response:
        del request
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return answer
