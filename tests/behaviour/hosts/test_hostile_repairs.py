"""Prove that a machine that misbehaves cannot turn a repair into more, or less, than was asked."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncssh
import pytest

from bot.hosts import repairs, wire
from bot.hosts.grants import REPAIR_PATH
from bot.hosts.model import Rung
from bot.hosts.probes import Question
from bot.hosts.repairs import Result, outcome
from bot.hosts.ssh.hosts import SshHosts, ssh_hosts
from tests.behaviour.hosts.hostile import (
    QUICK,
    TARGET,
    Behaviour,
    Process,
    answer,
    answers_what_was_not_asked,
    behaving,
    closes_the_connection,
    dies_of_a_signal,
    ends,
    floods,
    identity,
    is_another,
)

pytestmark = pytest.mark.anyio

#: What a way in may take at most, with a busy test machine's slack.
SOON = QUICK.total.total_seconds() + 3


@asynccontextmanager
async def repairing(
    behaviour: Behaviour, folder: Path, *, pinned: asyncssh.SSHKey | None = None
) -> AsyncIterator[tuple[SshHosts, list[str]]]:
    """Log in with the repair account; yield also the commands that came in."""
    async with (
        behaving(behaviour, folder, pinned=pinned, sudo=True) as reached,
        ssh_hosts(replace(reached.options, helper=REPAIR_PATH)) as hosts,
    ):
        yield hosts, reached.commands


async def test_an_order_is_not_sent_to_what_does_not_take_it(tmp_path: Path) -> None:
    """A sudo that hangs would otherwise act on the order long after it was given up."""
    read: list[bytes] = []

    async def hangs(process: Process) -> None:
        process.stdout.write(f"{wire.SHELL}\n".encode())
        with contextlib.suppress(asyncssh.Error, OSError):
            while data := await process.stdin.read(65536):
                read.append(data)

    async with repairing(hangs, tmp_path) as (hosts, _):
        began = time.monotonic()
        told = await hosts.repair(TARGET, Rung.RESTART_RESOLVER)
        took = time.monotonic() - began

    assert took < SOON
    assert read == []
    assert outcome(Rung.RESTART_RESOLVER, told).result is Result.NOT_RUN
    assert "sudo did not run our command" in told.detail


async def test_a_repair_that_never_ends_is_given_up_as_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was begun and did not answer is neither done nor undone."""
    monkeypatch.setattr(repairs, "within", lambda _: timedelta(seconds=1))

    async def takes_and_hangs(process: Process) -> None:
        process.stdout.write(identity())
        await process.stdin.read(-1)
        await process.channel.wait_closed()

    async with repairing(takes_and_hangs, tmp_path) as (hosts, _):
        told = await hosts.repair(TARGET, Rung.REBOOT)

    assert outcome(Rung.REBOOT, told).result is Result.UNKNOWN


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        (ends, Result.NOT_RUN),
        (dies_of_a_signal, Result.NOT_RUN),
        (is_another, Result.NOT_RUN),
        (floods, Result.UNKNOWN),
        (answers_what_was_not_asked, Result.UNKNOWN),
        (closes_the_connection, Result.UNKNOWN),
    ],
    ids=lambda one: getattr(one, "__name__", "").strip("_"),
)
async def test_a_repair_is_believed_only_in_whole_answers(
    behaviour: Behaviour, result: Result, tmp_path: Path
) -> None:
    """No exit code, signal, flood or foreign name passes for a repair that ran."""
    async with repairing(behaviour, tmp_path) as (hosts, _):
        told = await hosts.repair(TARGET, Rung.REBOOT)

    assert outcome(Rung.REBOOT, told).result is result


async def test_a_changed_host_key_is_sent_no_repair(tmp_path: Path) -> None:
    """Another key than the pinned one: no command, and no order."""
    other = asyncssh.generate_private_key("ssh-ed25519")
    async with repairing(ends, tmp_path, pinned=other) as (hosts, commands):
        told = await hosts.repair(TARGET, Rung.REBOOT)

    assert commands == []
    assert outcome(Rung.REBOOT, told).result is Result.NOT_RUN
    assert "host key" in told.detail


async def test_a_key_never_seen_before_is_good_for_no_repair(tmp_path: Path) -> None:
    """Trust on first use is for looking; once a probe has pinned the key, a repair may follow."""

    async def proves(process: Process) -> None:
        process.stdout.write(identity())
        process.stdout.write(answer("reboot", 0))
        process.exit(0)

    async with (
        behaving(proves, tmp_path, tofu=True) as reached,
        ssh_hosts(reached.options) as acts,
    ):
        before = await acts.repair(TARGET, Rung.REBOOT)
        unasked = list(reached.commands)
        await reached.hosts.probe(TARGET, Question())
        after = await acts.repair(TARGET, Rung.REBOOT)

    assert unasked == []
    assert outcome(Rung.REBOOT, before).result is Result.NOT_RUN
    assert "never seen before" in before.detail
    assert outcome(Rung.REBOOT, after).result is Result.RAN
