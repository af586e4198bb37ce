"""Prove what the scripts do on a machine that lacks something, with stand-ins on PATH."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Be a machine that has only the programs put into one folder."""

    #: The whole PATH.
    programs: Path

    def has(self, name: str, script: str) -> None:
        """Put a stand-in program on PATH."""
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    def runs(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of our scripts there."""
        bash = shutil.which("bash")
        assert bash is not None
        return subprocess.run(
            [bash, str(SCRIPTS / name), *arguments],
            env={"PATH": str(self.programs)},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Give a bare machine where the user is not root."""
    for name in ("cat", "dirname"):
        real = shutil.which(name)
        assert real is not None
        (tmp_path / name).symlink_to(real)
    bare = Machine(programs=tmp_path)
    bare.has("id", "echo 1000")
    return bare


def test_the_newest_python_that_runs_is_taken(machine: Machine) -> None:
    """A placeholder of a version switcher is on PATH but does not run, so the next one is taken."""
    machine.has("python3.14", "exit 127")
    machine.has("python3.12", "exit 0")
    machine.has("python3", "exit 0")

    found = machine.runs("find-python")

    assert found.returncode == 0
    assert found.stdout.strip() == str(machine.programs / "python3.12")


def test_without_python_the_command_that_installs_it_is_named(machine: Machine) -> None:
    """A user who cannot install gets the Debian and the macOS command, and exit code 2."""
    machine.has("python3", "exit 1")

    failed = machine.runs("find-python")

    assert failed.returncode == 2
    assert failed.stdout == ""
    assert "sudo apt-get install python3 python3-venv" in failed.stderr
    assert "brew install python@" in failed.stderr


def test_root_on_debian_gets_python_installed(machine: Machine) -> None:
    """Root on Debian needs no second try: the venv module is installed and then found."""
    machine.has("id", "echo 0")
    # A program that appears only when apt-get is asked for the right package.
    machine.has("python3", f'[ -e "{machine.programs}/installed" ]')
    machine.has(
        "apt-get", f'case "$*" in *python3-venv*) : >"{machine.programs}/installed" ;; esac'
    )

    found = machine.runs("find-python")

    assert found.returncode == 0
    assert found.stdout.strip() == str(machine.programs / "python3")


def test_a_missing_program_is_named_with_its_commands(machine: Machine) -> None:
    """A user who cannot install goes on without, knowing what to install."""
    result = machine.runs("system-packages", "bench")

    assert result.returncode == 0
    assert "sudo apt-get install ripgrep" in result.stderr
    assert "brew install ripgrep" in result.stderr


def test_only_what_the_use_needs_is_asked_for(machine: Machine) -> None:
    """The benchmark's programs are no concern of a CI run's first step."""
    result = machine.runs("system-packages", "ci")

    assert "make" in result.stderr
    assert "ripgrep" not in result.stderr


def test_root_on_debian_gets_what_is_missing(machine: Machine) -> None:
    """A first failure is answered with fresh package lists, and then the install goes through."""
    machine.has("id", "echo 0")
    lists = machine.programs / "lists"
    installed = machine.programs / "installed"
    machine.has(
        "apt-get",
        f'case $1 in update) : >"{lists}" ;; *) cat "{lists}" && echo "$*" >"{installed}" ;; esac',
    )

    result = machine.runs("system-packages", "bench")

    assert result.returncode == 0
    assert "sudo" not in result.stderr
    assert "ripgrep" in installed.read_text(encoding="utf-8").split()


def test_a_failed_install_names_the_command(machine: Machine) -> None:
    """Root without a network is told what is missing, as everybody else is."""
    machine.has("id", "echo 0")
    machine.has("apt-get", "exit 100")

    result = machine.runs("system-packages", "bench")

    assert result.returncode == 0
    assert "Missing for 'bench': ripgrep" in result.stderr


def test_what_is_there_is_left_alone(machine: Machine) -> None:
    """Nothing is said and nothing installed when every program is present."""
    for program in ("rg", "sshd", "unshare", "nscd", "rsync", "mkfs.ext4", "nsenter"):
        machine.has(program, "exit 0")
    machine.has("apt-get", "exit 1")
    machine.has("id", "echo 0")

    result = machine.runs("system-packages", "bench")

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
