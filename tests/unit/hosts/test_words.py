"""Prove that only checked words exist."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.hosts.errors import UnsafeWordError
from bot.hosts.quoting import quoted
from bot.hosts.words import Address, HostName, Port, Proof, sift


@pytest.mark.parametrize(
    "text",
    [
        "$(reboot)", "-oProxyCommand=x", "a;b", "a b", "a\nb", "node-0\n", "n" * 300, "", ".",
        "n" * 64, "nоde-0", "node‐0", "ｎode", "a..b", "10.0.0.1", "::1", "a/b", "a\x00",  # noqa: RUF001
        "--version", "@lookups",
    ],
)  # fmt: skip
def test_what_is_no_host_name_is_refused(text: str) -> None:
    """Neither shell, option, address nor look-alike passes for a host name."""
    with pytest.raises(UnsafeWordError, match="was not sent"):
        HostName(text)


@given(st.text(max_size=80))
def test_a_host_name_is_made_of_safe_characters(text: str) -> None:
    """Whatever passes means nothing to a shell and is never an option."""
    kept, refused = sift([text])

    assert len(kept) + len(refused) == 1
    for name in kept:
        assert name.isascii()
        assert shlex.quote(name) == name
        assert not name.startswith(("-", "@"))


@pytest.mark.parametrize("text", ["10.0.0.256", "node-0", "", "fe80::1%eth0;reboot", "1", "x::y"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """An address is an IP literal and nothing else."""
    with pytest.raises(UnsafeWordError):
        Address(text)


def test_an_address_is_written_in_one_way() -> None:
    """Two spellings of one address are one address."""
    assert Address("2001:DB8:0::1") == Address("2001:db8::1") == "2001:db8::1"


@pytest.mark.parametrize("number", [0, -1, 65536])
def test_what_is_no_port_is_refused(number: int) -> None:
    """A port lies between 1 and 65535."""
    with pytest.raises(UnsafeWordError):
        Port(number)


@pytest.mark.parametrize("text", ["", "-x", "a b", "$x", "a/b", "x" * 300])
def test_what_is_no_identity_is_refused(text: str) -> None:
    """A UUID, machine id or host name is a plain word."""
    with pytest.raises(UnsafeWordError):
        Proof(text)


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", codec="utf-8")), min_size=1))
def test_a_shell_splits_what_was_quoted_into_the_same_words(words: list[str]) -> None:
    """Quoting loses nothing and adds nothing."""
    assert shlex.split(quoted(words)) == words


@pytest.mark.parametrize("word", ["a\nb", "a\0b", "a\r"])
def test_a_word_with_a_line_feed_is_never_quoted(word: str) -> None:
    """Shells differ in what they make of these, so none is sent."""
    with pytest.raises(ValueError, match="line feed"):
        quoted(["echo", word])
