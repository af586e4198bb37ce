"""Prove that the local server is strict: what it lets pass, the client must have got right."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.cloud import open_session
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import endpoint
from bot.clouds.crusoe.session import Session
from playground.crusoe.http1 import Request
from playground.crusoe.judge import Key, Unsigned, judge
from playground.crusoe.server import CrusoeServer, running
from playground.crusoe.world import World
from tests.clock import START, Clock

pytestmark = pytest.mark.anyio

KEY = Key(access_key_id="EXAMPLEKEYID0001", secret_key="----ABEiM0RVZneImaq7zN3u_w")  # noqa: S106
RAW = bytes.fromhex("fbefbe00112233445566778899aabbccddeeff")
STAMP = "2026-01-02T03:04:05Z"
PATH = "/v1/users/identities"


def signed(text: str, *, raw: bytes = RAW) -> str:
    """Sign a text by hand."""
    mac = hmac.new(raw, text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(mac).decode().rstrip("=")


def bearer(signature: str) -> str:
    """Return the value of an Authorization header."""
    return f"Bearer 1.0:{KEY.access_key_id}:{signature}"


def request(
    authorization: str | None = None, stamp: str = STAMP, target: str = PATH, **more: str
) -> Request:
    """Build a request by hand, by default with a good signature."""
    good = bearer(signed(f"{PATH}\n\nGET\n{stamp}\n"))
    headers = [("authorization", authorization or good), ("x-crusoe-timestamp", stamp)]
    headers += [(name.replace("_", "-"), value) for name, value in more.items()]
    return Request(method="GET", target=target, headers=tuple(headers), body=b"")


def verdict(asked: Request) -> str:
    """Return what the judge finds, empty where the signature is good."""
    try:
        judge(asked, {KEY.access_key_id: KEY}, now=START, tolerance=timedelta(minutes=5))
    except Unsigned as finding:
        return str(finding)
    return ""


def test_both_spellings_of_utc_are_taken() -> None:
    """Crusoe's Go clients write Z, its Python one +00:00; what is signed is what was sent."""
    assert verdict(request()) == ""
    assert verdict(request(stamp="2026-01-02T03:04:05+00:00")) == ""


@pytest.mark.parametrize(
    ("asked", "finding"),
    [
        (request(f"Bearer 1.0:{KEY.access_key_id}:{'A' * 43}"), "does not fit"),
        (request(f"Bearer 1.0:{KEY.access_key_id}:{'A' * 43}="), "Authorization"),
        (request(f"Bearer 1.0:{KEY.access_key_id}:{'A' * 42}+"), "Authorization"),
        (request(f"Bearer 2.0:{KEY.access_key_id}:{'A' * 43}"), "Authorization"),
        (request(f"bearer 1.0:{KEY.access_key_id}:{'A' * 43}"), "Authorization"),
        (request(f"Bearer 1.0:NOBODY:{'A' * 43}"), "no such key"),
        (request(f"Bearer {KEY.secret_key}"), "Authorization"),
        (request(authorization=None, x_crusoe_timestamp=STAMP), "2 headers"),
        (request(stamp="2026-01-02T03:04:05.123Z"), "whole seconds"),
        (request(stamp="2026-01-02T05:04:05+02:00"), "whole seconds"),
        (request(stamp="2026-13-02T03:04:05Z"), "no time"),
        (request(stamp="2026-01-02T02:59:04Z"), "too far off"),
        (request(stamp="2026-01-02T03:09:06Z"), "too far off"),
        (request(target=f"{PATH}?a=1"), "does not fit"),
        (request(target=f"{PATH}?a=1;b=2"), "semicolon"),
    ],
)
def test_what_is_not_signed_right_is_found(asked: Request, finding: str) -> None:
    """Each pitfall of the description is caught for what it is."""
    assert finding in verdict(asked)


@pytest.mark.parametrize(
    "text",
    [
        f"/users/identities\n\nGET\n{STAMP}\n",
        f"{PATH}\n\nGET\n{STAMP}",
        f"{PATH}\nGET\n{STAMP}\n",
        f"{PATH}\n\nget\n{STAMP}\n",
        f"{PATH}?\n\nGET\n{STAMP}\n",
    ],
    ids=["no version", "last line open", "no query line", "lower case", "query glued on"],
)
def test_another_text_was_signed(text: str) -> None:
    """The version prefix, the empty line, the last line's end and the case all count."""
    asked = request(bearer(signed(text)))

    assert verdict(asked) == "the signature does not fit"


def test_a_key_of_the_standard_alphabet_is_another_key() -> None:
    """A decoder that drops `-` and `_` signs with a key that does not fit."""
    lax = base64.b64decode("ABEiM0RVZneImaq7zN3u")
    asked = request(bearer(signed(f"{PATH}\n\nGET\n{STAMP}\n", raw=lax)))

    assert verdict(asked) == "the signature does not fit"


@pytest.fixture
async def served() -> AsyncIterator[tuple[CrusoeServer, Session]]:
    """Run a server with one VM and open a session to it."""
    clock = Clock()
    credentials = Credentials(access_key_id=KEY.access_key_id, secret_key=KEY.secret_key)
    async with (
        running(keys=[KEY], timing=clock.timing) as server,
        open_session(endpoint(server.base_url), credentials, timing=clock.timing) as session,
    ):
        project = server.world.add_project("training")
        server.world.add_vm("gpu-1", project=project)
        yield server, session


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "status"),
    [
        ("GET", "{vms}", (("limit", "1"),), None, 200),
        ("GET", "{vms}", (("limit", "0"),), None, 400),
        ("GET", "{vms}", (("limit", "many"),), None, 400),
        ("GET", "{vms}", (("next_token", "%%%"),), None, 400),
        ("GET", "{vms}", (("next_page_token", "dm0tMQ"),), None, 400),
        ("GET", "{vms}", (("names", "a"), ("names", "b")), None, 400),
        ("GET", "{vms}/{vm}", (), None, 200),
        ("GET", "{vms}/{vm}", (("x", "1"),), None, 400),
        ("GET", "{vms}/nobody", (), None, 404),
        ("GET", "{vms}/operations", (("lower_time_bound", "now"),), None, 400),
        ("GET", "{vms}/operations", (("state", "IN_PROGRESS,FAILED"),), None, 200),
        ("GET", "{vms}/operations/nobody", (), None, 403),
        ("GET", "/projects/nobody/compute/vms/instances", (), None, 403),
        ("PATCH", "{vms}/{vm}", (), {"action": "STOP"}, 200),
        ("PATCH", "{vms}/{vm}", (), {"action": "stop"}, 400),
        ("PATCH", "{vms}/{vm}", (), {"action": "RESTART"}, 400),
        ("PATCH", "{vms}/{vm}", (), {"state": "stopped"}, 400),
        ("PATCH", "{vms}/nobody", (), {"action": "STOP"}, 404),
        ("DELETE", "{vms}/{vm}", (), None, 404),
        ("GET", "/capacities", (), None, 404),
    ],
)
async def test_requests_are_taken_as_the_description_has_them(
    served: tuple[CrusoeServer, Session],
    method: str,
    path: str,
    query: tuple[tuple[str, str], ...],
    body: dict[str, str] | None,
    status: int,
) -> None:
    """Unknown parameters, wrong values, other actions and other paths do not pass."""
    server, session = served
    (machine,) = server.world.machines.values()
    vms = f"/projects/{machine.project}/compute/vms/instances"
    call = Call(
        method=method,
        path=path.format(vms=vms, vm=machine.id),
        query=query,
        body=body,
        what="try the server",
    )

    assert (await session.answer(call)).status == status


async def test_a_body_needs_its_type(served: tuple[CrusoeServer, Session]) -> None:
    """JSON that is not said to be JSON is refused."""
    server, session = served
    (machine,) = server.world.machines.values()
    url = f"{server.base_url}/projects/{machine.project}/compute/vms/instances/{machine.id}"

    for content, kind in ((b'{"action": "STOP"}', "text/plain"), (b"STOP", "application/json")):
        answer = await session.client.patch(url, content=content, headers={"Content-Type": kind})
        assert answer.status_code == 400


async def test_an_operation_leaves_the_list_once_its_end_was_asked_for(
    served: tuple[CrusoeServer, Session],
) -> None:
    """The list holds what is in flight, and what has ended and nobody knows yet."""
    server, session = served
    world = server.world
    (machine,) = world.machines.values()
    work = world.begin(machine, "STOP", user="ada")
    assert work is not None
    operations = f"/projects/{machine.project}/compute/vms/instances/operations"
    listing = Call(method="GET", path=operations, what="list")
    asking = Call(method="GET", path=f"{operations}/{work.id}", what="ask")

    async def listed() -> int:
        items = (await session.once(listing))["items"]
        assert isinstance(items, list)
        return len(items)

    await session.once(asking)
    assert await listed() == 1
    work.due = work.started_at
    assert await listed() == 1
    assert (await session.once(asking))["state"] == "SUCCEEDED"
    assert await listed() == 0
    work.completed_at = work.started_at - world.kept - timedelta(seconds=1)
    assert (await session.answer(asking)).status == 403


def test_a_start_gives_another_dynamic_address() -> None:
    """A static one stays, and what follows an action is told to who asked."""
    clock = Clock()
    world = World(timing=clock.timing, shows={"START": "STATE_PROVISIONING"})
    told: list[tuple[str, str]] = []
    world.on_effect = lambda machine, action: told.append((machine.name, action))
    dynamic = world.add_vm("a", project="p", public_ip="203.0.113.7", state="STATE_SHUTOFF")
    static = world.add_vm(
        "b", project="p", public_ip="203.0.113.8", public_kind="static", state="STATE_SHUTOFF"
    )
    for machine in (dynamic, static):
        world.begin(machine, "START", user="ada")
    assert dynamic.state == "STATE_PROVISIONING"

    clock.advance(60)
    world.settle()

    assert dynamic.public_ip != "203.0.113.7"
    assert static.public_ip == "203.0.113.8"
    assert told == [("a", "START"), ("b", "START")]


@pytest.mark.parametrize("bytes_sent", [b"\x16\x03\x01\x00", b"GET / HTTP/1.1\r\n\r\n", b""])
async def test_no_bytes_bring_the_server_down(
    served: tuple[CrusoeServer, Session], bytes_sent: bytes
) -> None:
    """TLS, a request without a host and a mere connect are hung up on; others are still served."""
    server, session = served

    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(bytes_sent)
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()

    identity = Call(method="GET", path="/users/identities", what="ask")
    assert (await session.answer(identity)).status == 200


async def test_proxies_of_the_environment_do_not_lead_to_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An emulator on loopback is reached directly, whatever the environment says."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    clock = Clock()
    credentials = Credentials(access_key_id=KEY.access_key_id, secret_key=KEY.secret_key)
    async with (
        running(keys=[KEY], timing=clock.timing) as server,
        open_session(endpoint(server.base_url), credentials, timing=clock.timing) as session,
    ):
        identity = Call(method="GET", path="/users/identities", what="ask")
        assert (await session.answer(identity)).status == 200

    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    async with open_session(endpoint(), credentials, timing=clock.timing) as session:
        mounts = session.client._mounts
        assert any(isinstance(transport, httpx.AsyncHTTPTransport) for transport in mounts.values())
