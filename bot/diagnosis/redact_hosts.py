"""Replace machine names and addresses by pseudonyms, for text that goes to strangers.

A name is learned where a known shape of line says that it is one (`SHAPES`), and is then replaced
wherever it stands, unless it could be an everyday word. Addresses are known by themselves.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bot.diagnosis.redact_rules import MARK, line_around, lines_with, lowered

_NAME = (
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9][A-Za-z0-9-]{0,62}){0,8})"
    r"(?![A-Za-z0-9@-])"
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A kind of line that names a machine."""

    #: One is on every such line, in lower case.
    literals: tuple[str, ...]
    #: Its group `host` is the name.
    regex: str
    #: Whether an everyday word in this place is a name, too.
    sure: bool = True

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compile the shape when it is first needed: most runs hide no host."""
        return re.compile(self.regex)


SHAPES: tuple[Shape, ...] = (
    # c10d: `addresses of (node-0, 29500)`, `remote=[node-0.internal]:29500`
    Shape(
        literals=(" of (", " to (", " on (", " from (", " for (", " at ("),
        regex=(rf" (?:of|to|on|from|for|at) \({_NAME}, ?\d{{1,5}}\)"),
    ),
    Shape(literals=("]:",), regex=(rf"\[{_NAME}\]:\d{{1,5}}")),
    # NCCL: `node-0:812:901 [3] NCCL INFO`
    Shape(
        literals=("] nccl ",),
        regex=(rf"(?<![\w.-]){_NAME}:\d{{1,10}}:\d{{1,10}} (?=\[\d{{1,4}}\] NCCL )"),
    ),
    # Slurm: `srun: error: node-3: task 5`, `STEP 6.0 ON node-0 CANCELLED`, `Job 6 on gpu-a-[0-3]`
    Shape(literals=("srun: error: ",), regex=(rf"srun: error: {_NAME}: ")),
    Shape(literals=(" cancelled",), regex=(rf" ON {_NAME} CANCELLED")),
    Shape(
        literals=(" on ",),
        regex=(r" on (?P<host>[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?)(?=-?\[\d)"),
    ),
    # torchrun's tee, syslog: `[node-8:default3]:`, `10:00:00 node-3 slurmd[81]: `
    Shape(literals=(":default",), regex=(rf"\[{_NAME}:default\d{{1,4}}\]")),
    Shape(
        literals=("]: ",),
        regex=(rf"\d\d:\d\d:\d\d[\d.,Z:+-]{{0,20}} {_NAME} [\w./-]{{1,60}}\[\d{{1,10}}\]: "),
    ),
    # settings, ChildFailedError's table: `MASTER_ADDR=node-0`, `  host      : node-3 (rank: 5)`
    Shape(
        literals=("addr", "host", "nodename", "rdzv_endpoint", "remote", "nodelist"),
        regex=(
            r"(?i:addr(?:ess)?|host_?(?:name)?|nodename|rdzv_endpoint|remote|nodelist)"
            rf"[\"'\\]{{0,4}}[ \t]{{0,12}}[:=][ \t]{{0,4}}[\"'\[]{{0,2}}{_NAME}"
        ),
    ),
    # `ana@py041:train`, `tcp://node-0:29500`
    Shape(literals=("@",), regex=(rf"(?<=[\w\]])@{_NAME}")),
    Shape(literals=("://",), regex=(rf"://(?:[^\s/@]{{1,256}}@)?{_NAME}")),
    # domains that only machines have
    Shape(
        literals=(".internal", ".localdomain", ".lan", ".corp", ".svc.cluster.local"),
        regex=(
            r"(?<![\w.@-])(?P<host>(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}"
            r"(?:internal|localdomain|lan|corp|svc\.cluster\.local))(?![\w-])"
        ),
    ),
    Shape(
        literals=(".local",),
        regex=(r"(?<![\w.@-])(?P<host>[A-Za-z0-9]{0,62}[\d-][A-Za-z0-9-]{0,62}\.local)(?![\w-])"),
    ),
    # sentences
    Shape(
        literals=("connect", "resolv", "lookup", "look up", "listening on", "getaddrinfo", "ssh "),
        regex=(
            r"(?:connect(?:ion|ed|ing)? to|resolv(?:e|ing)|lookup|look up|listening on|getaddrinfo|"
            rf"getaddrinfo for|ssh) (?:host )?[\"'\[]?{_NAME}"
        ),
        sure=False,
    ),
)

_WORD = re.compile(
    r"(?<![A-Za-z0-9.-])[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9][A-Za-z0-9-]{0,62}){0,8}"
    r"(?![A-Za-z0-9-])"
)
#: A part that every address of a kind has, fast to find, and the whole of it.
_ADDRESSES = (
    (
        re.compile(r"\.\d{1,3}\.\d{1,3}(?!\d)"),
        re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-])(?!\.\w)"),
    ),
    (
        re.compile(r":(?::|(?:[0-9A-Fa-f]{1,4}:){3})"),
        re.compile(r"(?<![\w:.-])[0-9A-Fa-f:]{2,39}(?:\.[0-9.]{5,11})?(?![\w:-])(?!\.\w)"),
    ),
)
_COLONS = 7
_SHORTEST_V6 = 5
#: A name that is no everyday word: it has a digit, a hyphen or a dot.
_DISTINCT = re.compile(r"[\d.-]")
_NOT_A_NAME = re.compile(
    r"localhost\d?(?:\.localdomain\d?)?|(?:host|addr)-\d+|[\d.-]+|(?:rank|default|node|task)\d*|"
    r"host|port|the|none|null|any|all|self|server|peer|master",
    re.IGNORECASE,
)
_PSEUDONYM = re.compile(r"(?<![A-Za-z0-9-])(host|addr)-\d{1,9}(?![A-Za-z0-9-])")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class _Place(NamedTuple):
    """Where something to hide stands, and whose it is: a short name in lower case, an address.

    A tuple, not a dataclass: a text has as many as words that are names, and they get sorted.
    """

    start: int
    end: int
    prefix: str
    owner: str


def hide_host_names(text: str) -> str:
    """Replace each machine's name by `host-N` and each address by `addr-N`, numbered as they come.

    Loopback and unspecified addresses and `localhost` stay: they say what is wrong and name nobody.
    What is called `host-N` or `addr-N` already keeps that name, and no other gets it.
    """
    pseudonyms = _Pseudonyms(text)
    marks = [mark.span() for mark in MARK.finditer(text)]
    parts: list[str] = []
    done = mark = 0
    for place in sorted({*_machines(text), *_addresses(text)}):
        while mark < len(marks) and marks[mark][1] <= place.start:
            mark += 1
        in_mark = mark < len(marks) and marks[mark][0] < place.end
        if place.start >= done and not in_mark:
            parts += (text[done : place.start], pseudonyms.of(place))
            done = place.end
    return "".join((*parts, text[done:]))


class _Pseudonyms:
    """Which pseudonym each machine and address has got, and which are still free."""

    def __init__(self, text: str) -> None:
        self._taken = {name[0] for name in _PSEUDONYM.finditer(text)}
        self._given: dict[tuple[str, str], str] = {}
        self._numbers = {"host": 0, "addr": 0}

    def of(self, place: _Place) -> str:
        key = (place.prefix, place.owner)
        if key not in self._given:
            self._given[key] = self._next(place.prefix)
        return self._given[key]

    def _next(self, prefix: str) -> str:
        while True:
            self._numbers[prefix] += 1
            pseudonym = f"{prefix}-{self._numbers[prefix]}"
            if pseudonym not in self._taken:
                return pseudonym


def _machines(text: str) -> Iterator[_Place]:
    low = lowered(text)
    distinct: set[str] = set()
    for shape in SHAPES:
        for start, end in lines_with(shape.literals, low):
            for match in shape.pattern.finditer(text, start, end):
                name = match["host"].lower()
                if _NOT_A_NAME.fullmatch(name) or _NOT_A_NAME.fullmatch(_short(name)):
                    continue
                distinct |= {known for known in (name, _short(name)) if _DISTINCT.search(known)}
                if shape.sure or name in distinct:
                    yield _Place(
                        start=match.start("host"),
                        end=match.end("host"),
                        prefix="host",
                        owner=_short(name),
                    )
    if distinct:
        yield from _again(text, distinct)


def _again(text: str, names: set[str]) -> Iterator[_Place]:
    """Find the names that were learned where no shape tells that they are names."""
    for word in _WORD.finditer(text):
        name = word[0].lower()
        short = _short(name)
        start = word.start()
        if name in names:
            yield _Place(start=start, end=word.end(), prefix="host", owner=short)
        elif short in names:
            yield _Place(start=start, end=start + len(short), prefix="host", owner=short)


def _short(name: str) -> str:
    return name.partition(".")[0]


def _addresses(text: str) -> Iterator[_Place]:
    for part, whole in _ADDRESSES:
        read = -1
        for found in part.finditer(text):
            if found.start() <= read:
                continue
            begin, read = line_around(text, found.start())
            for match in whole.finditer(text, begin, read):
                address = _parsed(match[0])
                if address is not None:
                    start, end = match.span()
                    yield _Place(start=start, end=end, prefix="addr", owner=str(address))


def _could_be_v6(text: str) -> bool:
    """Tell an address from a time (12:34:56) and from C++ (a::b)."""
    if "::" not in text:
        return text.count(":") == _COLONS
    return len(text) >= _SHORTEST_V6 and any(map(str.isdigit, text))


def _parsed(text: str) -> _Address | None:
    """Read an address that names somebody; an IPv4 address mapped into IPv6 is the IPv4 one."""
    if ":" in text and not _could_be_v6(text):
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return None if address.is_loopback or address.is_unspecified else address
