"""Put a file of settings in its place: whole or not at all, readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from bot.settings.secrets import SettingsError

_MODE = 0o600


def save(path: Path, text: str, *, replace: bool = False, mode: int = _MODE) -> None:
    """Write a file that appears complete or not at all.

    Raises SettingsError where it exists and is not to be replaced, or cannot be written.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                # whatever the umask took away or the folder's defaults added
                os.fchmod(fd, mode)
                file.write(text)
                file.flush()
                os.fsync(fd)
            if replace:
                fresh.replace(path)
            else:
                # unlike a rename, a link never takes the place of another file
                os.link(fresh, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()
    except FileExistsError:
        message = f"{path} exists and was left as it is. Replace it with --force, or name another."
        raise SettingsError(message) from None
    except OSError as error:
        raise SettingsError(f"{path} was not written: {error.strerror}.") from None
