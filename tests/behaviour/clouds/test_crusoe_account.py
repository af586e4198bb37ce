"""Prove what a key is checked for, and how a project is found."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.clouds.crusoe.account import KeyCheck, check_key, project_id
from bot.clouds.crusoe.cloud import CrusoeCloud
from bot.clouds.errors import ClockSkewError, CloudSetupError, UnreadableAnswerError
from playground.crusoe.faults import Fault, json_reply
from tests.behaviour.clouds.lab import CrusoeLab

pytestmark = pytest.mark.anyio


async def test_a_good_key_tells_whose_it_is(crusoe: CrusoeLab) -> None:
    """One cheap question answers user, role and clock."""
    crusoe.clock.lead = timedelta(seconds=7)

    checked = await check_key(crusoe.session)

    assert checked == KeyCheck(user="ada@example.com", role="Admin", skew=timedelta(seconds=-7))
    assert [one.request.target for one in crusoe.server.served] == ["/v1/users/identities"]


async def test_an_identity_of_another_shape_still_proves_the_key(crusoe: CrusoeLab) -> None:
    """Whoever it is, the signature was taken."""
    crusoe.server.fail(Fault(gives=json_reply(200, {"identity": None})))

    assert (await check_key(crusoe.session)).user == ""


async def test_a_check_with_a_wrong_clock_says_so(crusoe: CrusoeLab) -> None:
    """The check is made once, and blames the clock where that is to blame."""
    crusoe.clock.lead = timedelta(hours=1)

    with pytest.raises(ClockSkewError, match="3600 s behind"):
        await check_key(crusoe.session)

    assert len(crusoe.server.served) == 1


async def test_a_project_is_found_by_name_or_id(crusoe: CrusoeLab) -> None:
    """Configurations of Crusoe's tools hold either."""
    assert await project_id(crusoe.session, "training") == crusoe.project
    assert await project_id(crusoe.session, crusoe.project.upper()) == crusoe.project


async def test_a_project_is_never_picked(crusoe: CrusoeLab) -> None:
    """None of that name, or two of it, is an error with what there is."""
    with pytest.raises(CloudSetupError, match=r"no Crusoe project 'trainin'\. It sees: training"):
        await project_id(crusoe.session, "trainin")

    crusoe.server.world.projects["another-id"] = "training"
    with pytest.raises(CloudSetupError, match=r"2 Crusoe projects.*None was picked"):
        await project_id(crusoe.session, "training")


async def test_a_list_of_projects_that_is_none(crusoe: CrusoeLab) -> None:
    """An answer of another shape is said to be one."""
    crusoe.server.fail(Fault(gives=json_reply(200, {"things": []})))

    with pytest.raises(UnreadableAnswerError, match="items"):
        await project_id(crusoe.session, "training")


@pytest.mark.parametrize("odd", ["", "../users", "a/b", "training set", "x" * 65])
async def test_a_project_that_cannot_stand_in_a_path(crusoe: CrusoeLab, odd: str) -> None:
    """No setting can lead a request out of its project."""
    with pytest.raises(CloudSetupError, match="not the id of a Crusoe project"):
        CrusoeCloud(crusoe.session, project=odd)
