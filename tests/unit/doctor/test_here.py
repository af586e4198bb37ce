"""Prove what is read of this machine: its resolver, its addresses, a name that hangs."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from bot.doctor.here import Here, read_resolver

pytestmark = pytest.mark.anyio


async def test_a_resolv_conf_is_read_as_the_c_library_reads_it(tmp_path: Path) -> None:
    """Comments are no servers, and the last search or domain line counts."""
    path = tmp_path / "resolv.conf"
    path.write_text(
        "# nameserver 10.0.0.1\nnameserver 10.0.0.2\nnameserver\noptions edns0\n"
        "domain old.internal\nsearch A.internal. b.internal\n nameserver 10.0.0.3\n"
    )

    told = read_resolver(path)

    assert told.servers == ("10.0.0.2", "10.0.0.3")
    assert told.domains == ("a.internal", "b.internal")
    assert read_resolver(tmp_path / "none").servers == ()


@pytest.mark.parametrize(
    ("own", "servers"),
    [
        ("nameserver 127.0.0.53\n", ("10.0.0.9",)),
        ("nameserver 127.0.0.1\nnameserver 10.0.0.1\n", ("127.0.0.1", "10.0.0.1")),
        ("nameserver 10.0.0.1\n", ("10.0.0.1",)),
    ],
)
async def test_behind_a_stub_its_servers_are_meant(
    tmp_path: Path, own: str, servers: tuple[str, ...]
) -> None:
    """Only where nothing but the stub is asked."""
    (tmp_path / "own").write_text(own)
    (tmp_path / "behind").write_text("nameserver 10.0.0.9\n")

    told = Here(resolv_conf=tmp_path / "own", uplinks=tmp_path / "behind").resolver()

    assert told.servers == servers


async def test_an_address_of_ours_is_known_without_a_list() -> None:
    """Those of documentation (RFC 5737) are nobody's."""
    here = Here()

    assert here.owns("127.0.0.1")
    assert not here.owns("192.0.2.1")


async def test_a_name_is_looked_up_for_real() -> None:
    """An address needs nobody, and a name that cannot exist is an error (RFC 6761)."""
    here = Here()

    assert await here.addresses("10.0.0.1") == ("10.0.0.1",)
    assert set(await here.addresses("localhost")) <= {"127.0.0.1", "::1"}
    with pytest.raises(OSError, match=r".+"):
        await here.addresses("no-such-host.invalid")


async def test_a_resolver_that_hangs_is_left_behind() -> None:
    """Whoever waits can give up, and nothing keeps the program from ending."""
    release = threading.Event()
    began = threading.Event()

    def hangs(name: str) -> tuple[str, ...]:
        began.set()
        release.wait(60)
        return (name,)

    waiting = asyncio.ensure_future(Here(look_up=hangs).addresses("slow"))
    assert await asyncio.to_thread(began.wait, 10)
    (thread,) = [one for one in threading.enumerate() if one.name == "look up slow"]
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert thread.daemon
    release.set()
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()
