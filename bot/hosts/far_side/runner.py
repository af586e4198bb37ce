"""Run a list of probes on the machine that this text is sent to; answer one JSON line a probe.

Travels behind `looks.py` and `inside.py` as one text, or is so installed by root on the machine:
Python 3.8, standard library. Words that begin with `@` are done there; everything else is a
command. All probes run at once, each in its own process and session, killed at its time-out; output
beyond a probe's bound is thrown away. Nothing writes to disk or starts a service.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import os
import re
import select
import signal
import socket
import sys
import time
from typing import Callable, cast  # noqa: UP035 # for Python 3.8

from bot.hosts.far_side.inside import WORDS
from bot.hosts.far_side.looks import ENVIRONMENT, say

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


def allowed(argv: list[str]) -> bool:
    """Tell whether an installed helper may run this command line."""
    if ALLOWED is None:
        return True
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
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.2)
        sock.connect(SYSLOG)
        sock.send(line.encode())


class Child:
    """One probe, running."""

    def __init__(self, row: dict, deadline: float) -> None:  # type: ignore[type-arg]
        self.row, self.began, self.data, self.cut = row, time.monotonic(), b"", False
        if allowed(row["argv"]):
            record(NOTICE, f"runs {row['argv']!a}")
        else:
            record(WARNING, f"is refused {ascii(row['argv'])[:200]}")
        self.until = min(deadline, self.began + row["ms"] / 1000)
        self.fd, write = os.pipe()
        os.set_blocking(self.fd, False)
        self.pid = os.fork()
        if self.pid == 0:
            self.become(write)
        os.close(write)

    def become(self, write: int) -> None:
        """Turn this process into the probe; never return."""
        code = 127
        try:
            os.setsid()
            # Holds beyond exec and if the parent dies: nothing of ours is left behind.
            signal.setitimer(signal.ITIMER_REAL, max(self.until - time.monotonic(), 0.01) + 1)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(write, 1)
            os.dup2(write, 2)
            argv = self.row["argv"]
            if not allowed(argv):
                os.write(2, b"this helper may not run that\n")
                code = 126
            elif argv[0] in WORDS:
                code = cast("Callable[..., int]", WORDS[argv[0]])(*argv[1:])
            else:
                os.execvpe(argv[0], argv, ENVIRONMENT)  # noqa: S606
        except OSError as error:
            os.write(2, str(error).encode())
        except BaseException as error:  # noqa: BLE001
            os.write(2, repr(error).encode())
            code = 70
        finally:
            os._exit(code)

    def read(self) -> None:
        """Take what has been printed, up to the bound."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.fd, 65536):
                room = self.row["bytes"] - len(self.data)
                self.cut = self.cut or len(chunk) > room
                self.data += chunk[: max(room, 0)]
                if time.monotonic() > self.until:
                    return

    def over(self) -> bool:
        """Tell whether the probe has ended or run out of time; say its answer then."""
        self.read()
        done, status = os.waitpid(self.pid, os.WNOHANG)
        late = time.monotonic() >= self.until
        if not done and not late:
            return False
        rc = None
        if done:
            self.read()
            rc = -(status & 127) if status & 127 else status >> 8
        # Whatever it started and left behind goes, too.
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self.fd)
        ms = int((time.monotonic() - self.began) * 1000)
        answer = {"name": self.row["name"], "rc": rc, "ms": ms}
        answer["output"] = base64.b64encode(self.data).decode()
        if self.cut:
            answer["cut"] = True
        say(answer)
        record(NOTICE, f"ran {ascii(self.row['argv'])[:200]} with result {rc}")
        self.rc = rc
        return True


def run(rows: list[dict], deadline: float) -> bool:  # type: ignore[type-arg]
    """Run rows at once until all have answered; tell whether all went well."""
    children = [Child(row, deadline) for row in rows]
    left = list(children)
    try:
        while left:
            select.select([child.fd for child in left], [], [], 0.01)
            left = [child for child in left if not child.over()]
            time.sleep(0.005)
    finally:
        for child in left:
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
    return all(child.rc == 0 for child in children)


def taken() -> dict:  # type: ignore[type-arg]
    """Read the order; an installed helper exits where it is larger than any of ours."""
    signal.alarm(PATIENCE)
    data = sys.stdin.buffer.read(MOST_ORDER + 1 if ALLOWED else -1)
    signal.alarm(0)
    if ALLOWED and len(data) > MOST_ORDER:
        sys.exit("this order is too long")
    if not data:
        sys.exit("no order came")
    order: dict = ast.literal_eval(data.decode())  # type: ignore[type-arg]
    if ALLOWED and len(order["probes"]) > MOST_ROWS:
        sys.exit("this order has too many rows")
    return order


def main() -> None:
    """Read the order, run gates one after another and the rest only if all of them hold."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        # A killed connection takes the helper with it.
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
    sys.stdout.write("@helper\n")
    sys.stdout.flush()
    # Only now is the order sent where it changes anything: nobody acts on one that was given up.
    order = taken()
    deadline = time.monotonic() + min(order["within_ms"] / 1000, MOST_SECONDS)
    gates = [row for row in order["probes"] if row.get("gate")]
    if all(run([row], deadline) for row in gates):
        run([row for row in order["probes"] if not row.get("gate")], deadline)


if __name__ == "__main__":
    main()
