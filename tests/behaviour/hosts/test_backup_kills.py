"""Prove that a backup killed at random ten times ends identical, and its source untouched.

`make backup` runs it with 20,000 files and 5 GB.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest

from tests.behaviour.hosts.disks import ALICE, NEEDS, Disks, Machine, machine
from tests.behaviour.hosts.test_backup import ODD_NAMES, fill, state

pytestmark = [pytest.mark.anyio, *NEEDS]
FILES = int(os.environ.get("NCCL_DNS_BACKUP_FILES", "2000"))
MB = int(os.environ.get("NCCL_DNS_BACKUP_MB", "300"))
KILLS = 10
SEED = 20260


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


def plant(one: Machine, files: int, size_mb: int) -> None:
    """Plant many files, a twentieth of them large, among them odd names."""
    chance = random.Random(SEED)
    block = os.urandom(1 << 20)
    large = max(files // 20, 1)
    each = (size_mb << 20) // large
    root = one.local / "alice" / "many"
    for number in range(files):
        folder = root / f"step-{number % 97}"
        folder.mkdir(parents=True, exist_ok=True)
        odd = os.fsdecode(ODD_NAMES[number % len(ODD_NAMES)])
        with (folder / f"{odd}{number}").open("wb") as file:
            left = each if number % 20 == 0 else chance.randrange(4000)
            file.write(number.to_bytes(4, "big"))
            while left > 0:
                file.write(block[: min(left, len(block))])
                left -= len(block)
    one.run(f"chown -R {ALICE}:{ALICE} {one.disks.local}/alice/many")


async def attempt(one: Machine, chance: random.Random, *, kill: str) -> str:
    """Back up once, and kill the bot's side or the machine's rsync at a random moment."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.behaviour.hosts.one_backup", str(one.disks.folder),
        str(one.sshd.options.port), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    last = ""
    until = chance.random() * 0.6 * (MB << 20)
    while line := (await process.stdout.readline()).decode().strip():
        last = line
        phase, _, done = line.partition(" ")
        if kill and (phase == "verify" or (phase == "copy" and int(done) >= until)):
            await asyncio.sleep(chance.random() * 0.3)
            if kill == "bot":
                process.kill()
            else:
                one.kill_rsync()
            kill = ""
    await process.wait()
    return last


@pytest.mark.timeout(3600 if FILES > 2000 else 300)
async def test_killed_at_random_it_ends_identical(tmp_path: Path) -> None:
    """Ten kills of the bot or of rsync later the copy equals the source, which is as it was."""
    disks = Disks(folder=tmp_path, local_mb=MB * 5 // 4 + 200, stays_mb=MB * 5 // 4 + 300)
    chance = random.Random(SEED)
    with machine(disks) as one:
        fill(one)
        plant(one, FILES, MB)
        before = state(one, disks.local / "alice")
        said = [
            await attempt(one, chance, kill="bot" if number % 2 else "rsync")
            for number in range(KILLS)
        ]
        assert await attempt(one, chance, kill="") == "proven", said
        assert state(one, disks.local / "alice") == before
        where = disks.stays / "nccl-dns-backup" / "node-8-abc"
        copy = where / "alice" / str(disks.local).lstrip("/") / "alice"
        assert state(one, copy) == before
        assert sorted(each.name for each in one.seen(where).iterdir()) == [
            "alice", "alice.sha256", "backup.json"
        ]  # fmt: skip
        one.run(f"cd {where}/alice; sha256sum --quiet --strict --check ../alice.sha256")
