"""The last good answer of a name, while nobody answers."""

from __future__ import annotations

import asyncio
import logging
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.network import names as module
from bot.network.names import Names

pytestmark = pytest.mark.anyio
ELSE = "names do not resolve where the bot runs."
THEN = datetime(2026, 3, 4, 14, 2, tzinfo=UTC)


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


class Dns:
    """Answers as it is told, and counts."""

    def __init__(self) -> None:
        self.says: tuple[str, ...] | Exception = ("10.0.0.5",)
        self.asked = 0
        self.now = THEN

    async def __call__(self, host: str) -> tuple[str, ...]:
        """Answer for any host."""
        del host
        self.asked += 1
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    def fails(self, code: int = socket.EAI_AGAIN) -> None:
        """Fail from now on."""
        self.says = socket.gaierror(code, "no")


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> Dns:
    """Return what is asked, with no answer held back from it."""
    monkeypatch.setattr(module, "_FRESH_S", 0.0)
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)
    return Dns()


def made(dns: Dns, file: Path | None = None) -> Names:
    """Return names that ask it."""
    return Names(file=file, lookup=dns, now=lambda: dns.now)


async def test_nobody_answers(dns: Dns, caplog: pytest.LogCaptureFixture) -> None:
    """The last good addresses are used, said as such, and logged once, until it is over."""
    names = made(dns)
    assert not (await names.addresses("slurm.lab")).is_last_known
    dns.fails()
    dns.now += timedelta(minutes=7)
    with caplog.at_level(logging.WARNING):
        found = [await names.addresses("slurm.lab") for _ in range(3)]
    assert {one.addresses for one in found} == {("10.0.0.5",)}
    assert all(one.is_last_known and one.at == THEN for one in found)
    assert names.notes() == (
        f"slurm.lab is reached at its last known address 10.0.0.5 (from 14:02 UTC): {ELSE}",
    )
    assert len(caplog.records) == 1
    assert "10.0.0.5" in caplog.text
    dns.says = ("10.0.0.6",)
    assert (await names.addresses("slurm.lab")).addresses == ("10.0.0.6",)
    assert names.notes() == ()


@pytest.mark.parametrize("code", [socket.EAI_NONAME, socket.EAI_FAIL])
async def test_an_answer_that_says_no(dns: Dns, code: int) -> None:
    """Told that there is no such name, nothing old is used."""
    names = made(dns)
    await names.addresses("slurm.lab")
    dns.fails(code)
    with pytest.raises(socket.gaierror) as refused:
        await names.addresses("slurm.lab")
    assert refused.value.errno == code


async def test_a_name_that_was_never_known(dns: Dns) -> None:
    """The error is the one of the lookup, with the name and where it failed."""
    dns.fails()
    with pytest.raises(socket.gaierror, match=r"slurm\.lab where the bot runs") as refused:
        await made(dns).addresses("slurm.lab")
    assert refused.value.errno == socket.EAI_AGAIN


async def test_a_lookup_that_hangs(dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that does not answer in time counts as one that does not answer."""
    names = made(dns)
    await names.addresses("slurm.lab")
    monkeypatch.setattr(module, "_BOUND_S", 0.01)

    async def hangs(host: str) -> tuple[str, ...]:
        del host
        await asyncio.Event().wait()
        raise AssertionError

    names._lookup = hangs
    assert (await names.addresses("slurm.lab")).is_last_known


async def test_a_restart_within_an_outage(dns: Dns, tmp_path: Path) -> None:
    """What was known outlives the process; the day is said where it is not today's."""
    file = tmp_path / "state" / "addresses.json"
    await made(dns, file).addresses("slurm.lab")
    dns.fails()
    dns.now += timedelta(days=1)
    again = made(dns, file)
    assert (await again.addresses("slurm.lab")).addresses == ("10.0.0.5",)
    assert "(from 2026-03-04 14:02 UTC)" in again.notes()[0]
    assert [one.name for one in file.parent.iterdir()] == ["addresses.json"]


async def test_an_old_answer_is_none(dns: Dns, tmp_path: Path) -> None:
    """After a week nobody knows whose address it is."""
    file = tmp_path / "addresses.json"
    await made(dns, file).addresses("slurm.lab")
    dns.fails()
    dns.now += timedelta(days=8)
    with pytest.raises(socket.gaierror):
        await made(dns, file).addresses("slurm.lab")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"addresses": []}}', "\x00"])
async def test_a_file_that_is_broken(dns: Dns, tmp_path: Path, text: str) -> None:
    """It is as if there were none, and it is written anew."""
    file = tmp_path / "addresses.json"
    file.write_text(text)
    assert (await made(dns, file).addresses("slurm.lab")).addresses == ("10.0.0.5",)
    assert "10.0.0.5" in file.read_text()


async def test_a_folder_that_is_read_only(dns: Dns, tmp_path: Path) -> None:
    """Where the file cannot be written, names work all the same."""
    (tmp_path / "taken").write_text("a file, no folder")
    names = made(dns, tmp_path / "taken" / "addresses.json")
    assert (await names.addresses("slurm.lab")).addresses == ("10.0.0.5",)


async def test_addresses_of_the_settings() -> None:
    """A fixed address and an address for a host are asked of nobody."""
    dns = Dns()
    names = Names(fixed={"slurm.lab": "10.9.9.9"}, lookup=dns)
    assert (await names.addresses("slurm.lab")).addresses == ("10.9.9.9",)
    assert (await names.addresses("[fd00::1]")).addresses == ("fd00::1",)
    assert dns.asked == 0


async def test_many_at_once_ask_once() -> None:
    """Answers hold for a moment, and those who want the same name wait for one lookup."""
    dns = Dns()
    names = Names(lookup=dns)
    await asyncio.gather(*(names.addresses("slurm.lab") for _ in range(20)))
    assert dns.asked == 1


async def test_what_was_asked_for_stays_fresh(dns: Dns) -> None:
    """A round looks up named hosts and earlier ones, and no failure ends it."""
    names = made(dns)
    await names.refresh(["slurm.lab", "slack.test"])
    dns.fails(socket.EAI_NONAME)
    await names.refresh()
    assert dns.asked == 4
