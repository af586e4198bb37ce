"""The wire form of a probe run: one command, its input, its answer.

The command is a fixed Python one-liner, or a helper that root installed, which reads the order
alone. The one-liner's input is the length of the helper's text in bytes, a
line feed, that text, and the order as JSON: `within_ms` for everything and `probes`, a list of
`name`, `argv`, `ms`, `bytes` and `gate`. The answer is `@shell` when the login shell runs,
`@helper` when the helper runs, and then one JSON line a probe: `name`, `rc` (null: out of time),
`ms`, `output` (base64), and `cut` where output was thrown away. Other lines (a login shell that
talks) are passed over.

Gates are run one after another, in their order; where one fails, nothing more is. An order that
changes anything is sent only once `@helper` was seen: what was given up before is never acted on.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib import resources

from bot.hosts.model import ProbeResult, Row
from bot.hosts.quoting import quoted

#: Far-side time for all probes; with a login, a machine takes at most ten seconds.
WITHIN = timedelta(seconds=6)
SHELL, HELPER = "@shell", "@helper"

_BOOT = (
    "import sys; r = sys.stdin.buffer; exec(compile(r.read(int(r.readline())), 'probes', 'exec'))"
)
PYTHON = ("python3", "-I", "-S", "-c", _BOOT)

#: Where the far side's words are, each a function of its name without the `@`.
WORDS: Mapping[str, str] = {
    "@identity": "identity",
    "@lookups": "names",
    "@dns": "names",
    "@tcp": "names",
    "@file": "machine",
    "@process": "machine",
    "@processes": "machine",
    "@resolvectl": "machine",
    "@disk": "machine",
    "@containers": "inside",
}
_RUNNER = "runner"
#: What the parts import of each other and of the future, once they are one text.
_OWN_IMPORT = re.compile(
    r"(?m)^from (?:__future__|bot\.hosts\.far_side\.(\w+)) import (?:\([^)]*\)|[^\n(]*)\n"
)

#: Bytes of an answer line beside its output, and of all lines that are none.
_SLACK = 1024
_NOISE = 65536


@cache
def helper(words: frozenset[str] = frozenset(WORDS)) -> bytes:
    """Return the far side with these words as one program; fewer words are sooner compiled."""
    parts: dict[str, str] = {}
    for word in sorted(words):
        _gather(WORDS[word], parts)
    _gather(_RUNNER, parts)
    table = "".join(f"{word!r}: {word[1:]}, " for word in sorted(words))
    text = "\n".join(_OWN_IMPORT.sub("", part) for part in parts.values())
    return f"from __future__ import annotations\n{text}\nmain({{{table}}})\n".encode()


def gathered(name: str) -> bytes:
    """Return a part of the far side, with all that it imports, as one text."""
    parts: dict[str, str] = {}
    _gather(name, parts)
    text = "\n".join(_OWN_IMPORT.sub("", part) for part in parts.values())
    return f"from __future__ import annotations\n{text}".encode()


def _gather(name: str, parts: dict[str, str]) -> None:
    """Add a part's text behind those that it imports from."""
    if name in parts:
        return
    path = resources.files("bot.hosts.far_side").joinpath(f"{name}.py")
    text = path.read_text(encoding="utf-8")
    for found in _OWN_IMPORT.finditer(text):
        if found[1]:
            _gather(found[1], parts)
    parts[name] = text


def command(*, sudo: bool = False, installed: str = "") -> str:
    """Return the command line: the helper that comes along, or the one installed at a path.

    With sudo it is asked once, without a password.
    """
    argv = (*(("sudo", "-n", "--") if sudo else ()), *((installed,) if installed else PYTHON))
    return f"echo {SHELL}; exec {quoted(argv)}"


def order(rows: Sequence[Row], within: timedelta = WITHIN) -> bytes:
    """Return the probe list as JSON in a form that is a Python literal, too.

    A minimal Python has no json module: so no true, false, null or escaped surrogates.
    """
    probes = [
        {
            "name": row.name,
            "argv": list(row.argv),
            "ms": _ms(row.timeout),
            "bytes": row.most_bytes,
            "gate": int(row.gate),
        }
        for row in rows
    ]
    value = {"within_ms": _ms(within), "probes": probes}
    return json.dumps(value, ensure_ascii=False).encode()


def standard_input(
    rows: Sequence[Row], within: timedelta = WITHIN, *, installed: bool = False
) -> bytes:
    """Return all that the command reads."""
    return preface(rows, installed=installed) + order(rows, within)


def preface(rows: Sequence[Row], *, installed: bool = False) -> bytes:
    """Return what the command reads before the order; an installed helper needs no text."""
    if installed:
        return b""
    text = helper(frozenset(row.argv[0] for row in rows if row.argv[0] in WORDS))
    return b"%d\n%b" % (len(text), text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A probe list, read back on the far side."""

    within: timedelta
    rows: tuple[Row, ...]


def read_order(data: bytes) -> Order:
    """Read what a command's input ends with; raises ValueError where it is no such thing."""
    length, _, rest = (b"0", b"", data) if data[:1] == b"{" else data.partition(b"\n")
    value = json.loads(rest[int(length) :])
    return Order(
        within=timedelta(milliseconds=value["within_ms"]),
        rows=tuple(
            Row(
                name=row["name"],
                argv=tuple(row["argv"]),
                timeout=timedelta(milliseconds=row["ms"]),
                most_bytes=row["bytes"],
                gate=bool(row.get("gate")),
            )
            for row in value["probes"]
        ),
    )


def line(result: ProbeResult) -> bytes:
    """Return an answer as the helper writes it."""
    value: dict[str, object] = {
        "name": result.name,
        "rc": result.rc,
        "ms": _ms(result.duration),
        "output": base64.b64encode(result.output).decode(),
    }
    if result.cut:
        value["cut"] = True
    return json.dumps(value).encode() + b"\n"


class Answers:
    """Reads answers as they come in, in bounded memory, and believes nothing that was not asked."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows: Mapping[str, Row] = {row.name: row for row in rows}
        self._buffer = b""
        self._room = sum(_longest(row) for row in rows) + _NOISE
        self._longest_line = max((_longest(row) for row in rows), default=_SLACK)
        #: by name; the first answer to each row counts
        self.results: dict[str, ProbeResult] = {}
        #: marks that were seen
        self.marks: set[str] = set()
        #: more came than the rows allow; the rest is not read
        self.flooded = False

    @property
    def complete(self) -> bool:
        """Tell whether nothing more can come: all answered, or a gate did not hold."""
        if self.flooded:
            return True
        gates = [self.results.get(row.name) for row in self._rows.values() if row.gate]
        if any(gate is not None and gate.rc != 0 for gate in gates):
            return True
        return len(self.results) == len(self._rows)

    def feed(self, data: bytes) -> None:
        """Take what came."""
        self._room -= len(data)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for one in lines:
            self._take(one)
        if self._room < 0 or len(self._buffer) > self._longest_line:
            self.flooded = True
            self._buffer = b""

    def _take(self, one: bytes) -> None:
        if one.strip() in {SHELL.encode(), HELPER.encode()}:
            self.marks.add(one.strip().decode())
            return
        result = _result(one) if one.startswith(b"{") else None
        row = self._rows.get(result.name) if result else None
        if result is None or row is None or result.name in self.results:
            return
        if len(result.output) <= row.most_bytes:
            self.results[result.name] = result


def _longest(row: Row) -> int:
    return row.most_bytes * 4 // 3 + _SLACK


def _result(one: bytes) -> ProbeResult | None:
    try:
        value = json.loads(one)
        rc, ms = value["rc"], value["ms"]
        if not (rc is None or type(rc) is int) or type(ms) is not int:
            return None
        return ProbeResult(
            name=str(value["name"]),
            rc=rc,
            duration=timedelta(milliseconds=ms),
            output=base64.b64decode(value["output"], validate=True),
            cut=value.get("cut") is True,
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _ms(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
