"""Prove client and local server against the API's published description.

`crusoe_openapi.json` is what client-go's `swagger/v1/swagger.json` says of the calls that are used.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from bot.clouds.crusoe import answers
from bot.clouds.crusoe.account import check_key, project_id
from bot.clouds.crusoe.endpoint import DEFAULT
from bot.clouds.crusoe.wire import OPERATION_STATES
from bot.clouds.model import Action
from playground.crusoe.api import LIST_QUERY, PATCH_MEMBERS
from playground.crusoe.faults import WORDS
from playground.crusoe.http1 import Reply, Request
from tests.behaviour.clouds.lab import LONG, CrusoeLab

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "crusoe_openapi.json").read_text(encoding="utf-8")
)
TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


def described(method: str, target: str) -> dict[str, Any]:
    """Return the description of the call that a request target stands for."""
    path = target.partition("?")[0].removeprefix(PUBLISHED["basePath"])
    for template, methods in PUBLISHED["paths"].items():
        pattern = re.sub(r"\{[^}]+\}", "[^/]+", template)
        # `operations` is a word of the API and no VM's id.
        literal = not template.endswith("{vm_id}") or not path.endswith("/operations")
        if literal and re.fullmatch(pattern, path) and method.lower() in methods:
            return dict(methods[method.lower()])
    raise AssertionError(f"{method} {path} is not published")


def check(value: object, kind: str, where: str) -> None:
    """Fail unless a value has a published type; what was not recorded is not judged."""
    if kind.startswith("["):
        assert isinstance(value, list), where
        for item in value:
            check(item, kind[1:-1], f"{where}[]")
    elif "|" in kind:
        assert value in kind.split("|"), where
    elif kind in TYPES:
        assert isinstance(value, TYPES[kind]), where
    elif definition := PUBLISHED["definitions"].get(kind):
        assert isinstance(value, dict), where
        assert set(definition["required"]) <= value.keys(), where
        for name, member in value.items():
            check(member, definition["properties"][name], f"{where}.{name}")


@pytest.mark.anyio
async def test_every_call_and_every_answer_is_as_published(
    crusoe: CrusoeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths, methods, parameters and bodies are the API's, and the local server answers in kind."""
    exchanges: list[tuple[Request, Reply]] = []
    handle = crusoe.server.api.reply

    def recording(request: Request, key: Any) -> Reply:  # noqa: ANN401
        reply = handle(request, key)
        exchanges.append((request, reply))
        return reply

    monkeypatch.setattr(crusoe.server.api, "reply", recording)
    crusoe.server.api.page = 2
    ids = [crusoe.add(f"gpu-{n}", public_ip="203.0.113.7") for n in range(3)]

    await check_key(crusoe.session)
    await project_id(crusoe.session, "training")
    await crusoe.cloud.list()
    await crusoe.cloud.list(names=["gpu-1"], ids=ids)
    begun = await crusoe.cloud.act(ids[0], Action.STOP)
    await crusoe.cloud.operation(begun.id)
    await crusoe.crusoe.operations(ids[0])
    crusoe.clock.advance(LONG)
    await crusoe.cloud.operation(begun.id)

    seen = set()
    for request, reply in exchanges:
        call = described(request.method, request.target)
        seen.add(call["operationId"])
        query = parse_qs(request.target.partition("?")[2])
        assert query.keys() <= set(call["query"])
        if call["body"]:
            check(json.loads(request.body), call["body"], "body")
        assert str(reply.status) in call["statuses"]
        check(json.loads(reply.body), call["returns"], call["returns"])
    everything = {
        call["operationId"] for methods in PUBLISHED["paths"].values() for call in methods.values()
    }
    assert seen == everything


def test_the_public_address_is_the_published_one() -> None:
    """Host and version prefix are those of the description."""
    assert f"https://{PUBLISHED['host']}{PUBLISHED['basePath']}" == DEFAULT


def test_our_actions_are_published_ones() -> None:
    """START, STOP and RESET are in the enumeration; RESTART is not in it and not in ours."""
    published = PUBLISHED["definitions"]["InstancesPatchRequestV1"]["properties"]["action"]

    assert set(Action) < set(published.split("|"))
    assert "RESTART" not in published.split("|")


def test_operation_states_are_the_published_ones() -> None:
    """Each published state of an operation has its meaning, and no other is made up."""
    published = PUBLISHED["definitions"]["Operation"]["properties"]["state"]

    assert set(OPERATION_STATES) == set(published.split("|"))


def test_the_state_of_a_vm_has_no_published_list() -> None:
    """While the description gives no enumeration, unknown words must be lived with."""
    assert PUBLISHED["definitions"]["InstanceV1"]["properties"]["state"] == "string"


def test_the_server_knows_the_published_parameters() -> None:
    """The local server is neither stricter nor laxer about names than the description."""
    listing = PUBLISHED["paths"]["/projects/{project_id}/compute/vms/instances"]["get"]
    patch = PUBLISHED["definitions"]["InstancesPatchRequestV1"]["properties"]

    assert set(listing["query"]) == LIST_QUERY
    assert patch.keys() == PATCH_MEMBERS


def test_errors_are_worded_as_published() -> None:
    """The description puts the number into `code` and the word into `message`."""
    assert {WORDS[int(code)] for code in PUBLISHED["errors"]} == set(PUBLISHED["errors"].values())
    assert PUBLISHED["error_required"] == ["code", "message"]


def test_statuses_beyond_the_description_are_known() -> None:
    """404, 409 and 429 are declared nowhere on these calls, yet clients meet them."""
    declared = {
        int(status)
        for methods in PUBLISHED["paths"].values()
        for call in methods.values()
        for status in call["statuses"]
    }

    assert {404, 409, 429}.isdisjoint(declared)
    assert {404, 409, 429} <= answers.BY_STATUS.keys()
