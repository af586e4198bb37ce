"""Prove what leaves this machine, what comes of its failures, and that no secret shows."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clouds.crusoe import signing
from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.cloud import CrusoeCloud, open_session
from bot.clouds.crusoe.credentials import HIDDEN, Credentials
from bot.clouds.crusoe.endpoint import endpoint
from bot.clouds.crusoe.profiles import read_profile
from bot.clouds.errors import (
    CloudError,
    CloudSetupError,
    CloudUnavailableError,
    RequestRefusedError,
    UnreadableAnswerError,
)
from bot.clouds.model import Action
from playground.crusoe.judge import signed_text
from tests.clock import Clock

pytestmark = pytest.mark.anyio

SECRET = "----ABEiM0RVZneImaq7zN3u_w"  # noqa: S105 - made up
KEY_ID = "EXAMPLEKEYID0001"
CREDENTIALS = Credentials(access_key_id=KEY_ID, secret_key=SECRET)
READING = Call(method="GET", path="/users/identities", what="show whose key this is")
ACTING = Call(
    method="PATCH", path="/projects/p/x", body={"action": "STOP"}, what="STOP VM x", vm_id="x"
)

Handler = Callable[[httpx.Request], httpx.Response]


async def send(call: Call, handler: Handler, clock: Clock | None = None) -> dict[str, object]:
    """Send a call once to a function in the network's place."""
    async with open_session(
        endpoint(),
        CREDENTIALS,
        timing=(clock or Clock()).timing,
        transport=httpx.MockTransport(handler),
    ) as session:
        return await session.once(call)


def failing(error: Exception) -> Handler:
    """Return a network that fails so."""

    def handler(_request: httpx.Request) -> httpx.Response:
        raise error

    return handler


async def test_a_request_is_signed_as_it_leaves() -> None:
    """Timestamp, key and signature fit the path with its version and the query as sent."""
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    call = Call(method="GET", path="/x", query=(("names", "b,a"), ("limit", "5")), what="x")
    await send(call, handler)

    (request,) = seen
    assert str(request.url) == "https://api.cloud.crusoe.ai/v1/x?limit=5&names=b%2Ca"
    assert request.headers["X-Crusoe-Timestamp"] == "2026-01-02T03:04:05Z"
    message = b"/v1/x\nlimit=5&names=b%2Ca\nGET\n2026-01-02T03:04:05Z\n"
    signed = signing.signature(CREDENTIALS.key, message)
    assert request.headers["Authorization"] == f"Bearer 1.0:{KEY_ID}:{signed}"
    assert len(signed) == 43
    assert "Content-Type" not in request.headers


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), min_size=1))
def test_what_is_sent_is_what_is_signed(pairs: list[tuple[str, str]]) -> None:
    """No value, with commas, colons, plus signs or spaces, changes on its way into the URL."""
    encodable = [(k, v) for k, v in pairs if (k + v).isprintable()]
    call = Call(method="GET", path="/x", query=tuple(encodable), what="x")

    url = httpx.URL(f"{endpoint()}{call.target}")

    raw = url.query.decode("ascii")
    assert signing.canonical_query(raw) == raw
    assert signing.payload(method="GET", path=url.path, query=raw, stamp="s") == signed_text(
        "GET", url.raw_path.decode("ascii"), "s"
    )


async def test_a_signature_goes_to_no_other_host() -> None:
    """The signer refuses before anything is sent."""
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    async with open_session(
        endpoint(), CREDENTIALS, transport=httpx.MockTransport(handler)
    ) as session:
        for url in ("https://elsewhere.example/v1/x", "http://api.cloud.crusoe.ai/v1/x"):
            with pytest.raises(CloudSetupError, match="Nothing was sent"):
                await session.client.get(url)

    assert seen == []


@pytest.mark.parametrize(
    ("error", "words", "doubt"),
    [
        (httpx.ConnectError("[Errno -3] Temporary failure in name resolution"), "name res", False),
        (httpx.ConnectTimeout(""), "did not answer in time", False),
        (httpx.PoolTimeout(""), "did not answer in time", False),
        (httpx.ProxyError("403 Forbidden"), "403 Forbidden", False),
        (httpx.ReadTimeout(""), "did not answer in time", True),
        (httpx.WriteTimeout(""), "did not answer in time", True),
        (TimeoutError(), "did not answer in time", True),
        (httpx.ReadError("reset by peer"), "reset by peer", True),
        (httpx.WriteError(""), "WriteError", True),
        (httpx.RemoteProtocolError("Server disconnected"), "disconnected", True),
    ],
)
async def test_every_failure_of_the_network_has_its_sentence(
    error: Exception,
    words: str,
    doubt: bool,  # noqa: FBT001
) -> None:
    """An action is in doubt unless nothing of it was sent; a reading never is."""
    with pytest.raises(CloudUnavailableError, match=words) as reading:
        await send(READING, failing(error))
    with pytest.raises(CloudUnavailableError, match=words) as acting:
        await send(ACTING, failing(error))

    assert not reading.value.in_doubt
    assert acting.value.in_doubt is doubt
    verdict = "It is not known whether the VM was acted on" if doubt else "Nothing was done"
    assert verdict in str(acting.value)
    assert "status page" in str(reading.value)


async def test_an_answer_whose_encoding_is_broken() -> None:
    """What claims to be gzip and is not cannot be read."""

    def handler(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"not gzip")
        )

    with pytest.raises(UnreadableAnswerError, match="encoding"):
        await send(READING, handler)


async def test_an_action_that_never_left_is_sent_again_without_a_look() -> None:
    """A connection that could not be made leaves no doubt."""
    asked: list[str] = []
    vm = {"id": "x", "name": "gpu-1", "project_id": "p", "state": "STATE_RUNNING"}

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if request.method == "GET":
            return httpx.Response(
                200, json={"items": []} if "operations" in str(request.url) else vm
            )
        if asked.count("PATCH") == 1:
            raise httpx.ConnectError("All connection attempts failed")
        operation = {"operation_id": "op-1", "state": "IN_PROGRESS"}
        return httpx.Response(200, json={"operation": operation})

    async with open_session(
        endpoint(), CREDENTIALS, timing=Clock().timing, transport=httpx.MockTransport(handler)
    ) as session:
        begun = await CrusoeCloud(session, project="p").act("x", Action.STOP)

    assert begun.id == "op-1"
    assert asked == ["GET", "GET", "PATCH", "PATCH"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"code": "400", "message": "bad_request"}, "It says: bad_request"),
        ({"code": "bad_request", "message": "invalid action"}, "bad_request, invalid action"),
        ({"code": 3, "message": "rpc error: code = Internal desc = x", "details": []}, "rpc error"),
        ({"message": "x", "error_id": "e-77", "reason": "why"}, "x, why.*Error id .*: e-77"),
        ({"message": "a\nb\x1b[31m\u202ec"}, r"a b \[31m c"),
        ({"message": "y" * 5000}, "y{300}…"),
        ({"message": None}, r"\(400\)\. The request"),
        ([1], "not an error of the API"),
    ],
)
async def test_an_error_body_is_quoted_for_people(body: object, words: str) -> None:
    """Whichever member holds the word, one printable line of bounded length is shown."""
    with pytest.raises(RequestRefusedError, match=words) as caught:
        await send(READING, lambda _request: httpx.Response(400, json=body))

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 800


async def test_only_the_status_decides() -> None:
    """A body that says 401 or 200 does not change what a 400 is."""
    for code in ("401", "200", "not_found"):
        body = {"code": code, "message": "bad_credential"}
        with pytest.raises(RequestRefusedError):
            await send(READING, lambda _request, body=body: httpx.Response(400, json=body))  # type: ignore[misc]


async def test_no_secret_shows_anywhere(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """Not in a repr, not in an error whose body repeats it, not in any library's log line."""
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []

    def echo(request: httpx.Request) -> httpx.Response:
        text = f"{SECRET} {request.headers['Authorization']}"
        if request.method == "GET":
            return httpx.Response(401, json={"code": "401", "message": text})
        return httpx.Response(502, text=text)

    async with open_session(
        endpoint(), CREDENTIALS, timing=Clock().timing, transport=httpx.MockTransport(echo)
    ) as session:
        for call in (READING, ACTING):
            with pytest.raises(CloudError) as caught:
                await session.once(call)
            shown += [str(caught.value), repr(caught.value)]
        shown += [repr(session), str(session), repr(CrusoeCloud(session, project="p"))]
    environ = {"CRUSOE_ACCESS_KEY_ID": KEY_ID, "CRUSOE_SECRET_KEY": SECRET}
    shown += [repr(read_profile(tmp_path / "none", environ=environ)), f"{CREDENTIALS}"]
    shown += [record.getMessage() for record in caplog.records]

    stamp = "2026-01-02T03:04:05Z"
    message = signing.payload(method="GET", path="/v1/users/identities", query="", stamp=stamp)
    signed = signing.signature(CREDENTIALS.key, message)
    everything = "\n".join(shown)
    assert HIDDEN in everything, "the bodies were quoted"
    assert "/users/identities" in caplog.text, "there are log lines"
    for secret in (SECRET, KEY_ID, signed):
        assert secret not in everything


async def test_a_secret_cut_by_the_limit_is_hidden_first() -> None:
    """Half a secret at the end of a long message would still be half a secret."""
    body = {"message": "z" * 290 + SECRET}

    with pytest.raises(RequestRefusedError) as caught:
        await send(READING, lambda _request: httpx.Response(400, json=body))

    assert SECRET[:8] not in str(caught.value)


async def test_a_body_is_json_and_nothing_else() -> None:
    """Sent with its type, and not part of what is signed."""
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    await send(ACTING, handler)

    assert seen[0].headers["Content-Type"] == "application/json"
    assert json.loads(seen[0].content) == {"action": "STOP"}
