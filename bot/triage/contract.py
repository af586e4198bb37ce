"""The published shape of a check, `nccl-dns/check/1`, as a pydantic model."""

from __future__ import annotations

from pydantic import RootModel

from bot.triage.model import Checked


class CheckV1(RootModel[Checked]):
    """What a check comes down to."""


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the published shape."""
    return CheckV1.model_json_schema(mode="serialization")


def to_json(checked: Checked) -> str:
    """Return the JSON form of the contract, on one line."""
    return CheckV1(checked).model_dump_json()
