"""Prove what each failure of a backup comes to: real disks are full, read-only, gone."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from bot.hosts.backup_ends import Why
from bot.hosts.backups import Copied, Going, Order
from bot.hosts.errors import AccessError, LoginError
from bot.hosts.ssh.backups import ssh_backups
from bot.hosts.words import Proof
from tests.behaviour.hosts.disks import ALICE, NEEDS, Disks, Machine, machine
from tests.behaviour.hosts.test_backup import TARGET, copied, fill, order_of, survey_of

pytestmark = [pytest.mark.anyio, *NEEDS]


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


async def _backed_up(disks: Disks, *before: str, after_survey: str = "") -> tuple[Copied, Machine]:
    """Back everything up on a machine with these disks; return what came of it."""
    async with AsyncExitStack() as stack:
        there = stack.enter_context(machine(disks))
        fill(there)
        for script in before:
            there.run(script)
        backing = await stack.enter_async_context(ssh_backups(there.sshd.options))
        order = order_of(await survey_of(backing))
        if after_survey:
            there.run(after_survey)
        return await copied(backing, order), there


async def test_a_place_that_is_too_small_is_refused_at_once(tmp_path: Path) -> None:
    """Where the chosen files do not fit, nothing is copied."""
    disks = Disks(folder=tmp_path, stays_mb=2)
    told, _ = await _backed_up(disks, f"head -c 9M /dev/urandom >{disks.local}/alice/big")

    assert told.why is Why.FULL
    assert "are free" in told.detail


async def test_a_place_that_fills_up_is_an_outcome(tmp_path: Path) -> None:
    """Somebody else may fill the disk meanwhile: it says so, and goes on once there is room."""
    disks = Disks(folder=tmp_path, stays_mb=32)
    with machine(disks) as there:
        fill(there)
        there.run(f"head -c 20M /dev/urandom >{disks.local}/alice/big")
        async with ssh_backups(there.sshd.options) as backing:
            order = order_of(await survey_of(backing))
            filler = ("until [ -d nccl-dns-backup/node-8-abc/alice ]; do :; done; "
                      "head -c 15M /dev/zero >theirs")  # fmt: skip
            there.run(f"cd {disks.stays}; sh -c '{filler}' >/dev/null 2>&1 &")
            full = await copied(backing, order)
            there.run(f"rm {disks.stays}/theirs")
            whole = await copied(backing, order)

    assert full.why is Why.FULL
    assert whole.proven


async def test_a_place_that_became_read_only_is_an_outcome(tmp_path: Path) -> None:
    """A disk with an error is mounted read-only by the kernel."""
    disks = Disks(folder=tmp_path)
    told, _ = await _backed_up(disks, after_survey=f"mount -o remount,ro {disks.stays}")

    assert told.why is Why.REFUSED
    assert "read-only" in told.detail


async def test_a_place_that_vanished_is_never_the_systems_disk(tmp_path: Path) -> None:
    """What is left of a mount point lies on the system's disk, which would be filled."""
    disks = Disks(folder=tmp_path)
    told, there = await _backed_up(disks, after_survey=f"umount {disks.stays}")

    assert told.why is Why.VANISHED
    assert not (there.disks.stays / "nccl-dns-backup").exists()


async def test_a_system_disk_is_refused_whoever_asks(tmp_path: Path) -> None:
    """An order that names the system's disk or one that goes is refused by the machine itself."""
    with machine(Disks(folder=tmp_path)) as there:
        fill(there)
        async with ssh_backups(there.sshd.options) as backing:
            order = order_of(await survey_of(backing))
            for place in (b"/", str(there.disks.local).encode()):
                assert (await copied(backing, replace(order, to=place))).why is Why.REFUSED
            gone = replace(order, items=((b"/etc", order.items[0][1]),))
            assert (await copied(backing, gone)).why is Why.GONE


async def test_without_rsync_nothing_is_copied(tmp_path: Path) -> None:
    """A machine without rsync says so before, and a copy ends with that."""
    disks = Disks(folder=tmp_path, then=("mount --bind /dev/null $(readlink -f /usr/bin/rsync)",))
    with machine(disks) as there:
        fill(there)
        async with ssh_backups(there.sshd.options) as backing:
            found = await survey_of(backing)
            assert not found.rsync
            assert (await copied(backing, order_of(found))).why is Why.NO_RSYNC


async def test_where_root_is_nobody_the_owner_copies(tmp_path: Path) -> None:
    """Root without rights on a share (root squash): the owner's folder there takes the copy."""
    disks = Disks(
        folder=tmp_path, home="/mnt/keep/alice",
        within=("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-chown,-fowner"),
    )  # fmt: skip
    with machine(disks) as there:
        fill(there)
        home = disks.stays / "alice"
        there.run(f"mkdir -m 700 {home}; chown {ALICE} {home} {disks.stays}")
        there.run(f"rm -r {disks.local}/bob")
        async with ssh_backups(there.sshd.options) as backing:
            found = await survey_of(backing)
            told = await copied(backing, order_of(found))

    assert told.proven, told
    assert told.folders[0].as_owner


async def test_a_source_that_never_rests_is_not_backed_up(tmp_path: Path) -> None:
    """A file that is written all the time is named, and the backup does not pass."""
    disks = Disks(folder=tmp_path)
    with machine(disks) as there:
        fill(there)
        writer = f"cd {disks.local}/alice; while :; do date +%N >>busy; done"
        there.run(f"sh -c '{writer}' >/dev/null 2>&1 & echo $! >{disks.folder}/writer")
        async with ssh_backups(there.sshd.options) as backing:
            told = await copied(backing, order_of(await survey_of(backing)))
        there.run(f"kill $(cat {disks.folder}/writer)")

    alice = next(one for one in told.folders if one.owner == "alice")
    assert not told.proven
    assert not alice.manifest
    assert any("busy" in path for path, _ in alice.samples)


async def test_another_machine_is_neither_read_nor_written(tmp_path: Path) -> None:
    """The proof of identity comes before anything else."""
    with machine(Disks(folder=tmp_path)) as there:
        async with ssh_backups(there.sshd.options) as backing:
            other = replace(TARGET, proof=Proof("another-machine"))
            order = Order(to=b"/", folder="a", run="a", items=())
            told = await backing.copy(other, order, _tell)

    assert told.why is Why.IDENTITY


async def test_a_machine_that_is_dead_to_ssh_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    """Nobody answers at the port: that is said, and not taken for an empty machine."""
    with machine(Disks(folder=tmp_path)) as there:
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
        options = replace(there.sshd.options, port=port)
        async with ssh_backups(options) as backing:
            with pytest.raises(LoginError, match="node-8"):
                await survey_of(backing)


async def test_a_machine_without_python_says_so(tmp_path: Path) -> None:
    """The program is Python: where there is none, that is the answer."""
    hide = "! [ -e {0} ] || mount --bind /dev/null $(readlink -f {0})"
    with machine(Disks(folder=tmp_path)) as there:
        for place in ("/usr/local/bin/python3", "/usr/bin/python3"):
            there.run(hide.format(place))
        async with ssh_backups(there.sshd.options) as backing:
            with pytest.raises((AccessError, LoginError), match="python3"):
                await survey_of(backing)


async def _tell(_going: Going) -> None:
    await asyncio.sleep(0)
