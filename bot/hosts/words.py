"""Words that may become part of a command: each is checked when it is made."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Self

from bot.diagnosis.names import is_address, is_host_name
from bot.hosts.errors import UnsafeWordError

_SHOWN = 60
_PROOF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_LAST_PORT = 65535


def _refuse(what: str, text: object) -> UnsafeWordError:
    shown = ascii(text)[:_SHOWN]
    return UnsafeWordError(f"{shown} is no {what}, so it was not sent to any machine.")


class HostName(str):
    """A name that fits the host-name grammar (RFC 1123, underscores tolerated)."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check the text; raises UnsafeWordError."""
        if not is_host_name(text) or is_address(text) or not text.isascii():
            raise _refuse("host name", text)
        return super().__new__(cls, text)


class Address(str):
    """An IPv4 or IPv6 address without a zone."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check the text and write it in its usual form; raises UnsafeWordError."""
        if "%" in text:
            raise _refuse("address without a zone", text)
        try:
            return super().__new__(cls, str(ipaddress.ip_address(text)))
        except ValueError:
            raise _refuse("address", text) from None


class Port(int):
    """A TCP port."""

    def __new__(cls, number: int) -> Self:
        """Check the number; raises UnsafeWordError."""
        if not 0 < number <= _LAST_PORT:
            raise _refuse("port", number)
        return super().__new__(cls, number)


class Proof(str):
    """What a machine should say of itself: a UUID, a machine id or a host name."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Check the text; raises UnsafeWordError."""
        if not _PROOF.fullmatch(text):
            raise _refuse("machine's identity", text)
        return super().__new__(cls, text)


def sift(names: Iterable[str]) -> tuple[tuple[HostName, ...], tuple[str, ...]]:
    """Return which of these names may be asked for, and which were refused, each once."""
    kept: dict[HostName, None] = {}
    refused: dict[str, None] = {}
    for name in names:
        try:
            kept[HostName(name)] = None
        except UnsafeWordError:
            refused[name] = None
    return tuple(kept), tuple(refused)
