"""Find the file, read it with the environment over it, and say what is wrong with it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
)
from pydantic_settings import (
    SettingsError as UnreadableVariableError,
)

from bot.settings.secrets import SettingsError
from bot.settings.slack import USUAL_NAMES
from bot.settings.tree import Settings

FILE = "nccl-dns.toml"
VARIABLE = "NCCL_DNS_CONFIG"
#: Variables that are no settings.
_OTHER_VARIABLES = frozenset({VARIABLE})


def config_path(given: Path | None = None) -> Path | None:
    """Return the file that is read: the given one, NCCL_DNS_CONFIG, or the first usual place.

    None where nobody names one and no usual place has one. Raises SettingsError for a named file
    that does not exist.
    """
    named = given or (Path(text) if (text := os.environ.get(VARIABLE)) else None)
    if named is not None:
        if not named.expanduser().is_file():
            by = "--config" if given else VARIABLE
            message = f"{named}, named by {by}, is no file. Make one with `nccl-dns init`."
            raise SettingsError(message)
        return named.expanduser()
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    usual = (Path(FILE), home / "nccl-dns" / FILE, Path("/etc/nccl-dns") / FILE)
    return next((path for path in usual if path.is_file()), None)


def load(path: Path | None = None, *, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of a file, or of the usual place, with the environment over them.

    Raises SettingsError with one sentence for each setting that is unknown or cannot be used.
    """
    found = config_path(path)
    told = {} if found is None else _read(found)
    variables = os.environ if environ is None else environ
    _refuse_unknown_variables(variables)
    usual = _usual_names(variables, told)

    class _Loaded(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            del init_settings, dotenv_settings, file_secret_settings
            return (
                env_settings,
                InitSettingsSource(settings_cls, init_kwargs=told),
                InitSettingsSource(settings_cls, init_kwargs=usual),
            )

    try:
        return _Loaded()
    except ValidationError as error:
        where = f"{found}" if found else "the environment (NCCL_DNS_…)"
        raise SettingsError(f"{where}: {' '.join(_sentences(error))}") from None
    except UnreadableVariableError as error:
        raise SettingsError(f"A variable NCCL_DNS_… cannot be read: {error}.") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"{path} cannot be read: {reason}.") from None
    except tomllib.TOMLDecodeError as error:
        # no more than the place: the exception can carry the file's text
        place = str(error).rpartition("(")[2].rstrip(")")
        raise SettingsError(f"{path} is not valid TOML ({place}).") from None


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """Raise for a misspelled variable, which would be ignored in silence."""
    for name in environ:
        upper = name.upper()
        if not upper.startswith("NCCL_DNS_") or upper in _OTHER_VARIABLES:
            continue
        head = upper.removeprefix("NCCL_DNS_").partition("__")[0].lower()
        if head not in Settings.model_fields:
            raise SettingsError(f"{name} is no setting; known are {', '.join(_variables())}.")


def _usual_names(environ: Mapping[str, str], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Slack's usual variables say, where no file of ours holds that secret."""
    named = told.get("slack")
    taken = set(named) if isinstance(named, dict) else set()
    taken |= {name.removesuffix("_file") for name in taken}
    found = {ours: environ[name] for name, ours in USUAL_NAMES.items() if environ.get(name)}
    kept = {ours: value for ours, value in found.items() if ours not in taken}
    return {"slack": kept} if kept else {}


def _variables() -> Iterator[str]:
    for name in Settings.model_fields:
        yield f"NCCL_DNS_{name.upper()}"


#: What pydantic calls a problem → how a person is told; the rest is pydantic's own words.
_WORDS = {
    "extra_forbidden": "there is no such setting; check the spelling",
    "missing": "it has to be set",
}


def _sentences(error: ValidationError) -> Iterator[str]:
    for one in error.errors(include_input=False, include_url=False):
        place = ".".join(str(part) for part in one["loc"]) or "the settings"
        words = _WORDS.get(one["type"], one["msg"].removeprefix("Value error, ").rstrip("."))
        yield f"{place}: {words}."
