"""Host names and addresses: what is one, what cannot be one, what is short for what."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from bot.diagnosis.patterns import Pattern

_LABEL = Pattern(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_PLACEHOLDER = Pattern(
    r"x{1,3}(?:\.x{1,3}){1,3}|[\dx]+(?:\.[\dx]+)+|.*[<>{}$].*|master_?addr|__\w+__|none|null|nil|"
    r"undefined|todo|changeme|placeholder",
    re.IGNORECASE,
)
#: Words of which placeholders are made; with one of `_ASKS_FOR` among them it is no name.
_FILLER = frozenset("head master main node rank your my the of zero server host".split())  # noqa: SIM905
_ASKS_FOR = frozenset("ip ipaddr ipaddress addr address hostname hostip your my".split())  # noqa: SIM905
#: RFC 1035, without the root's dot
_LONGEST_NAME = 253
#: The first port that Linux hands out by itself (net.ipv4.ip_local_port_range), from which
#: torchrun takes its free port when none is given.
EPHEMERAL_PORT = 32768


@lru_cache(maxsize=4096)
def is_address(text: str) -> bool:
    """Tell whether the text is an IPv4 or IPv6 literal (brackets and a zone allowed)."""
    try:
        ipaddress.ip_address(text.strip("[]").split("%")[0])
    except ValueError:
        return False
    return True


def short(name: str) -> str:
    """Return a machine's name up to the first dot; addresses stay whole."""
    if is_address(name):
        bare = name.strip("[]")
        return bare.removeprefix("::ffff:") if bare.startswith("::ffff:") and "." in bare else bare
    return name.split(".", 1)[0]


def same_host(one: str, other: str) -> bool:
    """Tell whether two spellings can name one machine (short against full name)."""
    if is_address(one) or is_address(other):
        return short(one) == short(other)
    one, other = one.lower().rstrip("."), other.lower().rstrip(".")
    return one == other or (("." in one) != ("." in other) and short(one) == short(other))


@lru_cache(maxsize=4096)
def looks_like_host(text: str) -> bool:
    """Tell whether a bare label is likely to be a machine: an address, or a name with a digit."""
    if is_address(text):
        return True
    return any(char.isdigit() for char in text) and is_host_name(text)


def is_host_name(text: str) -> bool:
    """Tell whether the text fits the host-name grammar (RFC 1123, underscores tolerated)."""
    name = text.removesuffix(".")
    return 0 < len(name) <= _LONGEST_NAME and all(
        _LABEL.fullmatch(part) for part in name.split(".")
    )


def is_loopback(text: str) -> bool:
    """Tell whether the text is a loopback address or a name for one."""
    bare = short(text).strip("[]")
    return bare in {"localhost", "localhost4", "localhost6", "::1"} or bare.startswith("127.")


def is_malformed(name: str) -> bool:
    """Tell whether nobody can resolve this text: a placeholder, a bracketed or listed address, ….

    getaddrinfo answers EAI_NONAME to all of them, whatever the name server does.
    """
    if not name.strip() or name != name.strip() or name.startswith("["):
        return True
    if not is_address(name) and (_PLACEHOLDER.fullmatch(name) or _is_filler(name)):
        return True
    return not is_address(name) and not is_host_name(name)


def _is_filler(name: str) -> bool:
    """Tell whether a name is made of a placeholder's words alone (`HEAD_NODE_IP`)."""
    words = [word for word in re.split(r"[-_.\s]|(?<=[a-z])(?=\d)", name.lower()) if word]
    numbers = [word for word in words if word.isdigit()]
    rest = set(words) - set(numbers)
    return bool(rest & _ASKS_FOR) and rest <= _FILLER | _ASKS_FOR and len(numbers) <= 1


_SELF = Pattern(
    r"(?:ip6-)?localhost\d?(?:\..*)?|docker-desktop|host\.docker\.internal|.*\.(?:ip6|in-addr)\.arpa|[0-9a-f]{12}|[^.]+\.local|kubernetes\.docker\.internal",
    re.IGNORECASE,
)


def names_itself(name: str) -> bool:
    """Tell whether a name is one that only the machine itself uses (`localhost`, mDNS `.local`)."""
    return bool(_SELF.fullmatch(name.rstrip(".")))
