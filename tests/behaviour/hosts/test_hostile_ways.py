"""Prove that whatever answers in a machine's place comes to a clear finding and to no step."""

from __future__ import annotations

import asyncio
import contextlib
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts import findings, probes
from bot.hosts.model import Evidence, Finding, LoginFailure, Rung
from bot.hosts.repairs import Result, outcome
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.words import HostName
from bot.recovery.ladder import LADDER, offers
from bot.recovery.triaged import Triaged, facts_from
from tests.behaviour.hosts.hostile import (
    QUICK,
    TARGET,
    Behaviour,
    answers_what_was_not_asked,
    behaving,
    closes_the_connection,
    dies_of_a_signal,
    ends,
    floods,
    is_another,
)

pytestmark = pytest.mark.anyio

QUESTION = probes.Question(names=(HostName("node-0"),))
#: What a probe may take at most, with a busy test machine's slack.
SOON = QUICK.total.total_seconds() + 3
PEER = Evidence(vm_id="p", name="node-2", at=datetime(2030, 1, 2, tzinfo=UTC))
MUTATING = {row.rung for row in LADDER if row.mutates}

Speaker = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def _endless_greeting(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"welcome to this machine\r\n" * 2000)
        await writer.drain()


async def _endless_line(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def _zeros_after_the_version(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-x\r\n")
    while True:
        writer.write(b"\0" * 65536)
        await writer.drain()


async def _a_packet_of_four_gigabytes(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-x\r\n\xff\xff\xff\xff\x04")
    while True:
        writer.write(b"\x14" * 65536)
        await writer.drain()


async def _version_and_silence(writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    await writer.drain()
    await asyncio.Event().wait()


async def _drop_by_drop(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"S")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _goodbye(writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _a_web_server(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


WAYS = [
    _endless_greeting,
    _endless_line,
    _zeros_after_the_version,
    _a_packet_of_four_gigabytes,
    _version_and_silence,
    _drop_by_drop,
    _goodbye,
    _a_web_server,
]


@asynccontextmanager
async def speaking(speaker: Speaker) -> AsyncIterator[int]:
    """Serve this before any login; return the port."""
    tasks: set[asyncio.Task[None]] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await speaker(writer)
        writer.transport.abort()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


@pytest.mark.parametrize("speaker", WAYS, ids=lambda one: one.__name__.strip("_"))
async def test_what_speaks_before_the_login_is_bounded(speaker: Speaker, tmp_path: Path) -> None:
    """Whatever answers in sshd's place: little time, little memory, a finding, and no step."""
    async with (
        speaking(speaker) as port,
        behaving(ends, tmp_path) as reached,
        ssh_hosts(replace(reached.options, port=port)) as hosts,
    ):
        tracemalloc.start()
        began = time.monotonic()
        evidence = await hosts.probe(TARGET, QUESTION)
        told = await hosts.repair(TARGET, Rung.REBOOT)
        took, peak = time.monotonic() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert took < 2 * SOON
    assert peak < 24 * 2**20
    assert evidence.failure is LoginFailure.HANGS
    assert findings.judge(evidence, PEER, QUESTION).names == {Finding.LOGIN_HANGS}
    assert outcome(Rung.REBOOT, told).result is Result.NOT_RUN
    assert not _acted_on(evidence)


def _acted_on(evidence: Evidence) -> set[Rung]:
    """Return what would be offered for this evidence if everything else spoke for it."""
    seen = Triaged(
        vm="node-1",
        state="RUNNING",
        state_age=timedelta(0),
        cause=Cause.RESOLVER_FAILED,
        judgement=findings.judge(evidence, PEER, QUESTION),
        judgement_age=timedelta(0),
        placement=Known.LOG,
        from_paste_alone=False,
    )
    return {rung for rung, offer in offers(facts_from(seen)).items() if offer.offered} & MUTATING


@pytest.mark.parametrize(
    ("behaviour", "finding"),
    [
        (ends, Finding.LOGIN_HANGS),
        (dies_of_a_signal, Finding.LOGIN_HANGS),
        (is_another, Finding.NO_ACCESS),
        (floods, None),
        (answers_what_was_not_asked, None),
        (closes_the_connection, None),
    ],
    ids=lambda one: getattr(one, "__name__", "").strip("_"),
)
async def test_a_machine_that_misbehaves_gets_no_step(
    behaviour: Behaviour, finding: Finding | None, tmp_path: Path
) -> None:
    """A clear finding or a sentence why there is none, and nothing that would be done about it."""
    async with behaving(behaviour, tmp_path) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    judged = findings.judge(evidence, PEER, QUESTION)
    assert judged.names == ({finding} if finding else set())
    assert judged.found or (judged.untold and evidence.detail)
    assert not _acted_on(evidence)
