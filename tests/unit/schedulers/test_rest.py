"""Prove what is sent to slurmrestd in each version, and how its answers are taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.schedulers.errors import (
    AccessError,
    NeedsWayError,
    RequestRefusedError,
    SchedulerUnavailableError,
    UnknownNodeError,
    UnreadableAnswerError,
)
from bot.schedulers.port import Operation
from bot.schedulers.slurm.rest import RestWay
from tests.unit.schedulers.test_shapes import recorded

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


def way(answer: Callable[[httpx.Request], httpx.Response], version: int = 43) -> RestWay:
    """Return a service that answers so."""
    return RestWay(
        cluster="hall",
        base_url="http://slurm.example:6820",
        user="bot",
        token=lambda: "e30.e30.c2ln",
        version=version,
        transport=httpx.MockTransport(answer),
    )


def saying(body: object, status: int = 200) -> Callable[[httpx.Request], httpx.Response]:
    """Return a service that always answers the same."""
    return lambda _: httpx.Response(status, json=body)


def refusing(error: str, number: int, status: int = 500) -> RestWay:
    """Return a service whose every answer is an error of Slurm's."""
    return way(saying({"errors": [{"error": error, "error_number": number}], "jobs": []}, status))


@pytest.mark.parametrize("version", range(38, 44))
async def test_a_job_is_asked_for_in_its_version(version: int) -> None:
    """Path and token are those of the version and the user, and the job is read."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"jobs": [recorded(version)["job"]], "errors": []})

    (job,) = await way(answer, version).live(48213)

    assert (job.id, job.exit_code) == ("48213", 1)
    assert seen[0].url.path == f"/slurm/v0.0.{version}/job/48213"
    assert seen[0].headers["X-SLURM-USER-NAME"] == "bot"
    assert seen[0].headers["X-SLURM-USER-TOKEN"] == "e30.e30.c2ln"


@pytest.mark.parametrize("version", range(39, 44))
async def test_changes_are_posted(version: int) -> None:
    """From v0.0.39 on a node is drained and resumed and a job held by POST."""
    seen: list[tuple[str, str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        seen.append((request.method, request.url.path, body))
        return httpx.Response(200, json={"errors": []})

    service = way(answer, version)
    await service.drain("gpu-03", "nccl-dns: x (was IDLE)")
    await service.resume("gpu-03")
    await service.hold("48213_7")
    await service.cancel("48213")

    base = f"/slurm/v0.0.{version}"
    assert seen == [
        ("POST", f"{base}/node/gpu-03", {"state": ["DRAIN"], "reason": "nccl-dns: x (was IDLE)"}),
        ("POST", f"{base}/node/gpu-03", {"state": ["RESUME"]}),
        ("POST", f"{base}/job/48213_7", {"hold": True}),
        ("DELETE", f"{base}/job/48213", None),
    ]
    with pytest.raises(NeedsWayError, match=rf"slurmrestd v0.0.{version}.*login node"):
        await service.requeue("48213")


async def test_the_oldest_version_sends_no_change() -> None:
    """v0.0.38 has no path for them: nothing is sent, and a login node is named."""

    def answer(request: httpx.Request) -> httpx.Response:
        pytest.fail(f"{request.method} {request.url} was sent")

    service = way(answer, 38)

    assert not service.can & {Operation.DRAIN, Operation.RESUME, Operation.HOLD}
    for refused in (service.drain("n0", "x"), service.resume("n0"), service.hold("1")):
        with pytest.raises(NeedsWayError, match="login node"):
            await refused


async def test_accounting_is_asked_and_may_not_be_there() -> None:
    """A job, none of that number, and no path at all are three answers."""
    accounted = {"jobs": [recorded(43)["accounted"]], "errors": []}
    found = await way(saying(accounted)).history(48213)
    none = await way(saying({"jobs": [], "errors": []})).history(48213)
    absent = await way(lambda _: httpx.Response(404, text="Unable find requested URL.")).history(1)

    assert [job.id for job in found.jobs] == ["48213"]
    assert (found.accounting, none.accounting, none.jobs) == (True, True, ())
    assert (absent.accounting, absent.jobs) == (False, ())


async def test_failures_are_picked_from_what_is_remembered() -> None:
    """Only failed jobs that ended since then."""
    job = recorded(43)["job"]
    fine = {**job, "job_id": 1, "job_state": ["COMPLETED"]}
    service = way(saying({"jobs": [job, fine], "errors": []}))
    ended = datetime(2026, 11, 30, 20, 46, 45, tzinfo=UTC)

    assert [one.id for one in await service.failures(ended)] == ["48213"]
    assert await service.failures(ended + timedelta(seconds=1)) == ()


async def test_errors_of_slurm_are_told_apart() -> None:
    """Unknown, refused, a bad token in 22.05's words, and a controller that is away."""
    assert await refusing("Invalid job id specified", 2017).live(9) == ()
    with pytest.raises(AccessError, match="token"):
        await refusing("Unspecified error", -1).live(9)
    with pytest.raises(AccessError):
        await refusing("Protocol authentication error", 1007).live(9)
    with pytest.raises(SchedulerUnavailableError, match="controller"):
        await refusing("Unable to contact slurm controller (connect failure)", 1).live(9)
    with pytest.raises(RequestRefusedError, match="was not cancelled: Job is done"):
        await refusing("Job is done", 2021).cancel("9")
    with pytest.raises(UnknownNodeError, match="n9"):
        await refusing("Invalid node name specified", 2018).some_nodes(("n9",))
    with pytest.raises(
        UnreadableAnswerError, match=r"does not serve v0\.0\.43.*hall\.rest\.version"
    ):
        await way(lambda _: httpx.Response(404, text="Unable find requested URL.")).live(9)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_token_is_no_unknown_job(status: int) -> None:
    """The mend is a new token."""
    with pytest.raises(AccessError, match="scontrol token"):
        await way(lambda _: httpx.Response(status, text="Authentication failure")).live(1)


async def test_what_is_not_slurmrestd_is_named() -> None:
    """HTML, a redirect and JSON of another shape are no answers."""
    with pytest.raises(UnreadableAnswerError, match="no JSON"):
        await way(lambda _: httpx.Response(200, text="<html>portal</html>")).live(1)
    with pytest.raises(UnreadableAnswerError, match="no JSON"):
        await way(lambda _: httpx.Response(302, headers={"location": "http://x"})).live(1)
    with pytest.raises(UnreadableAnswerError, match="without 'jobs'"):
        await way(saying({"hello": 1})).live(1)
    with pytest.raises(UnreadableAnswerError, match="without 'nodes'"):
        await way(saying([1, 2])).all_nodes()


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout("late")])
async def test_a_service_that_is_away_may_be_asked_again(error: httpx.TransportError) -> None:
    """Connection errors and time-outs are transient and name the address."""

    def answer(_: httpx.Request) -> httpx.Response:
        raise error

    with pytest.raises(SchedulerUnavailableError, match=r"slurm\.example") as raised:
        await way(answer).live(1)
    assert raised.value.transient


async def test_the_newest_known_version_is_taken() -> None:
    """Of what is served, newer ones than we know and older ones than we speak are passed over."""
    paths: dict[str, object] = {f"/slurm/v0.0.{version}/ping/": {} for version in (36, 41, 42, 99)}

    assert await way(saying({"paths": paths})).newest_version() == 42
    with pytest.raises(UnreadableAnswerError, match=r"none of v0\.0\.38 to v0\.0\.43"):
        await way(saying({"paths": {"/slurm/v0.0.99/ping/": {}}})).newest_version()
