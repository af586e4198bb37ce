"""Objects as the table that `kubectl get` asks for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from playground.kubernetes.resources import Kind, Object


def wanted(accept: str) -> bool:
    """Tell whether a client takes a table before plain JSON."""
    first = accept.split(",", maxsplit=1)[0].replace(" ", "")
    return "as=Table" in first and "g=meta.k8s.io" in first


def table(kind: Kind, objects: Sequence[Object], version: str, now: datetime) -> dict[str, Any]:
    """Return objects as a Table of meta.k8s.io/v1."""
    names = ["Name", *(name for name, _ in kind.columns), "Age"]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": [
            {"name": name, "type": "string", "format": "name" if name == "Name" else "",
             "description": name, "priority": 0}
            for name in names
        ],
        "rows": [_row(kind, one, now) for one in objects],
    }  # fmt: skip


def _row(kind: Kind, one: Object, now: datetime) -> dict[str, Any]:
    metadata = one["metadata"]
    cells = [metadata["name"], *(read(one) for _, read in kind.columns)]
    return {
        "cells": [*cells, _age(metadata["creationTimestamp"], now)],
        "object": {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
        },
    }


def _age(since: str, now: datetime) -> str:
    seconds = int((now.astimezone(UTC) - datetime.fromisoformat(since)).total_seconds())
    for size, letter in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{letter}"
    return f"{max(seconds, 0)}s"
