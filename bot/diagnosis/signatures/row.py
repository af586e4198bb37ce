"""One row of the signature table, and the parts that messages share."""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.diagnosis.kinds import Kind
from bot.diagnosis.patterns import Pattern


class Signature(NamedTuple):
    """One message, what it means and what it does not mean."""

    kind: Kind
    #: fixed parts of the message; one of them in a line makes the line worth reading
    literals: tuple[str, ...]
    #: reads the message; the named groups become the observation's fields
    pattern: Pattern
    #: versions that print it
    since: str
    #: what a match says
    means: str
    #: what it is often taken for and does not say
    not_means: str = ""
    #: a line that must match
    example: str = ""


TARGET = r"\((?P<host>[^()]*?|\[[^\]]*\]), ?(?P<port>\d+)\)"
ERRNO = r"\((?:errno|system error): (?P<errno>-?\d+) - (?P<text>.*?)\)?(?:\.|$)"
SOCKETIMPL = (
    r"SocketImpl\(fd=\d+, addr=\[?(?P<local>[^\],]*?)\]?:(?P<local_port>\d+), "
    r"remote=\[?(?P<remote>[^\],]*?)\]?:(?P<port>\d+)\)"
)


def sig(
    kind: Kind,
    literals: tuple[str, ...],
    pattern: str,
    since: str,
    means: str,
    **more: str,
) -> Signature:
    """Return a row, its pattern matching across line ends as wrapped messages need."""
    return Signature(
        kind=kind,
        literals=literals,
        pattern=Pattern(pattern, re.DOTALL),
        since=since,
        means=means,
        **more,
    )
