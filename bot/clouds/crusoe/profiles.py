"""Find the API key as Crusoe's own tools do: `~/.crusoe/config` and `CRUSOE_…` variables.

Source: terraform-provider-crusoe `internal/common/config.go`. Unlike it, a file that cannot be read
and a profile that was asked for and is not there are errors.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import Endpoint, endpoint
from bot.clouds.errors import CloudSetupError

DEFAULT_PROFILE = "default"

#: Where the file lies below a home folder.
CONFIG = Path(".crusoe") / "config"

#: Key in the file: variable that wins over it.
VARIABLES = {
    "access_key_id": "CRUSOE_ACCESS_KEY_ID",
    "secret_key": "CRUSOE_SECRET_KEY",
    "api_endpoint": "CRUSOE_API_ENDPOINT",
    "default_project": "CRUSOE_DEFAULT_PROJECT",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What one profile, with the variables over it, comes to."""

    name: str
    credentials: Credentials
    endpoint: Endpoint
    #: name or id; empty where none is set
    default_project: str = ""


def read_profile(
    config: Path, *, environ: Mapping[str, str], profile: str | None = None
) -> Profile:
    """Read a profile from a file that may be missing, with variables over it.

    The profile is the one given, else `CRUSOE_PROFILE`, else the file's `profile`, else `default`.
    Raises CloudSetupError, which never repeats a value of the file.
    """
    tables = _read(config)
    stated = tables.get("profile")
    asked = profile or environ.get("CRUSOE_PROFILE") or (stated if isinstance(stated, str) else "")
    name = asked or DEFAULT_PROFILE
    table = tables.get(name)
    if asked and not isinstance(table, dict) and config.exists():
        there = sorted(key for key, value in tables.items() if isinstance(value, dict))
        raise CloudSetupError(
            f"{config} has no profile {name!r}. It has: {', '.join(there) or 'none'}."
        )
    values = _strings(table, config, name) if isinstance(table, dict) else {}
    values |= {
        key: environ[variable] for key, variable in VARIABLES.items() if environ.get(variable)
    }
    for key in ("access_key_id", "secret_key"):
        if not values.get(key):
            raise CloudSetupError(
                f"There is no Crusoe API key: {key} is neither in profile {name!r} of {config} nor "
                f"in {VARIABLES[key]}. Make a key in the console under Security and put it there."
            )
    return Profile(
        name=name,
        credentials=Credentials(
            access_key_id=values["access_key_id"], secret_key=values["secret_key"]
        ),
        endpoint=endpoint(values.get("api_endpoint", "")),
        default_project=values.get("default_project", ""),
    )


def _read(config: Path) -> dict[str, object]:
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CloudSetupError(f"{config} cannot be read: {reason}.") from None
    except tomllib.TOMLDecodeError as error:
        # From None, and no more than the place: the exception can carry the file's text.
        place = str(error).rpartition("(")[2].rstrip(")")
        raise CloudSetupError(f"{config} is not valid TOML ({place}).") from None


def _strings(table: Mapping[str, object], config: Path, name: str) -> dict[str, str]:
    values = {}
    for key in VARIABLES:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise CloudSetupError(f"{key} in profile {name!r} of {config} must be a quoted text.")
        values[key] = value
    return values
