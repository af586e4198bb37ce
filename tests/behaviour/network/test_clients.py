"""What every client of an API does on networks that are not simple."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import BotError
from bot.network.errors import NetworkSetupError
from bot.network.way import network
from playground.kubernetes.tls import server_context
from tests.behaviour.network.server import CLIENTS, NAME, Ask, Secure
from tests.forward_proxy import ForwardProxy, forward_proxy

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("ask", list(CLIENTS.values()), ids=list(CLIENTS)),
]


async def test_through_a_proxy(ask: Ask, server: Secure, proxy: ForwardProxy) -> None:
    """By HTTPS_PROXY a host is reached that only the proxy can resolve."""
    way = network(ca_file=server.ca_file, environ={"HTTPS_PROXY": proxy.url})
    await ask(server.url(), way, "")
    assert proxy.asked == [f"{NAME}:{server.port}"]
    assert server.hosts == [f"{NAME}:{server.port}"]


async def test_through_a_proxy_that_asks_who_we_are(ask: Ask, server: Secure) -> None:
    """The user and password in the setting are shown to the proxy; without them it says no."""
    async with forward_proxy("bot:pass") as proxy:
        await ask(server.url(), network(ca_file=server.ca_file, proxy=proxy.url, environ={}), "")
        nameless = f"http://127.0.0.1:{proxy.port}"
        without = network(ca_file=server.ca_file, proxy=nameless, environ={})
        with pytest.raises(BotError, match=r"network\.proxy.*407"):
            await ask(server.url(), without, "")


async def test_a_proxy_that_is_away(ask: Ask, server: Secure) -> None:
    """The sentence names the setting, and not the password in it."""
    way = network(ca_file=server.ca_file, proxy="http://me:secret@127.0.0.1:1", environ={})
    with pytest.raises(BotError, match=r"network\.proxy") as refused:
        await ask(server.url(), way, "")
    assert "secret" not in str(refused.value)


async def test_past_the_proxy(ask: Ask, server: Secure, proxy: ForwardProxy) -> None:
    """A host of NO_PROXY is reached directly, here at the address that the settings give."""
    way = network(
        ca_file=server.ca_file, proxy=proxy.url, addresses={NAME: "127.0.0.1"},
        environ={"NO_PROXY": "internal, .test"},
    )  # fmt: skip
    await ask(server.url(), way, "")
    assert proxy.asked == []
    assert server.hosts == [f"{NAME}:{server.port}"]


async def test_by_an_address(ask: Ask, server: Secure) -> None:
    """A URL with an IP address works where `tls_name` says what the certificate is for."""
    way = network(ca_file=server.ca_file, environ={})
    await ask(server.url("127.0.0.1"), way, NAME)
    with pytest.raises(BotError, match=r"another name.*127\.0\.0\.1.*tls_name"):
        await ask(server.url("127.0.0.1"), way, "")


async def test_an_authority_that_is_not_ours(ask: Ask, server: Secure, tmp_path: Path) -> None:
    """Without the private authority, or with another one, the sentence names the setting."""
    server_context(tmp_path)
    for ca_file in (None, tmp_path / "ca.crt"):
        way = network(ca_file=ca_file, addresses={NAME: "127.0.0.1"}, environ={})
        with pytest.raises(BotError, match=r"not trusted.*network\.ca_file"):
            await ask(server.url(), way, "")
    assert server.hosts == []


async def test_by_the_usual_variable(ask: Ask, server: Secure) -> None:
    """SSL_CERT_FILE is as good as network.ca_file."""
    environ = {"SSL_CERT_FILE": str(server.ca_file)}
    await ask(server.url(), network(addresses={NAME: "127.0.0.1"}, environ=environ), "")
    assert server.hosts == [f"{NAME}:{server.port}"]


async def test_a_name_that_fails(
    ask: Ask,
    server: Secure,
    tmp_path: Path,
    nobody_answers: Callable[[], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """While no name resolves, a host is reached at its last known address, which is said."""
    memory = tmp_path / "addresses.json"
    row = {"addresses": ["127.0.0.1"], "at": datetime.now(UTC).isoformat()}
    memory.write_text(json.dumps({NAME: row}))
    nobody_answers()
    way = network(ca_file=server.ca_file, memory=memory, environ={})
    with caplog.at_level(logging.WARNING):
        await ask(server.url(), way, "")
    assert f"{NAME} is reached at its last known address 127.0.0.1" in way.names.notes()[0]
    assert f"nobody answers for the name {NAME}" in caplog.text
    assert server.hosts == [f"{NAME}:{server.port}"]


async def test_a_name_that_fails_and_was_never_known(
    ask: Ask, server: Secure, nobody_answers: Callable[[], None]
) -> None:
    """The error says where names fail: here, not on the machines that are asked about."""
    nobody_answers()
    with pytest.raises(BotError, match="names do not resolve where the bot runs"):
        await ask(server.url(), network(ca_file=server.ca_file, environ={}), "")


async def test_what_is_no_certificate(ask: Ask, tmp_path: Path) -> None:
    """A file that is missing or holds none is refused at the start, by the setting's name."""
    del ask
    (tmp_path / "empty.pem").write_text("nothing")
    for name in ("empty.pem", "missing.pem"):
        with pytest.raises(NetworkSetupError, match=r"network\.ca_file"):
            network(ca_file=tmp_path / name, environ={})
    with pytest.raises(NetworkSetupError, match="SSL_CERT_FILE"):
        network(environ={"SSL_CERT_FILE": str(tmp_path / "empty.pem")})
