"""Judge pictures that blocks take from Slack's own files.

Source: docs.slack.dev/reference/block-kit/composition-objects/slack-file-object.
"""

from __future__ import annotations

from collections.abc import Iterator

from playground.slack.errors import with_messages
from playground.slack.kit.rules import Json
from playground.slack.model import File
from playground.slack.workspace import Workspace

#: What can be shown as a picture.
PICTURES = ("image/png", "image/jpeg", "image/gif")


def judge_pictures(world: Workspace, blocks: list[Json]) -> None:
    """Refuse blocks with a file that is not there, not complete, or no picture."""
    wrong = [
        f"invalid slack file [json-pointer:{at}/slack_file]"
        for place, block in enumerate(blocks)
        for at, named in _named(block, f"/blocks/{place}")
        if not _shown(_file(world, named))
    ]
    if wrong:
        raise with_messages("invalid_blocks", wrong)


def _named(block: Json, at: str) -> Iterator[tuple[str, Json]]:
    if "slack_file" in block:
        yield at, block["slack_file"]
    for name in ("accessory", "hero_image", "icon"):
        if "slack_file" in block.get(name, {}):
            yield f"{at}/{name}", block[name]["slack_file"]
    if block["type"] == "context":
        for place, one in enumerate(block["elements"]):
            if "slack_file" in one:
                yield f"{at}/elements/{place}", one["slack_file"]


def _file(world: Workspace, named: Json) -> File | None:
    if "id" in named:
        return world.files.get(named["id"])
    return next((one for one in world.files.values() if f"-{one.id}/" in named["url"]), None)


def _shown(file: File | None) -> bool:
    if file is None or file.deleted:
        return False
    return file.completed and file.mimetype in PICTURES
