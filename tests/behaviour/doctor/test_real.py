"""Prove the doctor on real parts: a Crusoe server over HTTP, an sshd, files on disk."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.clouds.timing import Timing, utc_now
from bot.commands.doctor import examined
from bot.doctor.contract import to_json
from bot.doctor.model import Checkup, Outcome, Row
from bot.hosts.ssh.hosts import ssh_hosts
from bot.schedulers.memory import MemoryScheduler
from bot.schedulers.model import Node
from bot.settings import load
from bot.settings.tree import Level
from bot.settings.writing import written
from playground.crusoe.faults import Fault, Silence, refused
from playground.crusoe.server import CrusoeServer, running
from tests.behaviour.clouds.lab import KEY
from tests.behaviour.doctor.world import World
from tests.behaviour.hosts.sshd import ALIAS, is_root, running_sshd

pytestmark = pytest.mark.anyio

OK, WARN, FAIL, SKIP = Outcome.OK, Outcome.WARN, Outcome.FAIL, Outcome.SKIP


@dataclass(kw_only=True)
class Setup:
    """A server and the settings that name it."""

    server: CrusoeServer
    config: Path
    project: str

    async def rows(self) -> dict[str, Row]:
        """Return the rows of a whole run, as `nccl-dns doctor` makes it, by check."""
        return {row.check: row for row in (await self.checkup()).rows}

    async def checkup(self) -> Checkup:
        """Make a whole run."""
        return await examined(load(self.config, environ={}), self.config)


@asynccontextmanager
async def setup(folder: Path, *, lead: timedelta = timedelta(0)) -> AsyncIterator[Setup]:
    """Run a server whose clock is ahead of ours, with three VMs in its project."""
    ahead = Timing(now=lambda: utc_now() + lead)
    async with running(keys=[KEY], timing=ahead) as server:
        project = server.world.add_project("training")
        for number in range(3):
            server.world.add_vm(f"gpu-{number}", project=project)
        secret = folder / "secret"
        secret.write_text(KEY.secret_key)
        secret.chmod(0o600)
        config = folder / "nccl-dns.toml"
        config.write_text(
            f'state_dir = "{folder / "state"}"\n[cloud]\nkind = "crusoe"\n'
            f'base_url = "{server.base_url}"\nproject = "training"\n'
            f'access_key_id = "{KEY.access_key_id}"\nsecret_key_file = "{secret}"\n'
        )
        config.chmod(0o600)
        yield Setup(server=server, config=config, project=project)


async def test_a_key_that_works(tmp_path: Path) -> None:
    """Whose it is, what it may do, and which VMs it shows."""
    async with setup(tmp_path) as made:
        rows = await made.rows()

    assert "acts as ada@example.com, whose role is Admin" in rows["cloud key"].said
    assert rows["clock"].outcome is OK
    assert (rows["project"].outcome, rows["project"].said) == (OK, "3 VMs: 3 running.")
    assert rows["secrets and keys"].outcome is OK
    assert rows["store"].outcome is OK


async def test_a_clock_that_is_off_is_blamed_and_the_key_is_not(tmp_path: Path) -> None:
    """The API answers 401 to both."""
    async with setup(tmp_path, lead=timedelta(hours=1)) as made:
        rows = await made.rows()

    assert rows["clock"].outcome is FAIL
    assert "behind" in rows["clock"].said
    assert rows["cloud key"].outcome is SKIP


async def test_a_clock_that_drifts_is_told_before_it_matters(tmp_path: Path) -> None:
    """The signature is still taken."""
    async with setup(tmp_path, lead=timedelta(minutes=2)) as made:
        rows = await made.rows()

    assert rows["clock"].outcome is WARN
    assert "cloud key" in rows
    assert "works" in rows["cloud key"].said


@pytest.mark.parametrize(("status", "words"), [(401, "refuse"), (403, "does not let")])
async def test_a_key_that_is_refused(tmp_path: Path, status: int, words: str) -> None:
    """The secret is in no row."""
    async with setup(tmp_path) as made:
        made.server.fail(Fault(gives=refused(status), times=99))
        checkup = await made.checkup()

    row = next(one for one in checkup.rows if one.check == "cloud key")
    assert row.outcome is FAIL
    assert words in row.said.lower()
    assert KEY.secret_key not in to_json(checkup)


async def test_an_api_that_says_nothing_does_not_stop_the_rest(tmp_path: Path) -> None:
    """Its checks run out of time; what lies here is checked all the same."""
    from bot.doctor.table import CHECKS

    async with setup(tmp_path) as made:
        made.server.fail(Fault(gives=Silence.HANG, times=99))
        quick = [replace(one, within=timedelta(seconds=1)) for one in CHECKS]
        checkup = await examined(load(made.config, environ={}), made.config, quick)

    rows = {row.check: row for row in checkup.rows}
    for check in ("cloud key", "project"):
        assert rows[check].outcome is FAIL
        assert "No answer came within 1 s." in rows[check].said
    assert rows["store"].outcome is OK


async def test_a_project_that_the_key_does_not_see(tmp_path: Path) -> None:
    """With the names that it does see."""
    async with setup(tmp_path) as made:
        text = made.config.read_text().replace('"training"', '"trainin"')
        made.config.write_text(text)
        rows = await made.rows()

    assert rows["project"].outcome is FAIL
    assert "no Crusoe project 'trainin'. It sees: training" in rows["project"].said


async def test_a_project_without_a_vm(tmp_path: Path) -> None:
    """It may be another one than was meant."""
    async with setup(tmp_path) as made:
        made.server.world.machines.clear()
        rows = await made.rows()

    assert rows["project"].outcome is WARN


async def test_a_key_that_is_not_there_is_told_with_its_place(tmp_path: Path) -> None:
    """The file, and the check that misses it."""
    async with setup(tmp_path) as made:
        (tmp_path / "secret").unlink()
        rows = await made.rows()

    assert rows["secrets and keys"].outcome is FAIL
    assert rows["cloud key"].outcome is FAIL
    assert "cloud.secret_key_file" in rows["cloud key"].said


async def test_a_new_file_says_what_is_missing(tmp_path: Path) -> None:
    """What `init` writes, `doctor` reads: each line to fill in is a failure of its own."""
    config = tmp_path / "nccl-dns.toml"
    config.write_text(
        written(Level.LOOK, "hall").text.replace(
            "#state_dir", f'state_dir = "{tmp_path}/state"\n#state_dir'
        )
    )
    config.chmod(0o600)

    checkup = await examined(load(config, environ={"HOME": str(tmp_path)}), config)

    empty = [row.about for row in checkup.rows if "is still empty" in row.said]
    assert empty == ["cloud.project", "clusters.hall.rest.url", "clusters.hall.rest.user"]
    assert checkup.failed
    assert "FAIL" in json.loads(to_json(checkup))["worst"]


@pytest.mark.needs("sshd", "sudo")
@pytest.mark.skipif(not is_root(), reason="sshd logs in only for root")
async def test_a_real_machine_lets_us_in(tmp_path: Path) -> None:
    """Login, identity and helper over a real sshd, and what a real sudo allows there."""
    name = socket.gethostname().split(".")[0]
    with running_sshd(tmp_path) as sshd:
        known = sshd.folder / "known_hosts"
        known.write_text(known.read_text().replace(ALIAS, name))
        async with ssh_hosts(sshd.options) as hosts:
            (tmp_path / "bot").mkdir()
            world = World(folder=tmp_path / "bot")
            world.settings = world.settings.replace('kind = "crusoe"\nproject = "hall"\n', "")
            node = Node(name=name, cluster="hall", state="IDLE", address="127.0.0.1")
            there = {
                "scheduler": MemoryScheduler("hall", nodes=[node]),
                "hosts": hosts,
                "cloud": None,
            }
            world.settings = world.settings.replace("{folder}/known_hosts", str(known))
            (login,) = await world.rows("logins", **there)
            (may,) = await world.rows("sudo", **there)
            (keys,) = await world.rows("host keys", **there)

    assert (login.outcome, login.said.partition(" ")[0]) == (OK, name)
    assert may.outcome is WARN
    assert "ALL" in may.said
    assert keys.outcome is OK
