"""From lines to observations: unpack, take prefixes off, match signatures, finish what wraps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from bot.diagnosis.exceptions import FINAL_LINE, is_frame, is_own, of_the_job
from bot.diagnosis.filenames import file_origin
from bot.diagnosis.kinds import Kind
from bot.diagnosis.model import Observation
from bot.diagnosis.names import is_host_name
from bot.diagnosis.origin import Origin
from bot.diagnosis.patterns import Pattern
from bot.diagnosis.peeling import Peeled, c10_time
from bot.diagnosis.signatures import C10D, SIGNATURES, Signature
from bot.diagnosis.unpack import unpack

_LONG_LINE = 1 << 16
_WINDOW = 1 << 12
#: How many further lines of its speaker a wrapped message may take.
_WRAP_LINES = 2
#: So many frames, none of them of torch or a launcher, are another library's.
_TELLING_FRAMES = 2
#: Documentation and source code that quote a message: a grep's output, Markdown's back-ticks.
_QUOTED = Pattern(r"`|^[\w./-]+\.(?:md|rst|cpp|cc|hpp|h|py|ipynb):\d+:")
#: How many lines a traceback or a table may run on before it is given up.
_FOLLOW_LINES = 600
#: The same for a wrapped message, whose rest comes at once but for others' lines.
_WRAP_FOLLOW_LINES = 60
_FOLLOWED = (Kind.TRACEBACK, Kind.SECTION, Kind.ROOT_CAUSE, Kind.HOSTNAME_ASKED)
_MAX_OPEN = 512
#: c10's time, which alone changes where a process repeats itself.
_STAMP = re.compile(rb"(?<=\[[IWEF])(\d{3,4}) (\d\d:\d\d:\d\d\.\d{9})(?= )")
_LONGEST_HEAD = 120
_REPEATED_KINDS = frozenset({Kind.LOOKUP_FAILED, Kind.REVERSE_LOOKUP_FAILED})
_MOST_REPEATED = 8192
_SEPARATOR = re.compile(rb"\r|\\r|\\n")

#: Which signatures each literal of `signatures.literals()` can start.
_BY_LITERAL: tuple[tuple[Signature, ...], ...] = tuple(
    tuple(row for row in SIGNATURES if literal in row.literals)
    for literal in dict.fromkeys(text for row in SIGNATURES for text in row.literals)
)
#: Rows whose messages are long enough to be wrapped by a terminal or a log library.
_MAY_WRAP = frozenset(id(row) for row in C10D)
_LITERAL_TEXTS = tuple(dict.fromkeys(text for row in SIGNATURES for text in row.literals))
#: Kinds whose signature reads the prefix itself.
_ON_WHOLE_LINE = frozenset({Kind.ELASTIC_AGENT, Kind.LAUNCH, Kind.WORLD_SIZE, Kind.NODES})
_ROOT_CAUSE_ROW = Pattern(
    r"^\s*(?P<key>host|rank|exitcode|error_file|traceback)\s*: (?P<value>.*?)\s*$"
)


@dataclass(kw_only=True)
class _Open:
    """Something that goes on after its first line: a traceback, a wrapped message, a table."""

    kind: Kind
    first: Observation
    signatures: tuple[Signature, ...] = ()
    #: number of the follow-up line at which it is given up
    until: int
    lines: int = 0
    frames: int = 0
    last_frame: str = ""
    #: whether a frame of it stands in what brings the job's processes together
    of_the_job: bool = False
    rows: dict[str, str] = field(default_factory=dict)

    @property
    def elsewhere(self) -> bool:
        """Tell whether the call stack has nothing to do with the job's peers.

        The user's own frames say nothing; a library's do, where several are in view.
        """
        return self.frames >= _TELLING_FRAMES and not self.of_the_job


@cache
def _signatures(ids: frozenset[int]) -> tuple[Signature, ...]:
    """Return the signatures that these literals can start, in the order of the table."""
    return tuple(dict.fromkeys(row for i in sorted(ids) for row in _BY_LITERAL[i]))


class Reader:
    """Turns the scanner's lines of one file into observations."""

    def __init__(
        self,
        tell: Callable[[Observation], None],
        *,
        file: str | None,
        believe_name: bool,
        first_seq: int = 0,
    ) -> None:
        """Call `tell` with each observation; `file` names the speaker where no prefix does."""
        self._tell = tell
        self._believe_name = believe_name
        self._outer = file_origin(file, believe_name=believe_name) if file is not None else Origin()
        self._section = self._outer
        self._first_seq = first_seq
        self._open: dict[tuple[object, ...], _Open] = {}
        #: whether the scanner is to hand over the lines that follow
        self.following = False
        self._followed = 0
        #: lines in which at least one message was recognised
        self.recognised = 0
        self._recognised_line = 0
        self._repeated: dict[tuple[bytes, bytes, Origin], Observation] = {}
        #: whether the file holds others behind `==> name <==` headers
        self.sections = False

    def matched(self, line: bytes, number: int, offset: int, ids: frozenset[int]) -> None:
        """Read a line that holds the literals with these ids."""
        seq = self._first_seq + offset
        stamp = None if self.following else _STAMP.search(line, 0, _LONGEST_HEAD)
        if stamp is None:
            self._read_anew(line, number, seq, ids)
            return
        # the same look-up fails again and again: all but its time was read before
        key = (line[: stamp.start()], line[stamp.end() :], self._section)
        known = self._repeated.get(key)
        if known is not None:
            self._repeat(known, line, stamp, number, seq)
            return
        told: list[Observation] = []
        outer, self._tell = self._tell, told.append
        try:
            self._read_anew(line, number, seq, ids)
        finally:
            self._tell = outer
        for observation in told:
            outer(observation)
        if len(told) == 1 and told[0].kind in _REPEATED_KINDS and not self.following:
            if len(self._repeated) >= _MOST_REPEATED:
                self._repeated.clear()
            self._repeated[key] = told[0]

    def _repeat(
        self, known: Observation, line: bytes, stamp: re.Match[bytes], number: int, seq: int
    ) -> None:
        """Tell what a line says that differs from a known one in c10's time alone."""
        self._recognised_line = number
        self.recognised += 1
        self._tell(
            Observation(
                kind=known.kind,
                fields=known.fields,
                origin=known.origin,
                seq=seq,
                line=number,
                text=line.decode("utf-8", "replace"),
                time=c10_time(stamp[1].decode(), stamp[2].decode()),
                repeats=known.repeats,
            )
        )

    def _read_anew(self, line: bytes, number: int, seq: int, ids: frozenset[int]) -> None:
        signatures = _signatures(ids)
        for part in _parts(line, ids):
            for peeled, raw in unpack(part, self._section):
                self._read(peeled, raw, number, seq, signatures)

    def follow(self, line: bytes, number: int) -> None:
        """Read a line that may finish something open."""
        for peeled, raw in unpack(line, self._section):
            self._continue(peeled, raw, number)

    def _read(
        self, peeled: Peeled, raw: str, number: int, seq: int, signatures: tuple[Signature, ...]
    ) -> None:
        traceback = self._open.get(_key(Kind.TRACEBACK, peeled.origin))
        elsewhere = traceback is not None and traceback.elsewhere
        if self.following:
            self._continue(peeled, raw, number)
        if signatures and _QUOTED.search(peeled.text):
            return
        unread: list[Signature] = []
        for row in signatures:
            if row.kind is Kind.LAUNCH:
                for fact in row.pattern.finditer(raw):
                    self._recognise(row.kind, fact, peeled, raw, number, seq)
                continue
            match = row.pattern.search(peeled.text)
            if match is None and row.kind in _ON_WHOLE_LINE:
                match = row.pattern.search(raw)
            if match is None:
                if id(row) in _MAY_WRAP and any(text in peeled.text for text in row.literals):
                    unread.append(row)
                continue
            kind = row.kind
            if elsewhere and kind is Kind.PY_LOOKUP_FAILED:
                kind = Kind.OTHER_LOOKUP_FAILED
            if elsewhere and kind in {Kind.CONNECT_FAILED, Kind.PEER_CLOSED}:
                continue
            self._recognise(kind, match, peeled, raw, number, seq)
        if unread and self._recognised_line != number:
            self._begin(
                _Open(
                    kind=Kind.SECTION,
                    first=_observation(Kind.SECTION, {}, peeled, peeled.text, number, seq),
                    signatures=tuple(unread),
                    until=self._followed + _WRAP_FOLLOW_LINES,
                )
            )

    def _recognise(
        self,
        kind: Kind,
        match: re.Match[str],
        peeled: Peeled,
        raw: str,
        number: int,
        seq: int,
    ) -> None:
        if self._recognised_line != number:
            self._recognised_line = number
            self.recognised += 1
        fields = {key: value for key, value in match.groupdict().items() if value is not None}
        observation = _observation(kind, fields, peeled, raw, number, seq)
        if kind is Kind.SECTION:
            self.sections = True
            self._section = self._outer.inside(
                file_origin(fields["file"], believe_name=self._believe_name)
            )
            self._section = self._section._replace(file=fields["file"])
            self._tell(observation._replace(origin=self._section))
            return
        if kind in {Kind.TRACEBACK, Kind.ROOT_CAUSE, Kind.HOSTNAME_ASKED}:
            self._begin(_Open(kind=kind, first=observation, until=self._followed + _FOLLOW_LINES))
            if kind is not Kind.ROOT_CAUSE:
                return
        if kind is Kind.OWN_ERROR and not is_own(fields["type"], fields.get("text", "")):
            return
        self._tell(observation)

    def _begin(self, opened: _Open) -> None:
        if len(self._open) < _MAX_OPEN:
            self._open[_key(opened.kind, opened.first.origin)] = opened
            self.following = True

    def _continue(self, peeled: Peeled, raw: str, number: int) -> None:
        """Give a line to what its speaker has open, and close what has run on for too long."""
        self._followed += 1
        for kind in _FOLLOWED:
            key = _key(kind, peeled.origin)
            opened = self._open.get(key)
            if opened is None or opened.first.line == number:
                continue
            opened.lines += 1
            if self._finishes(opened, peeled, raw, number):
                self._open.pop(key, None)
        while self._open:
            oldest = next(iter(self._open))
            if self._open[oldest].until > self._followed:
                break
            del self._open[oldest]
        self.following = bool(self._open)

    def _finishes(self, opened: _Open, peeled: Peeled, raw: str, number: int) -> bool:
        if opened.kind is Kind.TRACEBACK:
            return self._end_of_traceback(opened, peeled, raw, number)
        if opened.kind is Kind.ROOT_CAUSE:
            return self._row_of_table(opened, peeled)
        if opened.kind is Kind.HOSTNAME_ASKED:
            if is_host_name(peeled.text.strip()):
                fields = {"prompt": peeled.text.strip()}
                self._tell(opened.first._replace(kind=Kind.LAUNCH, fields=fields))
            return True
        return self._rest_of_message(opened, peeled, number)

    def _end_of_traceback(self, opened: _Open, peeled: Peeled, raw: str, number: int) -> bool:
        if is_frame(peeled.text) and peeled.text != opened.last_frame:
            opened.last_frame = peeled.text
            opened.frames += 1
            opened.of_the_job = opened.of_the_job or of_the_job(peeled.text)
        final = FINAL_LINE.match(peeled.text)
        if final is None:
            return peeled.text.startswith("Traceback (most recent call last)")
        name, text = final["type"], final["text"] or ""
        if (is_own(name, text) and not opened.elsewhere) or (
            opened.elsewhere and is_own(name, text, network_too=True)
        ):
            self._recognise(Kind.OWN_ERROR, final, peeled, raw, number, opened.first.seq + 1)
        return True

    def _row_of_table(self, opened: _Open, peeled: Peeled) -> bool:
        row = _ROOT_CAUSE_ROW.match(peeled.text)
        if row is not None:
            opened.rows.setdefault(row["key"], row["value"])
        root = "root" in opened.first.fields
        if "exitcode" not in opened.rows:
            return not root and "NO_OTHER_FAILURES" in peeled.text
        rank = re.match(r"(\d+)", opened.rows.get("rank", ""))
        fields = {
            **opened.first.fields,
            "host": opened.rows.get("host", ""),
            "exit": opened.rows["exitcode"].split(" ", 1)[0],
        }
        if rank:
            fields["rank"] = rank[1]
        self._tell(opened.first._replace(fields=fields, seq=opened.first.seq + 1))
        opened.rows.clear()  # a table of failures goes on with the next one
        return root

    def _rest_of_message(self, opened: _Open, peeled: Peeled, number: int) -> bool:
        """Join a wrapped message and try again."""
        first = opened.first
        for glue in (" ", ""):
            joined = first.text.rstrip() + glue + peeled.text.strip()
            for row in opened.signatures:
                match = row.pattern.search(joined)
                if match is not None:
                    whole = Peeled(text=joined, origin=first.origin, time=first.time)
                    self._recognise(row.kind, match, whole, joined, first.line, first.seq)
                    return True
        opened.first = first._replace(text=first.text.rstrip() + " " + peeled.text.strip())
        return opened.lines >= _WRAP_LINES or number > first.line + 50


def _key(kind: Kind, origin: Origin) -> tuple[object, ...]:
    return (kind, *origin.voice)


def _observation(
    kind: Kind, fields: dict[str, str], peeled: Peeled, raw: str, number: int, seq: int
) -> Observation:
    return Observation(
        kind=kind,
        fields=fields,
        origin=peeled.origin,
        seq=seq,
        line=number,
        text=raw,
        time=peeled.time,
        repeats=peeled.repeats,
    )


def _parts(line: bytes, ids: frozenset[int]) -> Iterator[bytes]:
    """Yield the parts of a line that are worth reading: all of it, or windows of a huge one."""
    if len(line) <= _LONG_LINE or _is_json(line):
        yield line
        return
    end = 0
    for literal in (_LITERAL_TEXTS[i].encode() for i in sorted(ids)):
        at = line.find(literal)
        while at >= 0:
            start, end = _window(line, at, at + len(literal))
            yield line[start:end]
            at = line.find(literal, max(end, at + 1))


def _is_json(line: bytes) -> bool:
    return line.lstrip()[:1] in {b"{", b"["} and line.rstrip()[-1:] in {b"}", b"]"}


def _window(line: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the part of an endless line around a literal, up to the next (escaped) line end."""
    low, high = max(0, start - _WINDOW), min(len(line), end + _WINDOW)
    before = [found.end() for found in _SEPARATOR.finditer(line, low, start)]
    after = _SEPARATOR.search(line, end, high)
    return (before[-1] if before else low), (after.start() if after else high)
