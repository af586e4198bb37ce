"""Back everything up once, in a process that may be killed: `python -m … FOLDER PORT`."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from bot.hosts.backups import Going
from bot.hosts.ssh.backups import ssh_backups
from bot.hosts.ssh.options import Keys, SshOptions
from tests.behaviour.hosts.fleet import LIMITS
from tests.behaviour.hosts.test_backup import TARGET, order_of


async def main(folder: Path, port: int) -> None:
    """Survey and copy; say how far it is, and whether it is proven."""

    async def tell(going: Going) -> None:
        print(going.phase, going.done_bytes, flush=True)

    options = SshOptions(
        user="root", keys=Keys(files=(folder / "id",)), known_hosts=folder / "known_hosts",
        port=port, limits=LIMITS,
    )  # fmt: skip
    async with ssh_backups(options) as backing:
        found = await backing.survey(TARGET, timedelta(days=1))
        mine = tuple(one for one in found.items if one.owner == "alice")
        told = await backing.copy(TARGET, order_of(found, *mine), tell)
        print("proven" if told.proven else f"ended {told}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
