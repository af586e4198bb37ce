"""What the probes' answers say, as values; each parser takes whatever a machine sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.hosts.model import ProbeResult

#: Lines of one answer that are looked at; more is a machine gone mad.
_MOST_LINES = 2000
#: Both names of four thousand machines.
_MOST_LOOKUPS = 8192
STUBS = frozenset({"127.0.0.53", "127.0.0.54"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """systemd-resolved as systemd sees it (`systemctl show`)."""

    #: `active`, `failed`, `inactive`, `activating`, …; empty where systemd did not say
    active: str = ""
    #: `running`, `dead`, `auto-restart`, …
    sub: str = ""
    #: `success`, `signal`, `watchdog`, `start-limit-hit`, …
    result: str = ""
    restarts: int = 0
    exit_status: int = 0
    main_pid: int = 0

    @property
    def runs(self) -> bool:
        """Tell whether systemd holds the service for running."""
        return self.active in {"active", "reloading"} and self.main_pid > 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvConf:
    """A resolv.conf."""

    #: what the link points to; None for a plain file
    target: str | None = None
    exists: bool = True
    servers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()

    @property
    def asks_stub(self) -> bool:
        """Tell whether it leads to systemd-resolved's stub."""
        return bool(STUBS.intersection(self.servers))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup:
    """What getaddrinfo said of one name."""

    name: str
    #: 0 for success, EAI_… of Linux otherwise (-3 EAI_AGAIN, -2 EAI_NONAME)
    code: int
    addresses: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether the name has an address."""
        return self.code == 0 and bool(self.addresses)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookups:
    """All look-ups of one machine."""

    by_name: Mapping[str, Lookup]
    #: left out once the first ones had all failed, or when there was no time left to ask
    not_asked: frozenset[str] = frozenset()
    #: the probe ran out of time, so what is not in it got no answer
    timed_out: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DnsAnswer:
    """What one name server said of one name, asked directly."""

    server: str
    name: str
    #: NOERROR, NXDOMAIN, SERVFAIL, REFUSED, …, or timeout, refused, unreachable
    answer: str
    #: answers in it; NOERROR with none is EAI_NODATA
    records: int = 0

    @property
    def reached(self) -> bool:
        """Tell whether the server is there, whatever it said."""
        return self.answer not in {"timeout", "refused", "unreachable"}

    @property
    def denies(self) -> bool:
        """Tell whether the server says that the name has no such record."""
        return self.answer == "NXDOMAIN" or (self.answer == "NOERROR" and self.records == 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Connect:
    """What became of a TCP connection to the rendezvous."""

    address: str
    port: int
    #: connected, refused, timeout, or unreachable with a reason
    outcome: str

    @property
    def reaches(self) -> bool:
        """Tell whether packets come back; refused means that nobody listens."""
        return self.outcome in {"connected", "refused"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """One process, without its arguments."""

    pid: int
    name: str = ""
    user: str = ""
    #: R, S, D, T, Z, … (proc(5)); empty where it was not asked
    state: str = ""
    #: it belongs to a step of the scheduler
    step: bool = False
    #: it has another root directory, as in a container
    inside: bool = False
    #: its environment has RANK
    rank: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """The resolver setting of one container, and what it gave there."""

    pid: int
    #: a rank runs in it; another container's names are no concern of the job
    rank: bool = False
    servers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    #: name → exit code of `getent ahosts` inside; 0 found it
    lookups: Mapping[str, int]
    #: what its name servers said, asked from the machine
    answers: tuple[DnsAnswer, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line of the resolver's journal."""

    at: datetime
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """How full a local file system is."""

    mount: str
    kind: str
    size_bytes: int
    free_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """One line of mountinfo."""

    mount: str
    kind: str
    source: str


def text(result: ProbeResult) -> str:
    """Return the answer as it is, for a person to read."""
    return result.text.strip()


def unit(result: ProbeResult) -> Unit:
    """Read `systemctl show`."""
    pairs = dict(line.partition("=")[::2] for line in result.text.splitlines()[:_MOST_LINES])
    return Unit(
        active=pairs.get("ActiveState", ""),
        sub=pairs.get("SubState", ""),
        result=pairs.get("Result", ""),
        restarts=_number(pairs.get("NRestarts")),
        exit_status=_number(pairs.get("ExecMainStatus")),
        main_pid=_number(pairs.get("MainPID")),
    )


def resolv_conf(result: ProbeResult) -> ResolvConf:
    """Read a resolv.conf as `@file` gives it."""
    value = next(_objects(result), {})
    content, target = value.get("text"), value.get("target")
    lines = [line.split("#")[0].split(";")[0].split() for line in _word(content).splitlines()]
    last_search = [line[1:] for line in lines if line and line[0] in {"search", "domain"}][-1:]
    return ResolvConf(
        target=target if isinstance(target, str) else None,
        exists=isinstance(content, str),
        servers=tuple(line[1] for line in lines if len(line) > 1 and line[0] == "nameserver"),
        search=tuple(_domain(word) for words in last_search for word in words if word != "."),
    )


def hosts_order(result: ProbeResult) -> tuple[str, ...]:
    """Return the `hosts:` line of nsswitch.conf in words."""
    content = _word(next(_objects(result), {}).get("text"))
    found = re.search(r"(?m)^\s*hosts:(.*)$", content)
    return tuple(found[1].split("#")[0].split()) if found else ()


def file_text(result: ProbeResult) -> str:
    """Return a file's text as `@file` gives it."""
    return _word(next(_objects(result), {}).get("text")).strip()


def lookups(result: ProbeResult) -> Lookups:
    """Read `@lookups`; a name that is in neither part got no answer in time."""
    found: dict[str, Lookup] = {}
    skipped = set()
    for one in _objects(result, most=_MOST_LOOKUPS):
        name = _word(one.get("name"))
        if one.get("skipped"):
            skipped.add(name)
        else:
            code, addresses = _number(one.get("code")), _words(one.get("addresses"))
            found[name] = Lookup(name=name, code=code, addresses=addresses)
    return Lookups(by_name=found, not_asked=frozenset(skipped), timed_out=result.timed_out)


def dns(result: ProbeResult) -> tuple[DnsAnswer, ...]:
    """Read `@dns`."""
    return tuple(_dns(one) for one in _objects(result))


def connect(result: ProbeResult) -> Connect | None:
    """Read `@tcp`; a probe that ran out of time is a connection that did."""
    one = next(_objects(result), None)
    if one is None:
        return Connect(address="", port=0, outcome="timeout") if result.timed_out else None
    return Connect(
        address=_word(one.get("address")),
        port=_number(one.get("port")),
        outcome=_word(one.get("outcome")),
    )


def processes(result: ProbeResult) -> tuple[Process, ...]:
    """Read `@process` and `@processes`."""
    return tuple(
        Process(
            pid=_number(one.get("pid")),
            name=_word(one.get("name")),
            user=_word(one.get("user")),
            state=_word(one.get("state")),
            step=one.get("step") is True,
            inside=one.get("inside") is True,
            rank=one.get("rank") is True,
        )
        for one in _objects(result)
    )


def started_ticks(result: ProbeResult) -> int:
    """Read when a process began from its stat, in clock ticks (proc(5), field 22); 0 if unread."""
    fields = file_text(result).rpartition(")")[2].split()
    return _number(fields[19]) if len(fields) > 19 and fields[19].isdigit() else 0  # noqa: PLR2004


def containers(result: ProbeResult) -> tuple[Container, ...]:
    """Read `@containers`."""

    def one(value: Mapping[str, object]) -> Container:
        names, answers = value.get("lookups"), value.get("answers")
        return Container(
            pid=_number(value.get("pid")),
            rank=value.get("rank") is True,
            servers=_words(value.get("servers")),
            search=tuple(_domain(word) for word in _words(value.get("search"))),
            lookups={k: _number(v) for k, v in names.items()} if isinstance(names, dict) else {},
            answers=tuple(
                _dns(answer)
                for answer in (answers if isinstance(answers, list) else ())
                if isinstance(answer, dict)
            ),
        )

    return tuple(one(value) for value in _objects(result))


def journal(result: ProbeResult) -> tuple[Event, ...]:
    """Read `journalctl -o short-unix`; lines without a time are left out."""
    found = re.findall(r"(?m)^(\d{9,11})\.\d+ (.*)$", result.text)
    return tuple(
        Event(at=datetime.fromtimestamp(int(seconds), UTC), text=line)
        for seconds, line in found[:_MOST_LINES]
    )


def disk(result: ProbeResult) -> tuple[FileSystem, ...]:
    """Read `@disk`."""
    return tuple(
        FileSystem(
            mount=_word(one.get("mount")),
            kind=_word(one.get("kind")),
            size_bytes=_number(one.get("size_bytes")),
            free_bytes=_number(one.get("free_bytes")),
        )
        for one in _objects(result)
    )


def mounts(result: ProbeResult) -> tuple[Mount, ...]:
    """Read mountinfo (proc(5)) as `@file` gives it."""
    found = []
    for line in file_text(result).splitlines()[:_MOST_LINES]:
        left, _, right = line.partition(" - ")
        here, there = left.split(), right.split()
        if len(here) > 4 and len(there) > 1:  # noqa: PLR2004 # fields of proc(5)
            found.append(Mount(mount=here[4], kind=there[0], source=there[1]))
    return tuple(found)


def uptime(result: ProbeResult) -> timedelta | None:
    """Read /proc/uptime."""
    found = re.match(r"\d{1,12}", file_text(result))
    return timedelta(seconds=int(found[0])) if found else None


def identity(result: ProbeResult) -> str:
    """Return who the machine says that it is."""
    return _word(next(_objects(result), {}).get("found"))


def _objects(result: ProbeResult, most: int = _MOST_LINES) -> Iterator[Mapping[str, object]]:
    for line in result.text.splitlines()[:most]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _dns(one: Mapping[str, object]) -> DnsAnswer:
    return DnsAnswer(
        server=_word(one.get("server")),
        name=_word(one.get("name")),
        answer=_word(one.get("answer")),
        records=_number(one.get("records")),
    )


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


_NUMBER = re.compile(r"-?\d{1,18}")


def _number(value: object) -> int:
    return int(str(value)) if _NUMBER.fullmatch(str(value)) else 0


def _domain(word: str) -> str:
    return word.strip(".").lower()
