"""Prove a pre-flight: every machine is asked for every machine's names, short and full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bot.triage
from bot.errors import UsageError
from bot.hosts.matrix import Seen
from bot.hosts.remarks import headline
from bot.triage.preflight import preflight
from bot.triage.preflight_contract import PreflightV1, json_schema, to_json
from playground.fleet.faults import break_
from tests.behaviour.triage.world import JOB, World

pytestmark = pytest.mark.anyio

SCHEMA = Path(bot.triage.__file__).parent / "schema" / "preflight-1.json"


async def test_a_healthy_job_resolves_everything() -> None:
    """Names are those of the job's machines; the domain is found out on one of them."""
    found = await preflight(World().services(), job=str(JOB))

    assert not found.wrong
    assert found.domain == "fleet.internal"
    assert found.matrix.names[:2] == ("node-0", "node-0.fleet.internal")
    assert found.matrix.tally == {Seen.RESOLVED: 4 * 8}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("resolver-failed", "node-2 gets no answer"),
        ("search-domain-lost", "node-2"),
        ("record-missing", "node-2"),
        ("upstream-dead", "machines"),
        ("host-silent", "node-2"),
    ],
)
async def test_what_is_wrong_is_named(fault: str, words: str) -> None:
    """One machine's row, one name's column, or all of it."""
    world = World()
    break_(world.network, fault, "node-2")

    found = await preflight(world.services(), job=str(JOB))

    assert found.wrong
    assert words in headline(found.matrix)


async def test_a_vm_that_does_not_run_is_wrong_by_itself() -> None:
    """Whatever names do, the job cannot start there."""
    found = await preflight(World(states={"node-1": "STATE_SHUTOFF"}).services(), job=str(JOB))

    assert found.states == {"node-1": "STATE_SHUTOFF"}
    assert found.wrong


async def test_a_node_list_needs_no_job() -> None:
    """Before a job there are machines."""
    heard: list[tuple[str, int, int]] = []
    found = await preflight(
        World().services(), job=None, nodes="node-[1-2]", tell=lambda *said: heard.append(said)
    )

    assert [one.name for one in found.matrix.observers] == ["node-1", "node-2"]
    assert heard[-1] == ("looking names up", 2, 2)


async def test_what_cannot_be_asked_is_bad_usage() -> None:
    """Neither job nor machines, or no way in."""
    with pytest.raises(UsageError, match="needs a job ID"):
        await preflight(World().services(), job=None)
    with pytest.raises(UsageError, match=r"set up \[ssh\]"):
        await preflight(World().services(hosts=False), job=str(JOB))


async def test_the_contract_is_published_and_kept() -> None:
    """A change of the shape is a change of a file that reviewers see."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")
    found = await preflight(world.services(), job=str(JOB))

    told = PreflightV1.model_validate_json(to_json(found))

    assert json.loads(to_json(found))["schema"] == "nccl-dns/preflight/1"
    assert told.observers[2].failed["node-0"] == "no answer"
    assert told.observers[0].failed == {}
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()
