"""Secrets of the settings, given in place or in a file of their own."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from bot.errors import InputError


class SettingsError(InputError):
    """The settings cannot be used; the message names each, and never repeats a value."""


def secret(value: SecretStr, file: Path | None, what: str) -> str:
    """Return a secret that stands in the settings or in a file of its own; empty where in none.

    Raises SettingsError where the file cannot be read; `what` names the setting.
    """
    if file is None:
        return value.get_secret_value()
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"{file}, named by {what}, cannot be read: {reason}.") from None
