"""What every part of the settings is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def _expanded(path: Path) -> Path:
    return path.expanduser()


FilePath = Annotated[Path, AfterValidator(_expanded)]


class Part(BaseModel):
    """One table of the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
