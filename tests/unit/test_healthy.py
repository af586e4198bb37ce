"""Prove what `nccl-dns healthy` says of whoever answers, or not, where the bot should serve."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.commands.healthy import problem
from bot.settings import SettingsError


@contextmanager
def _answering(status: int) -> Iterator[tuple[int, list[str]]]:
    """Answer everything with a status; yield the port and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port, asked
        finally:
            server.shutdown()
            thread.join()


def _settings(folder: Path, text: str) -> Path:
    path = folder / "nccl-dns.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])  # noqa: S104 - only asked
def test_who_answers_is_healthy(tmp_path: Path, host: str) -> None:
    """It asks for /healthz on this machine, also where the bot listens at every address."""
    with _answering(200) as (port, asked):
        config = _settings(tmp_path, f'[slack]\nhost = "{host}"\nport = {port}\n')
        assert problem(config) == ""
    assert asked == ["/healthz"]


def test_another_status_is_told(tmp_path: Path) -> None:
    """Somebody else at the port, or a bot in trouble, is not healthy: exit code 1 and why."""
    with _answering(503) as (port, _):
        config = _settings(tmp_path, f"[slack]\nport = {port}\n")
        done = CliRunner().invoke(app, ["healthy", "--config", str(config)])
    assert done.exit_code == 1
    assert done.stderr == f"127.0.0.1:{port} answers with status 503.\n"


def test_nobody_at_the_port_is_told(tmp_path: Path) -> None:
    """A port that nobody listens at is named."""
    with _answering(200) as (port, _):
        config = _settings(tmp_path, f"[slack]\nport = {port}\n")
    assert problem(config).startswith(f"Nothing answers at 127.0.0.1:{port}: ")


def test_without_slack_nothing_is_served(tmp_path: Path) -> None:
    """A level without Slack has nothing to be healthy: the settings are said to be wrong."""
    with pytest.raises(SettingsError, match=r"\[slack\] is not set"):
        problem(_settings(tmp_path, ""))
