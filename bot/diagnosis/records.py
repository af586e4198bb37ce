"""Lines that are records: JSON (Loki, Datadog, fluent-bit, CloudWatch, docker) and logfmt.

The text stands in one field, who logged it in others. A record may hold several lines, a query
result several records, all on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.diagnosis.filenames import origin_of_file
from bot.diagnosis.origin import NOWHERE, Origin
from bot.diagnosis.patterns import Pattern

#: Fields that hold the text, the more usual ones first.
_TEXT = (
    "line",
    "log",
    "message",
    "msg",
    "@message",
    "MESSAGE",
    "textPayload",
    "text",
    "body",
    "event",
    "content",
    "_raw",
    "data",
)
#: Labels that name the machine, before those that name the pod, before those that name a service.
_MACHINE = (
    "node",
    "node_name",
    "nodename",
    "kubernetes_host",
    "host",
    "hostname",
    "_HOSTNAME",
    "host.name",
    "k8s.node.name",
    "instance",
    "vm",
    "machine",
)
_POD = ("pod", "pod_name", "podname", "k8s.pod.name", "kubernetes_pod_name", "container_name")
_STREAM = ("logStreamName", "logStream", "log_stream", "@logStream", "stream_name")
_RANK = ("rank", "global_rank", "RANK")
_NODE_RANK = ("node_rank", "group_rank")
_LOCAL_RANK = ("local_rank", "LOCAL_RANK")
_TIME = ("ts", "time", "timestamp", "@timestamp", "asctime", "date", "datetime")
_FILE = ("filename", "file", "path", "log.file.path", "source")
_HOST_SHAPE = Pattern(r"[A-Za-z0-9\[:][\w.:\]-]{0,252}")
_LONGEST_NUMBER = 8
_MAX_DEPTH = 6
_MAX_RECORDS = 100_000


class Record(NamedTuple):
    """One line of text out of a record, and what its labels tell."""

    text: str
    origin: Origin = NOWHERE
    time: str | None = None


def records_of(line: str, origin: Origin = NOWHERE) -> list[Record] | None:
    """Return the lines of text inside a structured line, or None where it is not one."""
    start = line.find("{") if "{" in line[:400] else -1
    if start >= 0 and line.rstrip().endswith(("}", "}]", "},", "];")):
        head = line[:start].rstrip(" [\t")
        found = _from_json(line[start - 1 if line[start - 1 : start] == "[" else start :], origin)
        if found is not None and (not head or head.isprintable()):
            return found
    if 'msg="' in line or 'message="' in line or 'log="' in line:
        return _from_logfmt(line, origin)
    return None


def _from_json(text: str, origin: Origin) -> list[Record] | None:
    try:
        value = json.loads(text.strip().rstrip(",;"))
    except (ValueError, RecursionError):
        return None
    found: list[Record] = []
    for record in _walk(value, origin, None, 0):
        found.append(record)
        if len(found) >= _MAX_RECORDS:
            break
    return found or None


def _walk(value: object, origin: Origin, time: str | None, depth: int) -> Iterator[Record]:
    """Yield the records of a JSON value; inner labels add to outer ones."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        yield from _walk_list(value, origin, time, depth)
        return
    if not isinstance(value, dict):
        return
    labels = _flat(value)
    origin = _labelled(labels, origin)
    time = _first(labels, _TIME) or time
    key = next((key for key in _TEXT if isinstance(value.get(key), str)), None)
    if key is not None:
        yield from _lines(value[key], origin, time)
        return
    for inner in value.values():
        if isinstance(inner, dict | list):
            yield from _walk(inner, origin, time, depth + 1)


def _walk_list(
    values: list[object], origin: Origin, time: str | None, depth: int
) -> Iterator[Record]:
    for value in values:
        if (
            isinstance(value, list)
            and len(value) >= len(("time", "line"))
            and all(isinstance(part, str) for part in value[:2])
        ):
            yield from _lines(str(value[1]), origin, time)
        else:
            yield from _walk(value, origin, time, depth + 1)


def _lines(text: str, origin: Origin, time: str | None) -> Iterator[Record]:
    for line in text.replace("\r", "\n").split("\n"):
        if line:
            yield Record(text=line, origin=origin, time=time)


def _flat(value: dict[str, object]) -> dict[str, str]:
    """Return the scalar labels of a record, those of its inner objects too."""
    labels: dict[str, str] = {}
    todo: list[tuple[dict[str, object], int]] = [(value, 0)]
    while todo:
        item, depth = todo.pop(0)
        for key, inner in item.items():
            if isinstance(inner, dict) and depth < _MAX_DEPTH:
                if key == "host" and isinstance(inner.get("name"), str):
                    labels.setdefault("host", str(inner["name"]))
                if key in {"node", "pod"} and isinstance(inner.get("name"), str):
                    labels.setdefault(key, str(inner["name"]))
                todo.append((inner, depth + 1))
            elif isinstance(inner, str | int) and not isinstance(inner, bool):
                labels.setdefault(str(key), str(inner))
    return labels


def _first(labels: dict[str, str], keys: tuple[str, ...]) -> str | None:
    return next((labels[key] for key in keys if labels.get(key)), None)


def _labelled(labels: dict[str, str], origin: Origin) -> Origin:
    host = _first(labels, _MACHINE) or _first(labels, _POD)
    if host is None or not _HOST_SHAPE.fullmatch(host):
        stream = _first(labels, _STREAM)
        host = origin_of_file(stream).host if stream else None
        host = host or (_first_word(stream) if stream else None)
    inner = Origin(
        host=host,
        rank=_number(_first(labels, _RANK)),
        node_rank=_number(_first(labels, _NODE_RANK)),
        local_rank=_number(_first(labels, _LOCAL_RANK)),
    )
    path = _first(labels, _FILE)
    if path and "/" in path:
        inner = inner.inside(origin_of_file(path)._replace(file=None))
    return inner.inside(origin) if inner.labelled else origin


def _first_word(stream: str) -> str | None:
    """Take SageMaker's `job/algo-2-1714…` or Batch's stream name for a machine."""
    found = re.search(r"(?:^|/)(algo-\d+)(?:-\d+)?$", stream)
    return found[1] if found else None


def _number(text: str | None) -> int | None:
    return (
        int(text)
        if text and text.isascii() and text.isdigit() and len(text) < _LONGEST_NUMBER
        else None
    )


_PAIR = Pattern(r'([A-Za-z_@][\w.@-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)')


def _from_logfmt(line: str, origin: Origin) -> list[Record] | None:
    labels: dict[str, str] = {}
    for pair in _PAIR.finditer(line):
        key, value = pair[1], pair[2]
        bare = value
        if value.startswith('"'):
            try:
                bare = json.loads(value)
            except ValueError:
                bare = value[1:-1]
        labels.setdefault(key, bare)
    text = next((key for key in _TEXT if key in labels and f'{key}="' in line), None)
    if text is None:
        return None
    origin = _labelled({key: value for key, value in labels.items() if key != text}, origin)
    return list(_lines(labels[text], origin, _first(labels, _TIME))) or None
