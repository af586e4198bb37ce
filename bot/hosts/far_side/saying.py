"""How the far side says what it found, and the few means that all its words share.

Part of the text that runs on the probed machine: Python 3.8, no import of ours. Modules that are
slow to load (`re`, `socket`, `threading`, `contextlib`, `typing`) are left alone, or loaded by the
word that needs them: loading them takes longer than most words run.
"""

from __future__ import annotations

import _thread
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Task = Callable[[], object]

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "SYSTEMD_PAGER": "cat",
    "SYSTEMD_COLORS": "0",
}


def as_json(value: object) -> str:
    """Return a value as JSON; a minimal Python (Debian's python3-minimal) has no json module."""
    if isinstance(value, str):
        plain = value.isascii() and value.isprintable() and '"' not in value and "\\" not in value
        return '"' + (value if plain else "".join(map(escaped, value))) + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(as_json(k) + ":" + as_json(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return as_json(str(value))


def escaped(char: str) -> str:
    """Return a character as it stands in a JSON string."""
    code = ord(char)
    if 31 < code < 127 and char not in '"\\':  # noqa: PLR2004 # printable ASCII
        return char
    if code > 0xFFFF:  # noqa: PLR2004 # a pair of surrogates
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


def written(data: bytes) -> None:
    """Write all of it to standard output."""
    while data:
        data = data[os.write(1, data) :]


class Out:
    """Where a word puts what it found, line by line, so that it survives a time-out."""

    def __init__(self, put: Callable[[bytes], None], until: float) -> None:
        self.put, self.until = put, until

    def say(self, value: object) -> None:
        """Put one JSON line, whole."""
        self.put((as_json(value) + "\n").encode())

    def left(self) -> float:
        """Return the seconds until the word is ended."""
        return max(self.until - time.monotonic(), 0)


def text_of(path: str, most: int = 65536) -> str:
    """Return the start of a file, empty where there is none to read."""
    try:
        with open(path, "rb") as file:
            return file.read(most).decode(errors="replace")
    except OSError:
        return ""


def words_after(text: str, *keys: str) -> list[str]:
    """Return the words of a resolv.conf's lines that begin with one of these keys."""
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return [word for line in lines if line and line[0] in keys for word in line[1:]]


def together(tasks: Sequence[Task], seconds: float = -1) -> bool:
    """Run functions in threads and wait for all, or so long; tell whether all have ended."""
    if not tasks:
        return True
    lock, ended, left = _thread.allocate_lock(), _thread.allocate_lock(), [len(tasks)]
    ended.acquire()

    def run(task: Task) -> None:
        try:
            task()
        finally:
            with lock:
                left[0] -= 1
                if not left[0]:
                    ended.release()

    for task in tasks:
        _thread.start_new_thread(run, (task,))
    return ended.acquire(True, seconds)  # noqa: FBT003 # the method's own form
