"""Run the local server by hand: `python -m playground.crusoe gpu-0 gpu-1`.

It prints a profile that can stand in `~/.crusoe/config`, and serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import suppress

from playground.crusoe.judge import Key
from playground.crusoe.server import running

#: Good for this server alone, which knows no other.
KEY = Key(access_key_id="PLAYGROUNDKEY001", secret_key="cGxheWdyb3VuZC1vbmx5LWtleQ")  # noqa: S106

PROJECT = "playground"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m playground.crusoe", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", help="VMs to make, all running")
    parser.add_argument("--port", type=int, default=0, help="0 (default): one that is free")
    return parser.parse_args()


async def serve(names: list[str], port: int) -> None:
    """Serve these VMs until cancelled."""
    async with running(keys=[KEY], port=port) as server:
        project = server.world.add_project(PROJECT)
        for name in names:
            server.world.add_vm(name, project=project)
        sys.stdout.write(
            "[default]\n"
            f'access_key_id = "{KEY.access_key_id}"\n'
            f'secret_key = "{KEY.secret_key}"\n'
            f'api_endpoint = "{server.base_url}"\n'
            f'default_project = "{project}"\n'
        )
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asked = arguments()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(asked.names, asked.port))
