"""Prove that what a log says becomes a word of a command only as a checked host name."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.diagnosis import diagnose_bytes
from bot.diagnosis.signatures import SIGNATURES
from bot.hosts import grants, probes, wire
from bot.hosts.errors import UnsafeWordError
from bot.hosts.model import Slot
from bot.hosts.words import HostName, Proof, sift

HOSTILE = [
    "$(reboot)",
    "node-0$(reboot)",
    "-oProxyCommand=touch${IFS}/x",
    "--help",
    "a;b",
    "a|b",
    "a&b",
    "a>b",
    "`id`",
    "node-0'",
    'node-0"',
    "\\node-0",
    "../../etc/passwd",
    "@file",
    "node-0\x00",
    "node-0\x1b[31m",
    "n" * 300,
    "a." * 130 + "a",
    "n" * 64,
    "nоde-0",  # noqa: RUF001 # the o is Cyrillic
    "node‐0",  # noqa: RUF001 # the hyphen is U+2010
    "ｎｏｄｅ-0",  # noqa: RUF001 # full-width letters
    "node-０",  # noqa: RUF001 # a full-width digit
    "node\u200b-0",
    "\u202e0-edon",
    "node-0\u2024internal",
    "No\u212ae-0",
]
_HOST = re.compile(rb"node-\d+(?:\.[a-z][a-z.]*)?|\b10(?:\.\d{1,3}){3}\b|\blocalhost\b")
#: Lines that name a host, each with a place for it.
LINES = [
    b"[W1129 socket.cpp:767] [c10d] The IPv6 network addresses of (@, 29500) cannot be retrieved.",
    b"socket.gaierror: [Errno -3] Temporary failure in name resolution: @",
    b"[E1129 socket.cpp:1023] [c10d] The client socket has failed to connect to [@]:29500.",
    b"srun: error: @: task 3: Exited with exit code 1",
    b"@: RuntimeError: DNS resolution failed for @: Temporary failure in name resolution",
    b"MASTER_ADDR=@",
    *(
        _HOST.sub(b"@", line.encode())
        for line in sorted({row.example for row in SIGNATURES})
        if _HOST.search(line.encode())
    ),
]
#: Words of the table itself.
FIXED = {part for probe in probes.PROBES for part in probe.argv if not isinstance(part, Slot)} | {
    "host_name",
    "node-1",
}
texts = st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=300)


def _said(text: str) -> list[str]:
    """Return every host that the diagnosis of such a log names."""
    log = b"\n".join(line.replace(b"@", text.encode(errors="replace")) for line in LINES)
    found = diagnose_bytes(log)
    hosts = [*(one.host for one in found.peers), *(one.host for one in found.affected)]
    return [host for host in hosts if host]


def test_an_honest_name_gets_through() -> None:
    """The other tests would pass on a diagnosis that names nobody."""
    kept, _ = sift(_said("node-7.a.internal"))

    assert "node-7.a.internal" in kept


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda text: ascii(text)[:30])
def test_no_hostile_word_of_a_log_is_sent(hostile: str) -> None:
    """Shell, options, paths, lengths and look-alikes are refused, and the refusal names them."""
    kept, refused = sift([*_said(hostile), hostile])

    assert hostile in refused
    assert hostile not in kept
    _check(kept)


@given(text=texts)
def test_no_word_of_a_log_is_sent_unchecked(text: str) -> None:
    """Whatever stands where a host should, only plain names are asked for, and only as data."""
    _check(sift(_said(text))[0])


def _check(kept: tuple[HostName, ...]) -> None:
    rows = probes.rows(probes.Question(names=kept), "host_name", Proof("node-1"))

    assert {word for row in rows for word in row.argv} <= FIXED | set(kept)
    for name in kept:
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,253}", name)
        assert shlex.quote(name) == name
    assert wire.read_order(wire.order(rows)).rows == rows


@given(text=texts | st.from_regex(r"[A-Za-z0-9_.-]{1,260}", fullmatch=True))
@example("a" * 63 + ".")
@example("node-0\n")
def test_the_helper_refuses_what_we_refuse(text: str) -> None:
    """Both sides of the wire hold the same grammar; an address is no name to us."""
    granted = re.fullmatch(grants._NAME, text) is not None
    try:
        HostName(text)
    except UnsafeWordError:
        assert not granted or text.replace(".", "").isdigit()
    else:
        assert granted
