"""Give the diagnosis what was carried over of a job's logs, and its line numbers back. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.diagnosis import Diagnosis, Source, of_bytes
from bot.diagnosis.quoting import quoted
from bot.schedulers.model import JobLogs, LogFile


def sources(logs: JobLogs) -> list[Source]:
    """Return the files that were read, by their paths, as the diagnosis takes them.

    The lines of a pod carry it in front, as `kubectl logs --prefix` writes them.
    """
    return [of_bytes(_labelled(file), file.path) for file in logs.read]


def _labelled(file: LogFile) -> bytes:
    if not file.pod:
        return file.text
    prefix = f"[pod/{file.pod}/{file.container}] ".encode()
    # a carriage return ends no line here: progress bars write many of them into one
    return b"".join(prefix + line for line in re.findall(rb"[^\n]*\n|[^\n]+", file.text))


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
