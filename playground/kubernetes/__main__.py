"""Run the local API server by hand: `python -m playground.kubernetes np-0 np-1`.

It writes a kubeconfig for kubectl and the bot, prints where, and serves a cluster with a job on
these nodes until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from playground.kubernetes import build
from playground.kubernetes.access import ADMIN
from playground.kubernetes.server import KubernetesServer, running
from playground.kubernetes.tls import server_context


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m playground.kubernetes", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", help="nodes to make, all ready")
    parser.add_argument("--port", type=int, default=0, help="0 (default): one that is free")
    return parser.parse_args()


def kubeconfig(server: KubernetesServer, folder: Path) -> Path:
    """Write a kubeconfig of the administrator and return where."""
    ca = str(folder / "ca.crt")
    told = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "playground",
        "clusters": [
            {"name": "playground", "cluster": {"server": server.url, "certificate-authority": ca}}
        ],
        "users": [{"name": ADMIN.name, "user": {"token": ADMIN.name}}],
        "contexts": [
            {
                "name": "playground",
                "context": {"cluster": "playground", "user": ADMIN.name, "namespace": "ml"},
            }
        ],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(told, indent=2))
    return path


async def serve(names: list[str], port: int) -> None:
    """Serve a cluster until cancelled."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        async with running(tls=server_context(folder), port=port) as server:
            server.admit(ADMIN.name, ADMIN)
            for place, name in enumerate(names):
                build.add_node(server.store, name, address=f"10.20.1.{10 + place}")
            build.add_dns(server.store, names[0])
            pod = build.template(build.container("pytorch", gpus=8))
            job = build.pytorchjob(len(names) - 1, pod, nproc=8)
            build.submit(server.store, "pytorchjob", "llama", job)
            sys.stdout.write(f"export KUBECONFIG={kubeconfig(server, folder)}\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


if __name__ == "__main__":
    asked = arguments()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(asked.names, asked.port))
