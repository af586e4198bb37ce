"""The only calls to a cloud that change anything are PATCH with START, STOP or RESET."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import bot
from bot.clouds.crusoe.cloud import CrusoeCloud
from bot.clouds.model import Action
from bot.clouds.port import Cloud
from tests.behaviour.clouds.lab import LONG, CrusoeLab

pytestmark = pytest.mark.anyio
CODE = Path(bot.__file__).parent
#: Words of HTTP by which something is changed, and an HTTP client's methods of those names.
CHANGING = {"POST", "PUT", "PATCH", "DELETE"}


def said(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each use of such a word in the code of a folder: where, and which."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            where = f"{file.relative_to(CODE)}"
            if isinstance(node, ast.Constant) and node.value in CHANGING:
                yield where, str(node.value)
            if isinstance(node, ast.Attribute) and node.attr.upper() in CHANGING:
                yield where, f".{node.attr}"


def test_the_code_has_one_such_call() -> None:
    """Of all that speaks to a cloud one line says PATCH, and none anything else."""
    assert list(said(CODE / "clouds" / "crusoe")) == [("clouds/crusoe/cloud.py", "PATCH")]


def test_three_actions_are_known() -> None:
    """The action of that call is of a type that has three values."""
    assert [one.value for one in Action] == ["START", "STOP", "RESET"]
    assert inspect.get_annotations(CrusoeCloud.act)["action"] == "Action"


def test_one_method_acts() -> None:
    """Whoever has a cloud has one method that changes something; what sends it is not theirs."""
    public = {name for name in vars(Cloud) if not name.startswith("_")}
    assert public == {"list", "get", "act", "operation", "operations", "named"}


async def test_what_a_cloud_sees(crusoe: CrusoeLab) -> None:
    """Of every method of the client, the requests that were sent say the same."""
    vm = crusoe.add("node-8")
    cloud = crusoe.cloud
    for action in (Action.STOP, Action.START, Action.RESET):
        operation = await cloud.act(vm, action)
        await crusoe.clock.sleep(LONG)
        await cloud.operation(operation.id)
    await cloud.list()
    await cloud.get(vm)
    await cloud.operations(vm)
    await cloud.named("node-8")
    changing = [one.request for one in crusoe.server.served if one.request.method != "GET"]
    assert [one.method for one in changing] == ["PATCH"] * 3
    assert [json.loads(one.body) for one in changing] == [
        {"action": "STOP"}, {"action": "START"}, {"action": "RESET"},
    ]  # fmt: skip
