"""Run a list of probes on the machine that this text is sent to; answer one JSON line a probe.

Travels behind the parts that have its words as one text, or is so installed by root on the machine:
Python 3.8, no import of ours. Words that begin with `@` are done there; everything else is a
command. All probes run at once and end at their time-outs; output beyond a probe's bound is thrown
away. Words that only wait for names run in threads of this process, so that a pre-flight is one
process a machine; the others and all commands run each in a process and session of its own.
Nothing writes to disk or starts a service.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # without the enums of `signal`, slow to load
import _socket
import _thread
import binascii
import os
import select
import sys
import time

from bot.hosts.far_side.saying import ENVIRONMENT, Out, as_json, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Word = Callable[..., int]
    Words = Mapping[str, Word]

#: None runs what is asked. Installed for sudo, this holds the only command lines that are run:
#: each a list of regular expressions, a trailing `*` entry for any number of words.
ALLOWED: list[list[str]] | None = None
#: The name by which an installed helper tells syslog what it runs, for whom, and how it ended.
RECORD: str = ""
#: What an installed helper takes from its caller, whom it does not trust: bytes, rows, seconds.
MOST_ORDER, MOST_ROWS, MOST_SECONDS = 2**20, 64, 600
#: Seconds within which the order must come: one that was held up on the way is not acted on late.
PATIENCE = 15
SYSLOG = "/dev/log"
NOTICE, WARNING = 85, 84  # authpriv (RFC 3164)

#: A word that is answered at once, and words that only wait for others: none needs a process.
AT_ONCE = "@identity"
SHARING = (AT_ONCE, "@lookups", "@dns", "@tcp")
#: The flag of `compile` that parses and does no more; the module `ast` is slow to load.
ONLY_PARSE = 0x400
#: How often it is looked whether a child ended whose output somebody else holds open.
LOOK_SECONDS = 0.05
#: Chunks that are read from one probe before the others get their turn.
MOST_CHUNKS = 16


def allowed(argv: list[str]) -> bool:
    """Tell whether an installed helper may run this command line."""
    if ALLOWED is None:
        return True
    import re

    for row in ALLOWED:
        fixed, rest = (row[:-2], row[-1]) if row[-2:-1] == ["*"] else (row, "")
        if len(argv) < len(fixed) or (len(argv) > len(fixed) and not rest):
            continue
        pairs = list(zip(fixed, argv)) + [(rest, word) for word in argv[len(fixed) :]]  # noqa: B905
        if all(re.fullmatch(pattern, word) for pattern, word in pairs):
            return True
    return False


def record(priority: int, text: str) -> None:
    """Tell syslog, and do not wait for it: a machine whose journal hangs must be mended, too."""
    if not RECORD:
        return
    who = os.environ.get("SUDO_USER", "") or str(os.getuid())
    line = f"<{priority}>{RECORD}[{os.getpid()}]: {who} {text}"
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    try:
        sock.settimeout(0.2)
        sock.connect(SYSLOG)
        sock.send(line.encode())
    except OSError:
        pass
    finally:
        sock.close()


def done(argv: list[str], out: Out, words: Words) -> int:
    """Do what one row asks, or become the command that does; return its exit code."""
    try:
        if not allowed(argv):
            out.put(b"this helper may not run that\n")
            return 126
        if argv[0] in words:
            return words[argv[0]](out, *argv[1:])
        os.execvpe(argv[0], argv, ENVIRONMENT)  # noqa: S606
    except OSError as error:
        out.put(str(error).encode())
        return 127
    except BaseException as error:  # noqa: BLE001
        out.put(repr(error).encode())
        return 70


class Probe:
    """One row, on its way to an answer."""

    def __init__(self, row: dict[str, Any], deadline: float) -> None:
        self.row, self.began = row, time.monotonic()
        if allowed(row["argv"]):
            record(NOTICE, f"runs {row['argv']!a}")
        else:
            record(WARNING, f"is refused {ascii(row['argv'])[:200]}")
        self.until = min(deadline, self.began + row["ms"] / 1000)
        self.data, self.cut, self.lock = b"", False, _thread.allocate_lock()
        self.rc: int | None = None
        #: what becomes readable when there is something to do; None where nothing will
        self.fd: int | None = None

    def take(self, chunk: bytes) -> None:
        """Keep what was printed, up to the bound."""
        with self.lock:
            room = max(self.row["bytes"] - len(self.data), 0)
            self.cut = self.cut or len(chunk) > room
            self.data += chunk[:room]

    def over(self) -> bool:
        """Tell whether the probe has ended or run out of time; say its answer then."""
        if not self.ended() and time.monotonic() < self.until:
            return False
        self.end()
        ms = int((time.monotonic() - self.began) * 1000)
        answer = {"name": self.row["name"], "rc": self.rc, "ms": ms}
        with self.lock:
            answer["output"] = binascii.b2a_base64(self.data, newline=False).decode()
            if self.cut:
                answer["cut"] = True
        written(as_json(answer).encode() + b"\n")
        record(NOTICE, f"ran {ascii(self.row['argv'])[:200]} with result {self.rc}")
        return True

    def ended(self) -> bool:
        """Tell whether it has ended by itself."""
        return self.rc is not None

    def end(self) -> None:
        """Leave nothing behind."""


class InThread(Probe):
    """A word that shares this process; one that hangs is left to the end of the process."""

    def start(self, words: Words, wake: int) -> None:
        """Run the word, in a thread if it takes time; at its end a bell is rung."""

        def run() -> None:
            self.rc = done(self.row["argv"], Out(self.take, self.until), words)
            os.write(wake, b"!")

        if self.row["argv"][0] == AT_ONCE:
            run()
        else:
            _thread.start_new_thread(run, ())


class InProcess(Probe):
    """A command, or a word that looks at much, in a process and session of its own."""

    #: none before the start
    pid = 0

    def start(self, words: Words) -> None:
        """Fork."""
        self.fd, write = os.pipe()
        os.set_blocking(self.fd, False)
        self.pid = os.fork()
        if self.pid == 0:
            self.become(words, write)
        os.close(write)

    def become(self, words: Words, write: int) -> None:
        """Turn this process into the probe; never return."""
        code = 70
        try:
            os.setsid()
            # Holds beyond exec and if the parent dies: nothing of ours is left behind.
            left = max(self.until - time.monotonic(), 0.01) + 1
            _signal.setitimer(_signal.ITIMER_REAL, left)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(write, 1)
            os.dup2(write, 2)
            code = done(self.row["argv"], Out(written, self.until), words)
        finally:
            os._exit(code)

    def read(self) -> None:
        """Take what has been printed so far."""
        for _ in range(MOST_CHUNKS):
            if self.fd is None:
                return
            try:
                chunk = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            if chunk:
                self.take(chunk)
            else:
                self.close()

    def close(self) -> None:
        """Stop listening."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def ended(self) -> bool:
        """Tell whether the process has ended, whoever still holds its output open."""
        self.read()
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.read()
            self.rc = -(status & 127) if status & 127 else status >> 8
        return bool(pid)

    def end(self) -> None:
        """End it, and whatever it started and left behind."""
        self.close()
        if not self.pid:
            return
        try:
            os.killpg(self.pid, _signal.SIGKILL)
        except OSError:
            pass


def run(rows: Iterable[dict[str, Any]], deadline: float, words: Words) -> bool:
    """Run rows at once until all have answered; tell whether all went well."""
    bell, wake = os.pipe()
    os.set_blocking(bell, False)
    threads = [InThread(row, deadline) for row in rows if row["argv"][0] in SHARING]
    children = [InProcess(row, deadline) for row in rows if row["argv"][0] not in SHARING]
    try:
        # First, for a fork copies the locks of threads as they are.
        for child in children:
            child.start(words)
        for thread in threads:
            thread.start(words, wake)
        left: list[Probe] = [*threads, *children]
        while left:
            wait(left, bell)
            left = [probe for probe in left if not probe.over()]
    finally:
        for probe in [*threads, *children]:
            if probe.rc is None:
                probe.end()
    return all(probe.rc == 0 for probe in [*threads, *children])


def wait(left: list[Probe], bell: int) -> None:
    """Wait until a probe has something, or its time is over; leave when nobody listens."""
    seconds = min(probe.until for probe in left) - time.monotonic()
    if any(isinstance(probe, InProcess) for probe in left):
        closed = any(isinstance(probe, InProcess) and probe.fd is None for probe in left)
        seconds = min(seconds, LOOK_SECONDS / 10 if closed else LOOK_SECONDS)
    poll = select.poll()
    # Asked for nothing, it still tells that the reader is gone: the connection was killed.
    poll.register(1, 0)
    for fd in [bell, *(probe.fd for probe in left if probe.fd is not None)]:
        poll.register(fd, select.POLLIN)
    ready = poll.poll(max(seconds, 0) * 1000 + 1)
    if any(fd == 1 for fd, _ in ready):
        raise SystemExit(1)
    if any(fd == bell for fd, _ in ready):
        os.read(bell, 64)


def literal(node: Any) -> Any:  # noqa: ANN401 # a tree of the parser becomes any literal
    """Return the value of a parsed literal: lists and mappings of words and numbers, no more."""
    kind = type(node).__name__
    if kind == "Constant":
        return node.value
    if kind == "List":
        return [literal(one) for one in node.elts]
    if kind == "Dict":
        return {literal(k): literal(v) for k, v in zip(node.keys, node.values)}  # noqa: B905
    raise ValueError("no order: " + kind)


def taken() -> dict[str, Any]:
    """Read the order; an installed helper exits where it is larger than any of ours."""
    _signal.alarm(PATIENCE)
    data = sys.stdin.buffer.read(MOST_ORDER + 1 if ALLOWED else -1)
    _signal.alarm(0)
    if ALLOWED and len(data) > MOST_ORDER:
        sys.exit("this order is too long")
    if not data:
        sys.exit("no order came")
    tree = compile(data.decode(), "order", "eval", ONLY_PARSE)
    order: dict[str, Any] = literal(tree.body)
    if ALLOWED and len(order["probes"]) > MOST_ROWS:
        sys.exit("this order has too many rows")
    return order


def main(words: Words) -> None:
    """Read the order, run gates one after another and the rest only if all of them hold."""
    written(b"@helper\n")
    # Only now is the order sent where it changes anything: nobody acts on one that was given up.
    order = taken()
    deadline = time.monotonic() + min(order["within_ms"] / 1000, MOST_SECONDS)
    code = 0
    try:
        gates = [row for row in order["probes"] if row.get("gate")]
        if all(run([row], deadline, words) for row in gates):
            run([row for row in order["probes"] if not row.get("gate")], deadline, words)
    except OSError:
        # Nobody reads any more.
        code = 1
    # A thread that hangs in a look-up keeps nobody waiting.
    os._exit(code)
