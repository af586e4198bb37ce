"""No new work on a machine while a step ends what is there, and the node given back after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.recovery.doing import Doing
from bot.recovery.steps.step import Ended
from bot.recovery.world import Scene, Verdict
from bot.schedulers.errors import NotOursError, SchedulerError


def planned(scene: Scene) -> str:
    """Return what draining will do."""
    return f"Drain node {scene.host} of {scene.cluster} with our reason, keeping its prior state."


def planned_end(scene: Scene) -> str:
    """Return what is done once the step has passed."""
    return f"Resume node {scene.host} if that has passed and the drain is still ours."


async def drain(doing: Doing, why: str) -> dict[str, Any] | None:
    """Drain the machine's node, once; None where no scheduler knows the machine.

    A drain of ours that is there already is kept: doing it again changes nothing.
    """
    scene = doing.scene
    if not scene.cluster:
        return None
    await doing.tell(f"Draining {scene.host}.")

    async def drained() -> dict[str, Any]:
        made = await doing.tools.world.scheduler(scene).drain(scene.host, why)
        return {"reason": made.reason, "already": made.already}

    found: dict[str, Any] = await doing.once("drain", drained)
    return found


async def given_back(doing: Doing, ended: Ended, drained: dict[str, Any] | None) -> Ended:
    """Resume the node where the step has passed and the drain is ours; say what was done."""
    if drained is None:
        return ended
    if ended.verdict is not Verdict.PASSED:
        why = f"{ended.why} {doing.scene.host} stays drained ({drained['reason']})."
        return replace(ended, why=why)
    said = await doing.once("resume", lambda: _resumed(doing, drained["reason"]))
    return replace(ended, why=f"{ended.why} {said}")


async def _resumed(doing: Doing, reason: str) -> str:
    scene = doing.scene
    try:
        await doing.tools.world.scheduler(scene).resume(scene.host, reason)
    except NotOursError as error:
        return f"{scene.host} was not resumed: {error}"
    except SchedulerError as error:
        return f"{scene.host} stays drained, for the scheduler did not resume it: {error}"
    return f"{scene.host} was resumed."
