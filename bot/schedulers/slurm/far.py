"""Search log files where they lie, and read what comes back. Pure: the runner is elsewhere.

One small shell program looks at every file: `grep -F` picks the lines that hold a literal of the
signature table, with context, and the first and last kilobytes come along whatever they hold. Only
that crosses the wire. It needs `sh`, `grep`, `head`, `tail`, `wc` and nothing of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.schedulers.model import Limits, LogFile, Reading, Stream
from bot.schedulers.slurm.patterns import Glob

#: Arguments: separator, bytes of head, of tail and of selected lines, context before and after,
#: most files, the job's user, then one pattern a file or group of files. Literals come on standard
#: input. A pattern behind `=` is for files of that user only: anybody can name any path as the
#: output of a job, and must not get to read with our rights what is not his.
#: A size is taken first, and head, tail and count keep to it: the file may grow meanwhile.
_LINES = r"""
LC_ALL=C; export LC_ALL;
mark=$1; head=$2; tail=$3; most=$4; before=$5; after=$6; files=$7; user=$8; shift 8;
uid=$(id -u -- "$user" 2>/dev/null);
words=$(cat); IFS=; group=0;
for pattern in "$@"; do
  own=; case $pattern in =*) own=1; pattern=${pattern#=};; esac;
  for f in $pattern; do
    [ "$files" -gt 0 ] || { printf '\n%s full %s\n' "$mark" "$group"; break 2; };
    files=$((files - 1));
    if [ ! -e "$f" ]; then
      printf '\n%s absent %s\n%s\n' "$mark" "$group" "$f";
      ls -d -- "$f" 2>&1 | head -c 300;
    elif [ ! -f "$f" ]; then
      printf '\n%s unreadable %s\n%s\nnot a regular file' "$mark" "$group" "$f";
    elif [ "$own" ] &&
      [ "$(ls -dnL -- "$f" | tr -s ' ' | cut -d ' ' -f 3)" != "$uid" ]; then
      printf '\n%s unreadable %s\n%s\nit does not belong to the user of the job'
        "$mark" "$group" "$f";
    elif ! { size=$(wc -c <"$f"); } 2>/dev/null || [ ! -r "$f" ]; then
      printf '\n%s unreadable %s\n%s\n' "$mark" "$group" "$f";
      { head -c 1 <"$f" >/dev/null; } 2>&1 | head -c 300;
    else
      size=$((size)); lines=$(head -c "$size" <"$f" | wc -l);
      at=$((size > tail ? size - tail : 0));
      changed=$(date -u -r "$f" +%s 2>/dev/null || echo 0);
      printf '\n%s file %s %s %s %s %s\n%s\n'
        "$mark" "$group" "$size" "$((lines))" "$at" "$changed" "$f";
      head -c "$head" <"$f" | head -c "$size";
      printf '\n%s lines\n' "$mark";
      printf '%s\n' "$words" |
        grep -anF -B "$before" -A "$after" -f - -- "$f" 2>/dev/null | head -c "$most";
      printf '\n%s tail\n' "$mark";
      tail -c +$((at + 1)) <"$f" | head -c $((size - at));
    fi;
  done;
  group=$((group + 1));
done;
printf '\n%s end\n' "$mark"
"""

#: The same on one line: a word with line feeds is not sent, since login shells differ on it.
PROGRAM = " ".join(line.strip() for line in _LINES.splitlines() if line)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A file or group of files to look at."""

    glob: Glob
    stream: Stream


def argv(mark: str, wanted: Sequence[Wanted], limits: Limits, *, user: str = "") -> tuple[str, ...]:
    """Return the command that searches these files; `mark` is a word that no log can hold.

    With a `user` only that user's files are read, but for those that the settings name.
    """
    numbers = (
        limits.head_bytes,
        limits.tail_bytes,
        limits.file_bytes,
        limits.before,
        limits.after,
        limits.files,
    )
    patterns = tuple(
        f"={one.glob.pattern}" if user and one.stream is not Stream.SETTINGS else one.glob.pattern
        for one in wanted
    )
    return (
        *("nice", "-n", "10", "sh", "-c", PROGRAM, "sh", mark),
        *map(str, numbers),
        user,
        *patterns,
    )


def stdin(literals: Iterable[bytes]) -> bytes:
    """Return the literals as grep takes them, one a line."""
    lines = b"\n".join(word for word in literals if word and b"\n" not in word)
    if not lines:
        message = "no literals to search for"
        raise ValueError(message)
    return lines


def files_in(
    output: bytes, mark: str, wanted: Sequence[Wanted], limits: Limits
) -> tuple[tuple[LogFile, ...], bool]:
    """Return the files of an answer, each once, and whether the answer is whole.

    It is not where the command was ended or there were more files than the limit.
    """
    found: dict[str, LogFile] = {}
    parts = _parts(output, mark.encode())
    whole = bool(parts) and parts[-1][0] == [b"end"]
    full = False
    index = 0
    while index < len(parts):
        head, body = parts[index]
        index += 1
        full = full or head[:1] == [b"full"]
        if head[0] not in {b"absent", b"unreadable", b"file"}:
            continue
        path_bytes, _, rest = body.partition(b"\n")
        stream = wanted[int(head[1])].stream
        file = LogFile(
            path=path_bytes.decode("utf-8", "backslashreplace"),
            stream=stream,
            reading=Reading.MISSING,
        )
        if head[0] == b"file":
            sections = dict.fromkeys((b"lines", b"tail"), b"")
            while index < len(parts) and parts[index][0][0] in sections:
                sections[parts[index][0][0]] = parts[index][1]
                index += 1
            if index >= len(parts):
                continue
            file = _read(file, head[2:], rest, sections[b"lines"], sections[b"tail"], limits)
        else:
            file = _not_read(file, head[0], rest)
        found.setdefault(file.path, file)
    return tuple(found.values()), whole and not full


def _parts(output: bytes, mark: bytes) -> list[tuple[list[bytes], bytes]]:
    """Return what stands between the marks: the words behind each mark, and the bytes after it."""
    parts = []
    for piece in output.split(b"\n" + mark + b" ")[1:]:
        head, _, body = piece.partition(b"\n")
        if words := head.split():
            parts.append((words, body))
    return parts


def _not_read(file: LogFile, how: bytes, said: bytes) -> LogFile:
    because = said.decode("utf-8", "replace").strip().rpartition(": ")[2]
    missing = how == b"absent" and "ermission" not in because
    return replace(
        file, reading=Reading.MISSING if missing else Reading.UNREADABLE, because=because
    )


def _read(
    file: LogFile, numbers: list[bytes], head: bytes, lines: bytes, tail: bytes, limits: Limits
) -> LogFile:
    size, line_count, at, changed = (int(word) for word in numbers)
    cut = len(lines) >= limits.file_bytes
    picked = dict(_head(head, size))
    picked |= dict(_numbered(lines, cut=cut))
    picked |= dict(_tail(tail, at, line_count))
    ordered = sorted(picked)
    unfinished = bool(tail) and not tail.endswith(b"\n")
    return replace(
        file,
        reading=Reading.READ,
        size_bytes=size,
        line_count=line_count + unfinished,
        text=b"".join(picked[number] for number in ordered),
        numbers=tuple(ordered),
        cut=cut,
        modified_at=datetime.fromtimestamp(changed, UTC) if changed else None,
    )


def _head(block: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(_lines(block), 1):
        # the last line is cut off, unless the block is the whole file
        if line.endswith(b"\n") or len(block) == size:
            yield number, line


def _tail(block: bytes, at: int, line_count: int) -> Iterator[tuple[int, bytes]]:
    if at:
        # begins somewhere in a line
        block = block.partition(b"\n")[2]
    first = line_count - block.count(b"\n") + 1
    yield from enumerate(_lines(block), first)


_NUMBERED = re.compile(rb"(\d+)[:-]")


def _numbered(block: bytes, *, cut: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of `grep -n`: `12:` selected, `13-` context, `--` between groups."""
    for line in _lines(block):
        found = _NUMBERED.match(line)
        if found and (line.endswith(b"\n") or not cut):
            text = line[found.end() :]
            yield int(found[1]), text if text.endswith(b"\n") else text + b"\n"


def _lines(block: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", block)
