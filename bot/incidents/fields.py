"""Look over the fields of a value before the store keeps it."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Characters in an ID. PostgreSQL indexes 2,700 bytes at most; Slack's own IDs take about 40.
LONGEST_ID = 255
_SHOWN = 40


def as_row(value: DataclassInstance) -> dict[str, Any]:
    """Return the fields by name, without a copy of what they hold."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def look_over(value: DataclassInstance, *ids: str) -> None:
    """Refuse times without a zone, and IDs that the store cannot keep as they are.

    Raises ValueError for such a time: it would be read as another hour elsewhere. Raises
    InputError for such an ID: an altered one could be that of another row.
    """
    what = type(value).__name__.lower()
    for name, told in as_row(value).items():
        if isinstance(told, datetime) and told.tzinfo is None:
            raise ValueError(f"{name} of the {what} has no time zone.")
        if name in ids and told is not None:
            _look_over_id(f"{name} of the {what}", told)


def _look_over_id(what: str, told: str) -> None:
    shown = ascii(told[:_SHOWN])
    if len(told) > LONGEST_ID:
        message = f"The {what} has {len(told):,} characters, of which {LONGEST_ID} can be kept: "
        raise InputError(f"{message}{shown}…")
    if "\0" in told or not _is_unicode(told):
        raise InputError(f"The {what} has characters that no database can hold: {shown}.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
