"""Give the diagnosis what was carried over of a job's logs, and its line numbers back. Pure."""

from __future__ import annotations

from dataclasses import replace

from bot.diagnosis import Diagnosis, Source, of_bytes
from bot.diagnosis.quoting import quoted
from bot.schedulers.model import JobLogs, LogFile


def sources(logs: JobLogs) -> list[Source]:
    """Return the files that were read, by their paths, as the diagnosis takes them."""
    return [of_bytes(file.text, file.path) for file in logs.read]


def renumbered(diagnosis: Diagnosis, logs: JobLogs) -> Diagnosis:
    """Return a diagnosis of `sources(logs)` whose evidence names lines of the whole files."""
    files = {quoted([file.path])[0]: file for file in logs.read}
    return replace(
        diagnosis,
        evidence=tuple(
            replace(one, line=_in_file(files.get(one.file or ""), one.line))
            for one in diagnosis.evidence
        ),
    )


def _in_file(file: LogFile | None, line: int) -> int:
    return line if file is None else file.line_in_file(line)
