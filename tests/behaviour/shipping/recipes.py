"""Read what the recipe of the image and the file of the services say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]


def instructions() -> list[tuple[str, str]]:
    """Return the recipe's instructions and their arguments, in order."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(one[0], one[1]) for one in (line.split(None, 1) for line in lines)]


def last_stage() -> dict[str, str]:
    """Return the instructions of the stage that is shipped."""
    found = instructions()
    begins = max(n for n, (word, _) in enumerate(found) if word == "FROM")
    return dict(found[begins:])


def variables() -> dict[str, str]:
    """Return what the image sets in the environment."""
    return dict(re.findall(r"(\w+)=(\S+)", last_stage()["ENV"]))


def services() -> dict[str, Any]:
    """Return the services by name."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return dict(found["services"])
