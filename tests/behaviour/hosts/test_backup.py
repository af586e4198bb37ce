"""Prove a backup against a real sshd and a real rsync: all that matters of files is kept."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hosts.backup_ends import Why
from bot.hosts.backups import Copied, Going, Item, Order, Survey, What
from bot.hosts.grants import BACKING_UP, installed_helper
from bot.hosts.port import Target
from bot.hosts.ssh.backups import SshBackups, ssh_backups
from bot.hosts.words import Address, Proof
from tests.behaviour.hosts.disks import ALICE, BOB, NEEDS, Disks, Machine, machine
from tests.behaviour.hosts.sshd import ALIAS

pytestmark = [pytest.mark.anyio, *NEEDS]

TARGET = Target(
    vm_id=ALIAS,
    name="node-8",
    address=Address("127.0.0.1"),
    proof_kind="host_name",
    proof=Proof(socket.gethostname().split(".")[0]),
)
ODD_NAMES = (
    b"a\nb", b"-rf", b"it's \"q\" $(id) `x`", b"\xff\xfe", b"  ", b"tab\t\\", b"*?[x]", b"\rb",
)  # fmt: skip
SHM = Path("/dev/shm")  # noqa: S108 # memory that a stop of the VM loses
_DAY = timedelta(days=1)


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Machine]:
    """Return a machine on whose local drive alice and bob have files."""
    with machine(Disks(folder=tmp_path)) as one:
        fill(one)
        yield one


@pytest.fixture
async def backing(there: Machine) -> AsyncIterator[SshBackups]:
    """Return the way to that machine."""
    async with ssh_backups(there.sshd.options) as found:
        yield found


def fill(one: Machine) -> None:
    """Put files of every odd kind on the local drive."""
    home = one.local / "alice"
    run = home / "run 1" / "global_step400"
    run.mkdir(parents=True)
    (run / "__64_0.distcp").write_bytes(os.urandom(300_000))
    (run / "__71_0.distcp").write_bytes(os.urandom(300_000))
    (run / ".metadata").write_bytes(b"m")
    odd = home / "odd"
    odd.mkdir()
    for name in ODD_NAMES:
        (odd / os.fsdecode(name)).write_bytes(name * 100)
    with (home / "sparse").open("wb") as file:
        file.truncate(30_000_000)
        file.seek(12_000_000)
        file.write(b"middle")
    (home / "one").write_bytes(b"linked" * 1000)
    os.link(home / "one", home / "two")
    (home / "out").symlink_to("/etc/passwd")
    (home / "up").symlink_to("../../..")
    (home / "empty").mkdir()
    (one.local / "bob").mkdir()
    (one.local / "bob" / "secret plans").write_bytes(b"bob" * 5000)
    top = one.disks.local
    one.run(f"chown -hR {ALICE}:{ALICE} {top}/alice; chown -R {BOB}:{BOB} {top}/bob")
    one.run(
        f"cd {top}/alice; chmod 2750 odd; chmod 640 one; setfattr -n user.note -v kept one; "
        f"setfacl -m u:{BOB}:r sparse; setfacl -d -m u:{BOB}:rx odd; touch -d 2020-02-02 one; "
        "touch -h -d 2021-03-04 out up"
    )


def state(one: Machine, root: Path) -> str:
    """Return what matters of a tree: kinds, modes, owners, times, links, attributes, content."""
    script = (
        f"cd {root}; find . ! -name . -printf '%P %y %m %U:%G %l ' "
        "! -type d -printf '%n %s %T@' , -printf '\\0' | sort -z | tr '\\0' '\\n'; "
        "find . -type f -print0 | sort -z | xargs -0 sha256sum; "
        "find . ! -type l -print0 | sort -z | xargs -0 getfacl -pn; "
        "find . -print0 | sort -z | xargs -0 getfattr -hd -m user."
    )
    return one.run(script).decode("utf-8", "backslashreplace")


async def survey_of(backing: SshBackups) -> Survey:
    """Look at what the local drive holds."""
    return await backing.survey(TARGET, _DAY)


def order_of(found: Survey, *items: Item, run: str = "run-1") -> Order:
    """Return the order to copy items, all of them if none is named."""
    place = next(one for one in found.offered)
    chosen = tuple((one.path, one.what) for one in items or found.items)
    return Order(to=place.path, folder="node-8-abc", run=run, items=chosen)


async def copied(backing: SshBackups, order: Order) -> Copied:
    """Copy, and keep what is told on the way."""

    async def tell(_going: Going) -> None:
        return

    return await backing.copy(TARGET, order, tell)


async def test_what_goes_is_found_by_its_device(backing: SshBackups, there: Machine) -> None:
    """An array of NVMe drives goes with the VM, whatever its mount is called; so does memory."""
    (there.seen(SHM) / "cache.pt").write_bytes(b"x" * 5000)

    found = await survey_of(backing)

    assert found.roots == {str(there.disks.local): "nvme0n1", str(SHM): "memory"}
    assert [one.shown for one in found.offered] == [str(there.disks.stays)]
    assert {one.why for one in found.places if one.why} == {
        "it is the system's disk", "it is on nvme0n1, which goes with the VM"
    }  # fmt: skip
    by_name = {(one.shown.rpartition("/")[2], one.what): one for one in found.items}
    step = by_name["global_step400", What.CHECKPOINT]
    assert (step.ranks, step.owner, step.files) == ((64, 71), "alice", 3)
    assert found.items[0].what is What.CHECKPOINT
    assert by_name["alice", What.FOLDER].size_bytes < 1_000_000  # sparse, and linked twice
    assert by_name["bob", What.FOLDER].uid == BOB
    assert by_name["shm", What.CHECKPOINT].on == "memory"
    assert found.whole
    assert found.rsync


async def test_everything_of_a_file_is_kept(backing: SshBackups, there: Machine) -> None:
    """Odd names, modes, owners, times, links, ACLs, attributes and holes are as they were."""
    before = state(there, there.disks.local / "alice")

    told = await copied(backing, order_of(await survey_of(backing)))

    assert told.proven, told
    assert {(one.owner, one.acls, one.xattrs) for one in told.folders} == {
        ("alice", True, True), ("bob", True, True)
    }  # fmt: skip
    where = Path(told.folders[0].where)
    assert where.name == "alice"
    copy = where / str(there.disks.local).lstrip("/")
    assert state(there, copy / "alice") == before
    assert state(there, there.disks.local / "alice") == before
    assert not there.seen(copy / "bob").exists()
    assert there.run(f"stat -c '%a %u' {where}").split() == [b"700", str(ALICE).encode()]
    assert there.seen(copy / "alice" / "sparse").stat().st_blocks * 512 < 1_000_000
    assert (there.seen(copy / "alice" / "one")).samefile(there.seen(copy / "alice" / "two"))
    assert not [one for one in there.seen(where.parent).iterdir() if one.name == "unfinished"]
    there.run(f"cd {where}; sha256sum --quiet --strict --check {where.parent}/alice.sha256")


async def test_only_what_was_chosen_is_copied(backing: SshBackups) -> None:
    """A checkpoint within a folder is one choice, and the rest of the folder another."""
    found = await survey_of(backing)
    step = next(one for one in found.items if one.what is What.CHECKPOINT)

    told = await copied(backing, order_of(found, step))

    assert told.proven
    assert [(one.owner, one.files) for one in told.folders] == [("alice", 3)]


async def test_a_backup_is_never_written_over(backing: SshBackups, there: Machine) -> None:
    """A finished one stays as it is: the same order proves it again, another gets a new folder."""
    found = await survey_of(backing)
    first = await copied(backing, order_of(found))
    where = Path(first.folders[0].where)
    kept = state(there, where)
    (there.local / "alice" / "one").write_bytes(b"written since")

    again = await copied(backing, order_of(found, run="run-2"))
    same = await copied(backing, order_of(found))

    assert again.proven
    assert Path(again.folders[0].where).parent.name == "node-8-abc-2"
    assert state(there, where) == kept
    assert not same.proven
    assert ("the size" in {why for _, why in same.folders[0].samples}, same.why) == (True, None)


@pytest.mark.parametrize("planted", ["mkdir {0}", "ln -s /etc {0}", "echo hello >{0}"])
async def test_what_is_there_of_others_is_left_alone(
    backing: SshBackups, there: Machine, planted: str
) -> None:
    """A folder, link or file of somebody else at the destination is neither entered nor written."""
    top = there.disks.stays / "nccl-dns-backup"
    there.run(f"{planted.format(top)}; chown -h {BOB} {top}")

    told = await copied(backing, order_of(await survey_of(backing)))

    assert told.why is Why.TAKEN
    assert there.run("ls -d /etc/node-8* || true") == b""


async def test_a_link_in_the_place_of_a_folder_leads_nowhere(
    backing: SshBackups, there: Machine
) -> None:
    """Links are copied as links: what they lead to is not read as root."""
    link = f"{there.disks.local}/alice/root"
    there.run(f"ln -s /root {link}; chown -h {ALICE} {link}")

    told = await copied(backing, order_of(await survey_of(backing)))

    assert told.proven
    copy = Path(told.folders[0].where) / str(there.disks.local).lstrip("/") / "alice" / "root"
    assert there.seen(copy).is_symlink()


async def test_the_installed_program_does_the_same(there: Machine) -> None:
    """What root installs for the backup account takes its order through sudo, and nothing else."""
    helper = there.disks.folder / "nccl-dns-backup"
    helper.write_text(installed_helper(BACKING_UP), encoding="utf-8")
    helper.chmod(stat.S_IRWXU)
    options = replace(there.sshd.options, sudo=True, helper=str(helper))
    async with ssh_backups(options) as backing:
        told = await copied(backing, order_of(await survey_of(backing)))

    assert told.proven


async def test_a_copy_of_the_same_size_and_time_is_read(
    backing: SshBackups, there: Machine
) -> None:
    """What an earlier try left is not believed: only the content of both sides counts."""
    order = order_of(await survey_of(backing))
    where = Path((await copied(backing, order)).folders[0].where)
    copy = where / str(there.disks.local).lstrip("/") / "alice" / "one"
    there.run(
        f'cd {where.parent}; echo \'{{"run": "run-1", "complete": false}}\' >backup.json; '
        f"touch -r {copy} time; printf X | dd of={copy} conv=notrunc status=none; "
        f"touch -r time {copy}; rm time"
    )

    told = await copied(backing, order)

    assert told.proven
    assert there.seen(copy).read_bytes() == b"linked" * 1000
