"""Prove that the fleet runs from the command line and leaves what the product reads."""

from __future__ import annotations

import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.settings import Level, load

COMMAND = (sys.executable, "-m", "playground.fleet")


def test_it_writes_settings_that_the_product_takes_and_says_how_to_go_on(tmp_path: Path) -> None:
    """The printed command names the job and the file; secrets are for their owner alone."""
    state = tmp_path / "state"
    argv = [*COMMAND, "--vms", "3", "--ranks", "2", "--state", str(state), "--on", "node-1"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not lines or "Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1], "it ended"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0

    path = state / "nccl-dns.toml"
    assert "3 machines, 6 ranks: resolver-failed on node-1.\n" in lines
    assert f"nccl-dns check 48213 --config {path}\n" in lines
    settings = load(path, environ={})
    assert settings.level is Level.PROBE
    assert settings.clusters["demo"].nodes == ("node-[0-2]",)
    assert settings.store_url == f"sqlite:///{state / 'bot.db'}"
    for name in ("nccl-dns.toml", "id_ed25519", "known_hosts"):
        assert stat.S_IMODE((state / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    log = (state / "disk").rglob("pretrain-7b-48213.err")
    assert re.search(r"^2: \[W.*gai error: -3", next(log).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--fault", "gremlins"], "There is no fault 'gremlins'; there are resolver-failed, "),
        (
            ["--vms", "2", "--on", "node-7"],
            "There is no machine 'node-7'; there are node-0, node-1",
        ),
        (["--state", "/dev/null/x"], "/dev/null/x cannot be made: Not a directory. Choose another"),
    ],
)
def test_what_cannot_be_is_a_sentence(tmp_path: Path, argv: list[str], said: str) -> None:
    """An unknown fault or machine, or a folder that cannot be: exit code 1 and one sentence."""
    ran = subprocess.run(
        [*COMMAND, "--state", str(tmp_path), *argv], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(said)
    assert ran.stderr.count("\n") == 1
