"""Private key blocks: the one secret that spans lines, its lines perhaps prefixed and interleaved.

RFC 7468 (PEM), OpenSSH's PROTOCOL.key, RFC 4880 (PGP) and RFC 4716 (SSH2) frame base64 lines with
`BEGIN … PRIVATE KEY` and `END …`. Launchers put a rank before each line, shippers wrap each in
JSON, other ranks write in between: so the lines of a block are known by what they hold and by what
surrounds that, not by where they are.
"""

from __future__ import annotations

import re

from bot.diagnosis.patterns import Pattern

PRIVATE_KEY = "[redacted:private-key]"

_LABEL = r"(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = rf"-{{4,5}} ?END {_LABEL}"
#: A block that begins, and as much of it as is on the same line, its newlines perhaps as `\n`.
_BEGIN = Pattern(
    rf"-{{4,5}} ?BEGIN {_LABEL}(?:(?:[A-Za-z0-9+/=\s\\:,]|-(?!-))*+{_END}|"
    r"(?:(?:(?:\\+[nr])++|[ ](?=[A-Za-z0-9+/]{44}))?[A-Za-z0-9+/=]++)*+)"
)
_END_OF_BLOCK = re.compile(_END)
#: A full line of a block is 64, 70 or 76 wide and, unlike a checksum or a path, of mixed case.
_FULL_WIDTH = 44
_SURELY_NO_WORD = 20
_RUN = Pattern(r"(?:(?<=\[)[0-9;]{1,16}[mK])?(?P<body>[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4})")
#: What differs between the prefixes of one writer's lines: the time. A rank or a pid does not.
_TIME = Pattern(r"[0-9][0-9:.,TZ+/-]{7,}")
#: A line of one word is a log's, not a key's last.
_WORD = Pattern(r"[A-Z]?[a-z]*|[A-Z]*|[0-9]*")
#: How much of what surrounds a run is compared with its neighbours.
_SURROUNDINGS = 80
#: Lines without key material after which a block without an end is taken as cut off.
_PATIENCE = 1000
#: No key has more lines; a block that begins before the text does is followed back so far.
_LONGEST = 300

_Shape = tuple[str, str]


def blank_key_blocks(text: str) -> tuple[str, int]:
    """Replace the private keys of a text; return it with as many lines, and how many keys it held.

    Each line that carried a part of a key keeps what stood before and after that part.
    """
    if "PRIVATE KEY" not in text:
        return text, 0
    blocks = _Blocks(text.split("\n"))
    for index, line in enumerate(blocks.lines):
        if "PRIVATE KEY" in line:
            blocks.frame(index)
        elif blocks.depth:
            blocks.inside(index)
    return "\n".join(blocks.lines), blocks.count


class _Blocks:
    """The lines of a text, and which key blocks are open where the reading stands."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.count = 0
        self.depth = 0
        self._idle = 0
        #: After full lines in these surroundings: whether the last, shorter one may still come.
        self._tails: dict[_Shape, bool] = {}

    def frame(self, index: int) -> None:
        """Replace the frame of one or more blocks, and what of them is on the same line."""
        line = _BEGIN.sub(self._begin, self.lines[index])
        line, ends = _END_OF_BLOCK.subn(PRIVATE_KEY, line)
        self.lines[index] = line
        for _ in range(ends):
            if self.depth:
                self.depth -= 1
            else:
                self.count += 1
                self._follow_back(index)

    def inside(self, index: int) -> None:
        """Replace key material on a line that stands between a block's begin and its end."""
        found = self._blank(index)
        self._idle = 0 if found else self._idle + 1
        if self._idle > _PATIENCE:
            self.depth = 0

    def _begin(self, begin: re.Match[str]) -> str:
        self.count += 1
        self._idle = 0
        if not _END_OF_BLOCK.search(begin[0]):
            self.depth += 1
        return PRIVATE_KEY

    def _follow_back(self, index: int) -> None:
        """Replace the lines before an end whose begin is not in the text."""
        start = index - 1
        if start > 0 and not _full_runs(self.lines[start]):
            start -= 1
        first = start
        while first >= 0 and index - first < _LONGEST and _full_runs(self.lines[first]):
            first -= 1
        for inner in range(first + 1, index):
            self._blank(inner)

    def _blank(self, index: int) -> bool:
        line = self.lines[index]
        parts: list[str] = []
        done = 0
        for run in _RUN.finditer(line):
            start, end = run.span("body")
            shape = _shape(line, start, end)
            if _is_full(run["body"]):
                self._tails[shape] = True
            elif not self._is_tail(run["body"], shape):
                continue
            parts += (line[done:start], PRIVATE_KEY)
            done = end
        if parts:
            self.lines[index] = "".join((*parts, line[done:]))
        return bool(parts)

    def _is_tail(self, run: str, shape: _Shape) -> bool:
        if run.startswith("="):
            return self._tails.pop(shape, None) is not None
        if not self._tails.get(shape):
            return False
        self._tails[shape] = False
        return len(run) >= _SURELY_NO_WORD or (len(run) % 4 == 0 and not _WORD.fullmatch(run))


def _full_runs(line: str) -> bool:
    return any(_is_full(run["body"]) for run in _RUN.finditer(line))


def _is_full(run: str) -> bool:
    return len(run) >= _FULL_WIDTH and not (run.islower() or run.isupper() or run.isdigit())


def _shape(line: str, start: int, end: int) -> _Shape:
    before = line[max(0, start - _SURROUNDINGS) : start]
    return _TIME.sub("0", before), _TIME.sub("0", line[end : end + _SURROUNDINGS])
