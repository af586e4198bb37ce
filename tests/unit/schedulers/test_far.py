"""Prove what is carried over of a log file, and how it is numbered."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.hosts.quoting import quoted
from bot.schedulers.model import Limits, LogFile, Reading, Stream
from bot.schedulers.slurm import far
from bot.schedulers.slurm.patterns import Glob

MARK = "mark-5d41"
SMALL = Limits(before=1, after=1, head_bytes=40, tail_bytes=40, file_bytes=4096, files=10)
NEEDLE = b"cannot be retrieved"


def wanted(*patterns: Path | str, stream: Stream = Stream.BOTH) -> list[far.Wanted]:
    """Return files to look at."""
    return [
        far.Wanted(glob=Glob(pattern=str(one), shown=str(one)), stream=stream) for one in patterns
    ]


def look(
    files: list[far.Wanted], limits: Limits = SMALL, *, user: str = ""
) -> tuple[tuple[LogFile, ...], bool]:
    """Run the far side here."""
    ran = subprocess.run(
        far.argv(MARK, files, limits, user=user),
        input=far.stdin([NEEDLE, b"gai error"]),
        capture_output=True,
        check=True,
    )
    return far.files_in(ran.stdout, MARK, files, limits)


def test_selected_lines_come_with_context_head_and_tail(tmp_path: Path) -> None:
    """Of a thousand lines the first, the last and those around a literal come, with numbers."""
    path = tmp_path / "a.log"
    lines = [b"step %d\n" % number for number in range(1, 1001)]
    lines[499] = b"rank 3: gai error: -3\n"
    path.write_bytes(b"".join(lines))

    (file,), whole = look(wanted(path))

    assert whole
    assert (file.reading, file.size_bytes, file.line_count) == (
        Reading.READ,
        path.stat().st_size,
        1000,
    )
    assert file.numbers == (1, 2, 3, 4, 5, 499, 500, 501, 997, 998, 999, 1000)
    assert file.text.splitlines(keepends=True) == [lines[number - 1] for number in file.numbers]
    assert file.line_in_file(7) == 500
    assert file.modified_at is not None


@given(
    st.lists(
        st.sampled_from(
            [b"", b"x", b"a gai error b", b"12:34", b"5-6", b"--", b"long " * 20, b"\xff\x00\r"]
        ),
        max_size=30,
    ),
    st.sampled_from([b"", b"\n"]),
)
def test_every_carried_line_is_the_line_of_its_number(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bytes
) -> None:
    """Whatever the lines look like, number and text agree, and no literal is lost."""
    path = tmp_path_factory.getbasetemp() / "far.log"
    content = b"\n".join(lines) + (end if lines else b"")
    path.write_bytes(content)
    real = content.split(b"\n")

    (file,), whole = look(wanted(path))

    carried = file.text.split(b"\n") if file.text else []
    if file.text.endswith(b"\n"):
        carried.pop()
    assert whole
    assert [real[number - 1] for number in file.numbers] == carried
    hits = {number for number, line in enumerate(real, 1) if b"gai error" in line}
    assert hits <= set(file.numbers)
    assert file.line_count == len(content.splitlines()) or b"\r" in content


def test_an_empty_file_was_read(tmp_path: Path) -> None:
    """No bytes is not the same as no file."""
    (tmp_path / "empty").touch()

    (file,), _ = look(wanted(tmp_path / "empty"))

    assert (file.reading, file.line_count, file.text) == (Reading.READ, 0, b"")


def test_what_cannot_be_read_is_told_apart(tmp_path: Path) -> None:
    """Missing, a folder, a pipe that would block for ever, a dangling link."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    names = ("no", "folder", "pipe", "link")

    files, whole = look(wanted(*(tmp_path / name for name in names)))

    assert whole
    assert [file.reading for file in files] == [
        Reading.MISSING,
        Reading.UNREADABLE,
        Reading.UNREADABLE,
        Reading.MISSING,
    ]
    assert files[0].because == "No such file or directory"
    assert files[1].because == "not a regular file"


def test_a_pattern_finds_each_file_once(tmp_path: Path) -> None:
    """Files of two patterns are listed once, under the first; spaces and dollars are plain."""
    for name in ("a 1.log", "a $(x).log", "b.log"):
        (tmp_path / name).write_bytes(b"gai error\n")
    files = [
        *wanted(f"{tmp_path}/a*.log", stream=Stream.STEP),
        *wanted(f"{tmp_path}/*.log", stream=Stream.SETTINGS),
    ]

    found, _ = look(files)

    assert [(Path(file.path).name, file.stream) for file in found] == [
        ("a $(x).log", Stream.STEP),
        ("a 1.log", Stream.STEP),
        ("b.log", Stream.SETTINGS),
    ]


def test_too_many_files_are_said_to_be_too_many(tmp_path: Path) -> None:
    """At the limit the answer is not whole."""
    for number in range(5):
        (tmp_path / f"{number}.log").touch()

    found, whole = look(wanted(f"{tmp_path}/*.log"), replace(SMALL, files=3))

    assert (len(found), whole) == (3, False)


def test_an_answer_that_was_cut_off_is_not_whole(tmp_path: Path) -> None:
    """What arrived of a broken connection is used as far as its files are complete."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"gai error\n")
    files = wanted(tmp_path / "a", tmp_path / "b")
    ran = subprocess.run(
        far.argv(MARK, files, SMALL),
        input=far.stdin([NEEDLE]),
        capture_output=True,
        check=True,
    )
    cut = ran.stdout[: ran.stdout.rindex(b" lines\n")]

    found, whole = far.files_in(cut, MARK, files, SMALL)

    assert ([Path(file.path).name for file in found], whole) == (["a"], False)
    assert far.files_in(b"", MARK, files, SMALL) == ((), False)


def test_a_log_cannot_imitate_our_marks(tmp_path: Path) -> None:
    """Lines that look like the far side's own are lines of the log."""
    path = tmp_path / "a.log"
    path.write_bytes(b"\nmark-0000 file 0 1 1 0 0\n/etc/passwd\ngai error\nmark-0000 end\n")

    (file,), whole = look(wanted(path))

    assert whole
    assert file.path == str(path)
    assert file.text == path.read_bytes()


def test_only_the_users_own_files_are_read(tmp_path: Path) -> None:
    """An unknown user owns nothing; files that the settings name are not bound to a user."""
    path = tmp_path / "a.log"
    path.write_bytes(b"gai error\n")

    (own,), _ = look(wanted(path), user="no-such-user")
    (named,), _ = look(wanted(path, stream=Stream.SETTINGS), user="no-such-user")

    assert own.reading is Reading.UNREADABLE
    assert named.reading is Reading.READ


def test_nothing_to_search_for_is_an_error() -> None:
    """Without words grep would select everything."""
    with pytest.raises(ValueError, match="no literals"):
        far.stdin([b"", b"two\nlines"])


def test_the_search_is_one_command_line_for_any_shell(tmp_path: Path) -> None:
    """Without a line feed in any word, a login shell hands it on as it is."""
    path = tmp_path / "it's a $(log).txt"
    path.write_bytes(NEEDLE + b"\n")
    line = quoted(far.argv(MARK, wanted(path), SMALL))
    shells = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]

    for shell in shells:
        ran = subprocess.run(
            [shell, "-c", line], input=far.stdin([NEEDLE]), capture_output=True, check=True
        )
        ((file,), whole) = far.files_in(ran.stdout, MARK, wanted(path), SMALL)
        assert (file.text, whole) == (NEEDLE + b"\n", True)
    assert "sh" in shells
