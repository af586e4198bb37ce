"""Prove what the distribution promises: its version, its locks and its shape."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import bot

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.lock", "requirements-build.lock", "requirements-dev.lock"]


def locked(lock: str) -> dict[str, int]:
    """Read a lock: how many hashes each pinned distribution has."""
    hashes: dict[str, int] = {}
    name = ""
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if pin := re.match(r"([a-z0-9-]+)==\S+", line):
            name = pin[1]
            hashes.setdefault(name, 0)
        elif line.lstrip().startswith("--hash=sha256:"):
            hashes[name] += 1
    return hashes


def names(requirements: list[str]) -> set[str]:
    """Take the normalised distribution names out of requirement strings."""
    found = [re.match(r"[A-Za-z0-9_.-]+", requirement) for requirement in requirements]
    return {re.sub(r"[-_.]+", "-", match[0]).lower() for match in found if match}


def test_the_version_is_the_packages_own() -> None:
    """The installed distribution carries the version that the code states."""
    assert metadata.version("nccl-dns-bot") == bot.__version__


def test_the_changelog_has_the_version() -> None:
    """Every released version and the coming one have an entry for users."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.search(
        rf"^## \[?({re.escape(bot.__version__)}|Unreleased)\b", changelog, re.MULTILINE
    )


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_with_hashes_and_names_no_host(lock: str) -> None:
    """Every distribution is held by hash, wherever it is fetched from."""
    assert all(count >= 1 for count in locked(lock).values())
    assert "://" not in (ROOT / lock).read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_leaves_pytorch_out(lock: str) -> None:
    """Reading a log needs none of the gigabytes that wrote it."""
    assert not {"torch", "torchvision", "triton"} & locked(lock).keys()


def test_the_locks_hold_what_the_project_asks_for() -> None:
    """A dependency added without `make lock` is found here; development adds to the runtime's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime = names(project["dependencies"])
    development = names(project["optional-dependencies"]["dev"])

    assert runtime <= locked("requirements.lock").keys()
    assert runtime | development <= locked("requirements-dev.lock").keys()


def test_logs_are_kept_byte_for_byte() -> None:
    """Git must not touch line ends in logs: CRLF is part of the evidence."""
    answer = subprocess.run(
        ["git", "check-attr", "text", "bot/examples/any.log"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout.strip().endswith("text: unset")


def test_a_wheel_carries_every_file_of_the_product(tmp_path: Path) -> None:
    """Tables, schemas and example logs beside the code reach whoever installs it."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", str(tmp_path)], cwd=ROOT, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "bot"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())

    there = {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}
    assert "bot/__init__.py" in there
    assert there <= packed
    assert not {path for path in packed if path.startswith(("tests/", "scripts/"))}
