"""Second looks at a log, made only where the verdict hangs on them.

Progress lines are too many to be signatures, and lines of ranks that say nothing else too. So the
first look finds failures; this one goes back to ask "did anybody get on after that?" and "is there
any line at all of rank 77?". Both stop as soon as they know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from bot.diagnosis.filenames import file_origin
from bot.diagnosis.kinds import Kind
from bot.diagnosis.model import Observation
from bot.diagnosis.origin import Origin
from bot.diagnosis.patterns import Pattern
from bot.diagnosis.progress import LITERALS, is_progress
from bot.diagnosis.scan import Blocks, Literals, Readable
from bot.diagnosis.signatures import LAUNCHERS
from bot.diagnosis.unpack import unpack

_LONG_LINE = 1 << 16
#: Less than this is read rather than skipped.
_SKIP_BYTES = 1 << 20
#: Slurm's own daemons write under the label of a task that itself says nothing.
_LAUNCHER = Pattern(r"slurmstepd|srun: ")
_SECTION = next(row.pattern for row in LAUNCHERS if row.kind is Kind.SECTION)


class Mark(NamedTuple):
    """Where the first look saw something that later progress would answer."""

    #: start of the line, in bytes
    offset: int
    #: its number
    line: int


class _Lines:
    """The lines of a stream that hold a literal, unpacked, with line number and offset."""

    def __init__(self, stream: Readable, origin: Origin, *, believe_name: bool) -> None:
        self.blocks = Blocks(stream)
        self.outer = origin
        self.section = origin
        self.believe_name = believe_name


def look_for_progress(
    stream: Readable,
    mark: Mark,
    tell: Callable[[Observation], Mark | None],
    *,
    file: str | None,
    believe_name: bool,
    first_seq: int,
    sections: bool,
) -> None:
    """Report the progress lines that come after a mark.

    `tell` takes a progress line and returns the mark behind which the next one matters, None for
    enough; what lies between is skipped. `sections`: the stream has `==> file <==` headers, so that
    nothing can be skipped.
    """
    origin = file_origin(file, believe_name=believe_name) if file is not None else Origin()
    lines = _Lines(stream, origin, believe_name=believe_name)
    literals = Literals([text.encode() for text in LITERALS] + [b"==> "], caseless=True)
    line, start_of_block = 1, 0
    if mark.offset > _SKIP_BYTES and not sections:
        lines.blocks.skip_to(mark.offset)
        line, start_of_block = mark.line, mark.offset
    for buffer, length in lines.blocks:
        start_of_block -= lines.blocks.repeated
        position = 0
        while start_of_block + length > mark.offset or sections:
            if not sections:
                position = max(position, mark.offset - start_of_block)
            start, end = _next_line(buffer, position, length, literals)
            if start < 0:
                break
            position = end + 1
            if buffer.startswith(b"==> ", start):
                _enter(lines, bytes(buffer[start:end]))
            offset = start_of_block + start
            if (offset <= mark.offset and not sections) or end - start > _LONG_LINE:
                continue
            for peeled, raw in unpack(bytes(buffer[start:end]), lines.section):
                if not is_progress(peeled.text):
                    continue
                seen = Observation(
                    kind=Kind.PROGRESS,
                    fields={},
                    origin=peeled.origin,
                    seq=first_seq + offset,
                    line=line + buffer.count(b"\n", lines.blocks.repeated, start),
                    text=raw,
                    time=peeled.time,
                )
                following = tell(seen)
                if following is None:
                    return
                mark = following
        line += buffer.count(b"\n", lines.blocks.repeated, length)
        start_of_block += length
        if mark.offset - start_of_block > _SKIP_BYTES and not sections:
            lines.blocks.skip_to(mark.offset)
            line, start_of_block = mark.line, mark.offset


def _next_line(
    buffer: bytearray, position: int, length: int, literals: Literals
) -> tuple[int, int]:
    """Return start and end of the next line that holds a literal, (-1, -1) for none."""
    if position >= length:
        return -1, -1
    with memoryview(buffer) as whole, whole[position:length] as view:
        hit = literals.first(view)
    if hit < 0:
        return -1, -1
    start = buffer.rfind(b"\n", 0, position + hit) + 1
    end = buffer.find(b"\n", position + hit, length)
    return start, length if end < 0 else end


def _enter(lines: _Lines, line: bytes) -> None:
    """Note that what follows stands in the file that a header names."""
    match = _SECTION.search(line.decode("utf-8", "replace").strip())
    if match is not None:
        name = match["file"]
        told = file_origin(name, believe_name=lines.believe_name)
        lines.section = Origin(file=name).inside(told).inside(lines.outer)


_ENOUGH_BYTES = 1 << 12
#: Lines that say nothing of whether a process lives: launchers, prompts, tracebacks, c10d itself.
_NOTHING = Pattern(
    r"\s|$|[*=_^-]{3}|\^C|.{0,3}$|srun:|slurmstepd|sbatch:|\[?\w[\w.-]*@|[$#>] |Traceback|"
    r"Exception raised from|frame #|<omitting|\[[IWEF]\d* |Terminated|Killed|Aborted|"
    r"During handling of|The above exception|(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Interrupt)\b|"
    r"(?:time|host|rank|exitcode|error_file|traceback) *:|Setting OMP_NUM|"
    r"Root Cause|Failures:|\[\d+\]:|ncclSystem|Last error"
)


def look_for_other_lines(
    stream: Readable,
    mark: Mark,
    voice: tuple[object, ...],
    *,
    file: str | None,
    believe_name: bool,
    most: int = 400,
) -> tuple[int, int]:
    """Count what a speaker says, apart from failures, in the lines after a mark.

    Returns (how many such lines, offset of the last one). A process that looks a name up in vain
    does nothing else meanwhile, so that other lines of it show that it got beyond.
    """
    origin = file_origin(file, believe_name=believe_name) if file is not None else Origin()
    blocks = Blocks(stream)
    if mark.offset > _SKIP_BYTES:
        blocks.skip_to(mark.offset)
    start_of_block = blocks.size_bytes
    seen, found, last = 0, 0, -1
    for buffer, length in blocks:
        start_of_block -= blocks.repeated
        position = max(0, mark.offset - start_of_block)
        while position < length and seen < most:
            end = buffer.find(b"\n", position, length)
            end = length if end < 0 else end
            if start_of_block + position > mark.offset:
                seen += 1
                for peeled, _ in unpack(
                    bytes(buffer[position : min(end, position + 4096)]), origin
                ):
                    if peeled.origin.voice == voice and not _NOTHING.match(peeled.text):
                        found, last = found + 1, start_of_block + position
            position = end + 1
        start_of_block += length
        if seen >= most:
            break
    return found, last


def look_for_nccl_hosts(stream: Readable, most: int = 32) -> set[str]:
    """Return the machines that NCCL's own prefix names in its first lines."""
    found: set[str] = set()
    literals = Literals([b" NCCL "])
    for buffer, length in Blocks(stream):
        position = 0
        while most > 0:
            start, end = _next_line(buffer, position, length, literals)
            if start < 0:
                break
            position, most = end + 1, most - 1
            for peeled, _ in unpack(
                bytes(buffer[start : min(end, start + _ENOUGH_BYTES)]), Origin()
            ):
                if peeled.origin.nccl_host is not None:
                    found.add(peeled.origin.nccl_host)
        if most <= 0:
            break
    return found


#: A speaker: a rank's or node's number, or a machine's short name.
Speaker = int | str


def _patterns(speaker: Speaker) -> tuple[str, ...]:
    """Return what a label of this speaker can look like, as the prefix table has it."""
    if isinstance(speaker, str):
        return (speaker,)
    number = speaker
    return (
        f"{number}: ",
        f"{number}:\t",
        f"{number}:\n",
        f"{number}:\r",
        f"rank{number}",
        f"rank {number}:",
        f"rank_{number}",
        f"rank-{number}",
        f"rank={number},",
        f"rank:{number}",
        f"[{number}]",
        f",{number}]<",
        f",{number},",
        f'rank": {number}',
        f'rank":{number}',
        f'rank": "{number}"',
        f'rank":"{number}"',
    )


def look_for_speakers(
    stream: Readable,
    missing: Iterable[Speaker],
    who: Callable[[Origin], Speaker | None],
    *,
    file: str | None,
    believe_name: bool,
) -> set[Speaker]:
    """Return which of the missing speakers have no line at all in a stream.

    Exact: a speaker is struck out only by a line whose prefixes, read as everywhere else, say that
    it is theirs. Every line is looked at; the set of literals shrinks as speakers are found, so
    that the search soon runs at full speed, and it ends when all are.
    """
    left = set(missing)
    origin = file_origin(file, believe_name=believe_name) if file is not None else Origin()
    lines = _Lines(stream, origin, believe_name=believe_name)
    owners, literals = _compiled(left)
    #: whose file begins here: its first line, whatever it says, is theirs
    awaited = who(origin)
    for buffer, length in lines.blocks:
        with memoryview(buffer) as whole, whole[:length] as view:
            hits = literals.find(view)
        before = len(left)
        if awaited is not None:
            awaited = _struck(left, awaited, says=_says_something(buffer, 0, length))
        done_to = -1
        for end_of_hit, literal in hits:
            owner = owners[literal]
            if end_of_hit <= done_to or (owner is not None and owner not in left):
                continue
            start = buffer.rfind(b"\n", 0, end_of_hit - 1) + 1
            end = buffer.find(b"\n", end_of_hit - 1, length)
            end = length if end < 0 else end
            if buffer.startswith(b"==> ", start):
                _enter(lines, bytes(buffer[start:end]))
                done_to = end
                awaited = who(lines.section)
                awaited = _struck(left, awaited, says=_says_something(buffer, end + 1, length))
                continue
            for peeled, _ in unpack(bytes(buffer[start:end]), lines.section):
                speaker = who(peeled.origin)
                if speaker in left and peeled.text.strip() and not _LAUNCHER.match(peeled.text):
                    left.discard(speaker)
        if not left:
            return left
        if len(left) < before:
            owners, literals = _compiled(left)
    return left


def _says_something(buffer: bytearray, start: int, length: int) -> bool | None:
    """Tell whether a line of text comes before the next header; None where the block ends first."""
    while start < length:
        end = buffer.find(b"\n", start, length)
        end = length if end < 0 else end
        if buffer.startswith(b"==> ", start):
            return False
        if buffer[start:end].strip():
            return True
        start = end + 1
    return None


def _struck(left: set[Speaker], awaited: Speaker | None, *, says: bool | None) -> Speaker | None:
    """Strike out whose file says something; return whom to go on waiting for."""
    if says and awaited is not None:
        left.discard(awaited)
    return awaited if says is None else None


def _compiled(speakers: set[Speaker]) -> tuple[list[Speaker | None], Literals]:
    owners: list[Speaker | None] = []
    texts: list[bytes] = []
    for speaker in sorted(speakers, key=str):
        for text in _patterns(speaker):
            owners.append(speaker)
            texts.append(text.encode())
    owners.append(None)
    texts.append(b"==> ")
    return owners, Literals(texts)
