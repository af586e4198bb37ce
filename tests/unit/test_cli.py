"""The command line: exit codes, streams, sentences, and what it may load."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import bot
from bot import cli

EXAMPLE = Path(bot.__file__).parent / "examples" / "resolver-failed.log"


def run(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run the command line in this process; return exit code, stdout, stderr."""
    monkeypatch.setattr(sys, "argv", ["nccl-dns", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def test_a_diagnosed_failure_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And standard output holds exactly one JSON object."""
    code, out, err = run(["diagnose", str(EXAMPLE), "--json"], monkeypatch, capsys)
    assert code == 1
    assert json.loads(out)["affected"][0]["ranks"] == [6, 7]
    assert not err


def test_nothing_wrong_is_exit_code_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A healthy log is no failure."""
    log = tmp_path / "job.log"
    log.write_text("[rank 0] up\n")
    code, out, _ = run(["diagnose", str(log)], monkeypatch, capsys)
    assert code == 0
    assert "no startup failure" in out


def test_an_empty_log_is_said_to_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A healthy log and no log at all are told apart."""
    log = tmp_path / "job.log"
    log.touch()
    code, out, _ = run(["diagnose", str(log)], monkeypatch, capsys)
    assert code == 0
    assert "confidence low" in out
    assert "what was given is empty" in out


def test_the_report_says_rank_host_cause_why_lines_and_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything that a person needs, in that order."""
    _, out, _ = run(["diagnose", str(EXAMPLE)], monkeypatch, capsys)
    text = " ".join(out.split())
    places = [
        text.index(words)
        for words in ("resolver failed", "node-3", "6-7", "Evidence", "gai error: -3", "Next")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["diagnose", "/nonexistent/job.log"], "does not exist"),
        (["diagnose", "/"], "is a folder"),
        (["diagnose", sys.executable], "is no log"),
        (["diagnose", str(EXAMPLE), "--nodes", "node-[0-"], "no node list"),
        (["diagnose", str(EXAMPLE), "--ranks-per-node", "8"], "needs --nodes"),
        (["diagnose", str(EXAMPLE), "--nodes", "a1", "--ranks-per-node", "0"], "from 1 on"),
        (["diagnose", "--no-such-option"], "No such option"),
        (["diagnose", str(EXAMPLE), "--ranks-per-node", "many"], "ranks-per-node"),
        (["no-such-command"], "No such command"),
    ],
)
def test_bad_usage_is_exit_code_2_and_a_sentence(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On standard error, never a traceback, and nothing on standard output."""
    code, out, err = run(arguments, monkeypatch, capsys)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err
    assert not out


def test_terminal_escapes_and_markup_in_a_log_stay_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log can neither clear the screen nor style the report."""
    log = tmp_path / "job.log"
    log.write_bytes(
        b"\x1b[2J\x1b]0;owned\x07[bold]64: [W socket.cpp:601] [c10d] The IPv6 network addresses of "
        b"([red]evil[/red], 29500) cannot be retrieved (gai error: -3 - x).\x1b[31m\n"
    )
    _, out, _ = run(["diagnose", str(log)], monkeypatch, capsys)
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[red]evil[/red]" in out.replace("\n", "")


def _modules(*arguments: str) -> set[str]:
    """Return what a run of the command line has loaded at its end."""
    code = (
        "import sys, atexit; from bot.cli import main; "
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr)); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    return set(done.stderr.split())


def test_help_loads_no_room() -> None:
    """`--help` answers at once: of ours, the command line and the errors alone."""
    loaded = _modules("--help")
    assert {name for name in loaded if name.partition(".")[0] == "bot"} == {
        "bot",
        "bot.cli",
        "bot.cli_audit",
        "bot.cli_steps",
        "bot.errors",
    }
    for heavy in (
        "rich",
        "pydantic",
        "hyperscan",
        "ClusterShell",
        "httpx",
        "zstandard",
        "asyncssh",
    ):
        assert heavy not in loaded


def test_json_loads_no_report() -> None:
    """A machine that reads JSON does not wait for the terminal's report."""
    loaded = _modules("diagnose", str(EXAMPLE), "--json")
    assert "bot.diagnosis.run" in loaded
    for heavy in ("rich", "pydantic", "ClusterShell", "httpx", "asyncssh", "slack_bolt"):
        assert heavy not in loaded


def test_it_runs_as_a_module_and_takes_a_pipe() -> None:
    """`python -m bot diagnose -` reads standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "bot", "diagnose", "-", "--json"],
        input=EXAMPLE.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["cause"] == "resolver_failed"
