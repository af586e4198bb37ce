"""Prove that evidence from an excerpt names the line of the whole file."""

from __future__ import annotations

from bot.diagnosis import diagnose
from bot.schedulers.excerpts import renumbered, sources
from bot.schedulers.model import JobLogs, LogFile, Reading, Stream

LOOKUP = (
    b"[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of (node-0, "
    b"29500) cannot be retrieved (gai error: -3 - Temporary failure in name resolution).\n"
)


def read(path: str, *lines: tuple[int, bytes]) -> LogFile:
    """Return a file with these lines carried over."""
    return LogFile(
        path=path,
        stream=Stream.BOTH,
        reading=Reading.READ,
        text=b"".join(line for _, line in lines),
        numbers=tuple(number for number, _ in lines),
    )


def test_lines_are_those_of_the_whole_file() -> None:
    """Each file has numbers of its own, and files that were not read are no sources."""
    missing = LogFile(path="/logs/none", stream=Stream.BOTH, reading=Reading.MISSING)
    logs = JobLogs(
        files=(
            read("/logs/a.log", (1, b"start\n"), (70_000, LOOKUP)),
            missing,
            read("/logs/b.log", (31, LOOKUP)),
        )
    )

    diagnosis = renumbered(diagnose(sources(logs)), logs)

    assert [source.name for source in sources(logs)] == ["/logs/a.log", "/logs/b.log"]
    assert {(one.file, one.line) for one in diagnosis.evidence} == {
        ("/logs/a.log", 70_000),
        ("/logs/b.log", 31),
    }
