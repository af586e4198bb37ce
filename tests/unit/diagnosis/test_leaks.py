"""How the secrets of a log are counted while it is read."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis import diagnose, of_bytes
from bot.diagnosis.leaks import MOST_BYTES, Leaks, secrets_in

TOKEN = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    "MIIEpAIBAAKCAQEA04up8hoqzS1+APIB0RhjXyObwHQnOzhAk5Bd7mhkSbPkyhP1\n"
    "-----END RSA PRIVATE KEY-----\n"
)
LINES = "step 7 loss=2.31 tokens/s=120345 at node-3.hall.internal:29500\n"


def counted(text: str) -> dict[str, int]:
    """Return what is counted while the engine reads a log."""
    leaks = Leaks()
    diagnose([leaks.of(of_bytes(text.encode()))])
    return dict(leaks.counts)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", {}),
        (LINES * 100, {}),
        (f"{LINES}HF_TOKEN={TOKEN}", {"huggingface-token": 1}),
        (f"HF_TOKEN={TOKEN}\n{LINES * 4000}again {TOKEN}\n", {"huggingface-token": 2}),
        (f"{LINES}{KEY}{LINES}", {"private-key": 1}),
        ("password: Zx9Qw7Lm2Kd4 for ops@example.org\n", {"password": 1}),
        ("mail ops@example.org\n", {}),
    ],
)
def test_what_is_counted(text: str, wanted: dict[str, int]) -> None:
    """Each kind, wherever it stands; an address of a person is nothing that could be rotated."""
    assert counted(text) == wanted
    assert secrets_in(text) == wanted


@given(
    st.lists(st.sampled_from([LINES, f"key {TOKEN}\n", "password=Zx9Qw7Lm2Kd4\n", "\n"])),
    st.integers(1, 400),
)
def test_how_a_stream_is_split_changes_nothing(parts: list[str], size: int) -> None:
    """Reads end anywhere: in a line, in a secret."""
    text = "".join(parts)
    leaks, data = Leaks(), text.encode()
    for at in range(0, len(data), size):
        leaks.take(data[at : at + size])
    assert leaks.counts == secrets_in(text)


def test_what_is_read_again_is_counted_once() -> None:
    """The engine looks twice where the verdict hangs on it."""
    leaks = Leaks()
    source = leaks.of(of_bytes(f"{TOKEN}\n".encode()))
    for _ in range(2):
        with source.open() as stream:
            buffer = memoryview(bytearray(100))
            while stream.readinto(buffer):
                pass
    assert leaks.counts == {"huggingface-token": 1}


def test_the_log_passes_unchanged() -> None:
    """Counting takes nothing from what the engine reads."""
    with Leaks().of(of_bytes(LINES.encode())).open() as stream:
        buffer = memoryview(bytearray(1000))
        size = stream.readinto(buffer)
        assert bytes(buffer[:size]) == LINES.encode()
        stream.seek(5)
        assert stream.readinto(buffer) == len(LINES) - 5


def test_only_the_beginning_of_a_huge_log_is_looked_through() -> None:
    """A report does not wait for the rest."""

    class Zeros(io.RawIOBase):
        """A log of one line, and a secret far behind."""

        def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
            return len(buffer)

        def seek(self, offset: int, _whence: int = 0, /) -> int:
            return offset

    from bot.diagnosis import Source

    leaks = Leaks()
    with leaks.of(Source(name="x", open=Zeros)).open() as stream:
        buffer = memoryview(bytearray(1 << 20))
        for _ in range((MOST_BYTES >> 20) + 1):
            stream.readinto(buffer)
        leaks_before = leaks.counts
        secret = f"\n{TOKEN}\n".encode()
        buffer[: len(secret)] = secret
        stream.readinto(buffer)
    assert leaks.counts == leaks_before == {}
