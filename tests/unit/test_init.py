"""Prove what `nccl-dns init` writes, prints and refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.commands import init
from bot.errors import BotError, UsageError
from bot.hosts.grants import BACKING_UP, PROBING, REPAIRING, installed_helper, sudoers
from bot.settings import Level, load


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(level: Level, *, force: bool = False, grants: Path | None = None) -> str:
    """Run it for a cluster `hall` and return what it said."""
    said = init.run(level, "hall", Path("nccl-dns.toml"), force=force, grants=grants)
    return "\n".join(said)


@pytest.mark.parametrize("level", list(Level))
def test_the_file_has_the_level_that_was_asked_for(level: Level) -> None:
    """But for the last one, whose switch a person turns."""
    said = run(level)

    assert f"level {int(level)} ({level.name.lower()})" in said
    assert load(Path("nccl-dns.toml")).level is min(level, Level.PROBE)
    assert "nccl-dns doctor --config nccl-dns.toml" in said
    assert "init --print manifest" in said


def test_what_to_fill_in_is_said_with_its_line() -> None:
    """A terminal can jump to FILE:LINE."""
    said = run(Level.LOOK)

    line = next(one for one in said.splitlines() if "clusters.hall.rest.url" in one)
    number = int(line.strip().partition(":")[2].split()[0])
    assert Path("nccl-dns.toml").read_text().splitlines()[number - 1].startswith("url = ")


def test_a_level_asks_for_no_more_than_it_needs() -> None:
    """No account before probing, no repair account before acting."""
    assert "install" not in run(Level.LOOK)
    assert "--print install:" in run(Level.PROBE, force=True)
    run(Level.PROBE, force=True, grants=Path("probe"))
    run(Level.ACT, force=True, grants=Path("act"))

    assert {one.name for one in Path("act").iterdir()} - {
        one.name for one in Path("probe").iterdir()
    } == {
        "nccl-dns-repair", "nccl-dns-repair.sudoers", "nccl-dns-backup", "nccl-dns-backup.sudoers"
    }  # fmt: skip
    assert "nccl-repair" not in Path("probe/install.sh").read_text()
    assert "nccl-repair" in Path("act/install.sh").read_text()


def test_the_files_are_those_of_the_grants() -> None:
    """What is reviewed is what the script installs."""
    run(Level.ACT, grants=Path("g"))

    script = Path("g/install.sh").read_text()
    for grant, user in (
        (PROBING, "nccl-probe"), (REPAIRING, "nccl-repair"), (BACKING_UP, "nccl-backup")
    ):  # fmt: skip
        name = grant.path.rpartition("/")[2]
        assert Path("g", name).read_text() == installed_helper(grant)
        assert Path("g", f"{name}.sudoers").read_text() == sudoers(user, grant)
        assert installed_helper(grant) in script
        assert sudoers(user, grant) in script
    assert Path("g/install.sh").stat().st_mode & 0o111
    subprocess.run(["sh", "-n", "g/install.sh"], check=True)


@pytest.mark.parametrize("what", list(init.PRINTS))
def test_each_text_can_be_printed_at_any_level(what: str) -> None:
    """A text that a higher level needs is that level's; nothing is written."""
    assert init.printed(what, Level.PASTE).strip()
    assert list(Path().iterdir()) == []


def test_what_there_is_not_is_refused() -> None:
    """The message names what there is."""
    with pytest.raises(UsageError, match="takes one of keys, install"):
        init.printed("everything", Level.ACT)
    with pytest.raises(UsageError, match="--cluster 'a b'"):
        list(init.run(Level.LOOK, "a b", Path("n"), force=False, grants=None))
    assert list(Path().iterdir()) == []


def test_nothing_is_replaced_unasked() -> None:
    """Neither the settings nor a file of the grants."""
    run(Level.PROBE, grants=Path("g"))
    with pytest.raises(BotError, match=r"nccl-dns\.toml exists"):
        run(Level.PROBE)
    Path("nccl-dns.toml").unlink()
    with pytest.raises(BotError, match=r"g/make-keys\.txt exists"):
        run(Level.PROBE, grants=Path("g"))
