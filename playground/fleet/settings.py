"""Write TOML, and files that hold secrets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path


def as_toml(tables: Mapping[str, Mapping[str, object]]) -> str:
    """Return tables by their names as TOML; the unnamed one comes first."""
    parts = (f"[{name}]\n{_rows(rows)}" if name else _rows(rows) for name, rows in tables.items())
    return "\n".join(parts)


def keep(path: Path, text: str) -> None:
    """Write a file for its owner alone, in place of an older one."""
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)


def _rows(rows: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in rows.items())


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    # JSON's strings and numbers are TOML's, too
    return json.dumps(value, ensure_ascii=False)
