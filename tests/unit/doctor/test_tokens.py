"""Prove what is read of a token, whatever stands in it."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.doctor.tokens import Token, read

#: In the form of `scontrol token`: exp, iat, sun; the signature is none.
SLURMS = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    ".eyJleHAiOjE3NjczMjMwNDUsImlhdCI6MTc2NzMyMjQ0NSwic3VuIjoicm9vdCJ9"
    ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)


def token(body: bytes) -> str:
    """Return a token with this body."""
    return f"e30.{base64.urlsafe_b64encode(body).decode().rstrip('=')}.sig"


def test_a_token_of_slurm_tells_user_and_end() -> None:
    """`sun` is Slurm's claim for the user."""
    assert read(f"{SLURMS}\n") == Token(user="root", ends=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"username": "bot"}, Token(user="bot")),
        ({"sun": ["x"], "exp": "soon"}, Token()),
        ({"exp": -1}, Token()),
        ({"exp": 1e300}, Token()),
        ([], None),
        ("x", None),
    ],
)
def test_claims_of_another_form_say_nothing(claims: object, told: Token | None) -> None:
    """They are not believed, and nothing breaks."""
    assert read(token(json.dumps(claims).encode())) == told


@given(st.text() | st.binary().map(token))
def test_no_text_breaks_it(text: str) -> None:
    """What is no token is none."""
    read(text)
