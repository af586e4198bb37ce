"""Write a file of settings: every setting there is, with what it means, its default as a comment.

`# ` begins an explanation, and `#` without a blank a setting that can be switched on as it stands.
"""

from __future__ import annotations

import json
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.settings.blanks import Line, lines
from bot.settings.tree import Level, Settings

_WIDTH = 98
_HEAD = (
    "Settings of nccl-dns. Every setting is here; `#name = value` shows a default, and without the",
    "# sets it. The environment wins over this file: NCCL_DNS_CLOUD__PROJECT sets cloud.project.",
    "Durations are hours:minutes:seconds. `nccl-dns doctor` says what is still missing.",
)
#: What stands for a path that is not set.
_SOME_PATH = "/path/to/file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A file of settings, before it is one."""

    text: str
    #: number in the file (from 1) → the setting and what to write there
    fill: Mapping[int, tuple[str, str]]


def written(level: Level, cluster: str = "main", tree: type[BaseModel] = Settings) -> Written:
    """Return the file for a level, with one cluster of this name from level 1 on."""
    sets = lines(level, cluster)
    body = list(_table(tree, "", cluster, sets, active=True))
    blanks = [(path, line.fill) for path, line in sets.items() if line.fill]
    # the head names lines of the body, which it moves down by its own length
    head = len(_HEAD) + (len(blanks) + 2 if blanks else 0) + 1
    numbers = {path: head + at for at, (path, _) in enumerate(body, 1) if path}
    at_line = {numbers[path]: (path, fill) for path, fill in blanks}
    text = [f"# {line}" for line in _HEAD]
    if blanks:
        text += ["#", "# Fill in:"]
        text += [f"#   line {number}: {path}: {what}" for number, (path, what) in at_line.items()]
    text += ["", *(line for _, line in body)]
    return Written(text="\n".join(text).rstrip() + "\n", fill=at_line)


#: A line of the file, with the path of the setting that it sets, or an empty one.
_Body = Iterator[tuple[str, str]]


def _table(
    tree: type[BaseModel], prefix: str, cluster: str, sets: Mapping[str, Line], *, active: bool
) -> _Body:
    """Yield the lines of a table: its own settings first, as TOML wants it, then those below."""
    below = []
    for name, field in tree.model_fields.items():
        path = f"{prefix}{name}"
        if (part := _part(field)) is not None:
            below.append((path, field, part))
            continue
        yield from _explained(_about(field))
        line = sets.get(path)
        value = _default(field) if line is None else line.value
        mark = "" if line is not None and active else "#"
        note = "  # fill in" if line is not None and line.fill else ""
        yield (path if line is not None else ""), f"{mark}{name} = {_toml(value)}{note}"
    for path, field, part in below:
        yield from _below(path, field, part, cluster, sets, active=active)


def _below(
    path: str,
    field: FieldInfo,
    part: type[BaseModel],
    cluster: str,
    sets: Mapping[str, Line],
    *,
    active: bool,
) -> _Body:
    form = _form(field)
    if form is dict:
        path = f"{path}.{cluster}"
    always = field.default is not None and form is None
    wanted = active and (always or any(one.startswith(f"{path}.") for one in sets))
    mark = "" if wanted else "#"
    yield "", ""
    yield from _explained(" ".join(filter(None, (_first_line(part), field.description))))
    yield "", f"{mark}[[{path}]]" if form is tuple else f"{mark}[{path}]"
    yield from _table(part, f"{path}.", cluster, sets, active=wanted)


def _form(field: FieldInfo) -> type[Any] | None:
    """Return dict or tuple for a part that there may be many of; None for one."""
    outer = get_origin(_plain(field.annotation))
    return outer if outer in {dict, tuple} else None


def _part(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a table, or a table of tables."""
    return next((one for one in _types(field.annotation) if issubclass(one, BaseModel)), None)


def _plain(annotation: object) -> object:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _types(annotation: object) -> Iterator[type[Any]]:
    """Yield every class in a type."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        yield annotation
    elif get_origin(annotation) is not Literal:
        for one in get_args(annotation):
            yield from _types(one)


def _about(field: FieldInfo) -> str:
    said = [field.description or ""]
    if get_origin(field.annotation) is Literal:
        said.append(f"One of {', '.join(map(str, get_args(field.annotation)))}.")
    return " ".join(filter(None, said))


def _first_line(part: type[BaseModel]) -> str:
    return (part.__doc__ or "").strip().splitlines()[0]


def _explained(text: str) -> _Body:
    for paragraph in text.split("\n\n"):
        for line in textwrap.wrap(" ".join(paragraph.split()), _WIDTH):
            yield "", f"# {line}"


def _default(field: FieldInfo) -> object:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return ""
    if value is None:
        optional = get_origin(field.annotation) in {Union, types.UnionType}
        return _SOME_PATH if optional and Path in set(_types(field.annotation)) else ""
    return value


def _toml(value: object) -> str:
    """Return a value as TOML; JSON's texts, numbers and lists are TOML's, too."""
    match value:
        case bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False)
        case SecretStr():
            return '""'
        case timedelta():
            seconds = int(value.total_seconds())
            return f'"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"'
        case Path():
            home = Path.home()
            below = value.is_relative_to(home) and home != Path("/")
            return _toml(f"~/{value.relative_to(home)}" if below else str(value))
        case Mapping():
            rows = (f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items())
            return f"{{{', '.join(rows)}}}"
        case Iterable():
            return f"[{', '.join(map(_toml, value))}]"
    raise TypeError(f"{type(value).__name__} has no form in a file of settings.")
