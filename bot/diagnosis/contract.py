"""The published shape of a diagnosis, `nccl-dns/diagnosis/1`, as a pydantic model."""

from __future__ import annotations

from pydantic import RootModel

from bot.diagnosis.result import Diagnosis


class DiagnosisV1(RootModel[Diagnosis]):
    """What a log comes down to."""


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the published shape."""
    return DiagnosisV1.model_json_schema(mode="serialization")
