"""IDs that people can say and type, and nobody can guess."""

from __future__ import annotations

import secrets

#: Douglas Crockford's base 32: no i, l, o, u, which are taken for 1, 1, 0 and v.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = ALPHABET[10:]
_SAID_AS = str.maketrans({"i": "1", "l": "1", "o": "0", "-": None, " ": None})
SHORT = 8
LONG = 16


def new_id(length: int = SHORT) -> str:
    """Return a new ID; its first character is a letter, so that it is not read as a job's number.

    Eight characters are about 39 bits, for what people name; sixteen are 79, for rows without end.
    """
    rest = (secrets.choice(ALPHABET) for _ in range(length - 1))
    return secrets.choice(_LETTERS) + "".join(rest)


def read_id(typed: str) -> str | None:
    """Return the ID that somebody typed or was told, or None where it is none.

    Upper case, spaces and hyphens do not matter, and letters that look like digits are those.
    """
    read = typed.strip().lower().translate(_SAID_AS)
    if len(read) not in {SHORT, LONG} or read[0] not in _LETTERS:
        return None
    return read if set(read) <= set(ALPHABET) else None
