"""A private key leaves no line behind, however its lines were logged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.redact import redact
from bot.diagnosis.redact_keys import PRIVATE_KEY, blank_key_blocks
from bot.diagnosis.redact_rules import FILL

WIDTH = 64
LABELS = ("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY")
BLOCK = "PGP PRIVATE KEY BLOCK"


def key(label: str = "RSA PRIVATE KEY", lines: int = 5, tail: str = "Q2x9+/7dLw==") -> list[str]:
    """Return the lines of an invented key block."""
    body = [(FILL[line:] + FILL)[:WIDTH] for line in range(lines)]
    return [f"-----BEGIN {label}-----", *body, tail, f"-----END {label}-----"]


@pytest.mark.parametrize("label", [*LABELS, BLOCK])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("64: ", ""),
        ("[rank3]: ", ""),
        ("[1,64]<stdout>:", ""),
        ("2026-05-01T10:00:0{n}.{n}23456Z node-3 train[812]: ", "\r"),
        ("\x1b[31m", "\x1b[0m"),
        ('{{"log":"', '\\n","stream":"stderr","time":"2026-05-01T10:00:0{n}Z"}}'),
        ("    ", ""),
    ],
)
def test_every_line_of_a_block_loses_its_part(label: str, before: str, after: str) -> None:
    """Prefixes and suffixes stay, each key line becomes the mark, the lines around are kept."""
    wrapped = [
        (before.format(n=n % 10), line, after.format(n=n % 10)) for n, line in enumerate(key(label))
    ]
    text = "\n".join(["node-3 up", *map("".join, wrapped), "64: step 1", "hello", ""])
    clean = [f"{head}{PRIVATE_KEY}{end}" for head, _, end in wrapped]
    expected = "\n".join(["node-3 up", *clean, "64: step 1", "hello", ""])
    found = redact(text)
    assert found.text == expected
    assert dict(found.counts) == {"private-key": 1}


@pytest.mark.parametrize("newline", ["\\n", "\\\\n", "\\r\\n"])
def test_a_key_on_one_line_goes_whole(newline: str) -> None:
    """A key in a JSON or environment value, newlines escaped, becomes one mark."""
    value = newline.join(key("PRIVATE KEY"))
    found = redact(f'{{"type": "service_account", "private_key": "{value}{newline}", "a": 1}}')
    assert found.text == (
        f'{{"type": "service_account", "private_key": "{PRIVATE_KEY}{newline}", "a": 1}}'
    )
    assert dict(found.counts) == {"private-key": 1}


def test_a_key_flattened_to_spaces_goes_whole() -> None:
    """A key whose newlines became blanks, with or without its end, becomes one mark."""
    lines = key()
    assert redact("KEY=" + " ".join(lines) + " next").text == f"KEY={PRIVATE_KEY} next"
    assert redact("KEY=" + " ".join(lines[:-2]) + " cut").text == f"KEY={PRIVATE_KEY} cut"


def test_lines_of_other_ranks_in_between_stay() -> None:
    """Interleaved lines are no part of the key: log lines, checksums and paths stay."""
    others = [
        "3: node-3:812:901 [3] NCCL INFO Channel 00/0 : 27[3] -> 28[4] via P2P/CUMEM/read",
        "4: sha256=" + "9c0a7e13d5b84f26" * 4,
        "5: loading /mnt/checkpoints/llama/run7/global/step/1000/rank/five/model/part/a",
        "6: done",
        "64: done",
    ]
    lines = [f"64: {line}" for line in key(lines=8)]
    mixed: list[str] = []
    for number, line in enumerate(lines):
        mixed += [line, others[number % len(others)]]
    cleaned = redact("\n".join(mixed)).text.split("\n")
    assert cleaned[0::2] == [f"64: {PRIVATE_KEY}"] * len(lines)
    assert cleaned[1::2] == mixed[1::2]


def test_two_ranks_printing_keys_at_once_lose_both() -> None:
    """Blocks that overlap line by line are both taken out and both counted."""
    pairs = zip(key("EC PRIVATE KEY"), key("PRIVATE KEY"), strict=True)
    text = "\n".join(f"3: {one}\n4: {other}" for one, other in pairs)
    found = redact(text)
    assert set(found.text.split("\n")) == {f"3: {PRIVATE_KEY}", f"4: {PRIVATE_KEY}"}
    assert dict(found.counts) == {"private-key": 2}


def test_a_block_cut_off_below_is_taken_as_far_as_it_goes() -> None:
    """Without an end the key lines go, and what follows stays."""
    lines = key()[:-2]
    found = redact("\n".join([*lines, "Traceback (most recent call last):", "done", "OK"]))
    assert found.text.split("\n")[: len(lines)] == [PRIVATE_KEY] * len(lines)
    assert found.text.endswith("\nTraceback (most recent call last):\ndone\nOK")


def test_a_block_cut_off_above_is_followed_back() -> None:
    """A paste that begins inside a key loses the lines before the end."""
    lines = [f"64: {line}" for line in key()[2:]]
    found = redact("\n".join(["64: up", *lines, "64: down"]))
    assert found.text == "\n".join(["64: up", *[f"64: {PRIVATE_KEY}"] * len(lines), "64: down"])
    assert dict(found.counts) == {"private-key": 1}


def test_an_open_block_is_given_up_after_a_thousand_other_lines() -> None:
    """A begin that was only mentioned does not make later base64 suspicious for ever."""
    plain = ["step"] * 1100
    digest = "integrity " + FILL[:50]
    text = "\n".join(["bad file: -----BEGIN RSA PRIVATE KEY-----", *plain, digest])
    assert redact(text).text.endswith(digest)


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN CERTIFICATE-----\n" + FILL[:WIDTH] + "\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\n" + FILL[:WIDTH] + "\n-----END PUBLIC KEY-----",
        "no PRIVATE KEY found in /root/.ssh/id_ed25519",
    ],
)
def test_what_is_public_stays(text: str) -> None:
    """Certificates, public keys and sentences about keys are no secrets."""
    assert redact(text).text == text


def test_a_checksum_behind_the_last_line_goes_too() -> None:
    """PGP closes a block with a line of its own (RFC 4880, section 6.1)."""
    lines = key(BLOCK)
    lines.insert(-1, "=aB3d")
    assert redact("\n".join(lines)).text == "\n".join([PRIVATE_KEY] * len(lines))


def test_a_long_json_line_with_a_key_stays_json() -> None:
    """A shipper's line that holds a whole key is valid JSON before and after."""
    line = json.dumps({"log": "\n".join(["a", *key(), "b"]), "n": 1})
    assert json.loads(redact(line).text) == {"log": f"a\n{PRIVATE_KEY}\nb", "n": 1}


@given(
    lines=st.lists(
        st.one_of(
            st.sampled_from([f"{prefix}{line}" for prefix in ("", "3: ") for line in key()]),
            st.text(st.characters(), max_size=20),
        ),
        max_size=30,
    )
)
def test_any_mixture_of_key_lines_is_stable_and_keeps_its_lines(lines: list[str]) -> None:
    """Cut, doubled and shuffled blocks never raise, never change the line count, never return."""
    text = "\n".join(lines)
    once, count = blank_key_blocks(text)
    assert once.count("\n") == text.count("\n")
    assert "PRIVATE KEY-----" not in once
    assert blank_key_blocks(once) == (once, 0)
    assert (count > 0) == ("PRIVATE KEY-----" in text)
