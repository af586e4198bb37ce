"""The published shape of a checkup, `nccl-dns/doctor/1`, as a pydantic model."""

from __future__ import annotations

from pydantic import RootModel

from bot.doctor.model import Checkup


class DoctorV1(RootModel[Checkup]):
    """Everything that was checked."""


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the published shape."""
    return DoctorV1.model_json_schema(mode="serialization")


def to_json(checkup: Checkup) -> str:
    """Return the JSON form of the contract, on one line."""
    return DoctorV1(checkup).model_dump_json()
