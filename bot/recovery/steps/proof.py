"""The proof that all repairs share: names resolve, on the machine that did not find them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.recovery.doing import Doing
from bot.recovery.steps.step import Ended
from bot.recovery.world import Shown, Verdict


async def names_resolve(doing: Doing, *, booted_since: str = "") -> Ended:
    """Prove that names resolve on the machine now, and, where asked, that it was booted since.

    `booted_since` is the boot id from before. Given some time: a service that has just started,
    or a machine that has just booted, may need a few seconds.
    """
    await doing.tell("Proving it: the machine and a healthy one are asked for the names.")
    told = await doing.once("proof", lambda: _proven(doing))
    shown = Shown(**{**told, "verdict": Verdict(told["verdict"])})
    if booted_since and shown.boot_id == booted_since:
        why = f"The machine still has the boot id {booted_since}: it was not booted. {shown.why}"
        return Ended(verdict=Verdict.FAILED, why=why, proof=shown.outputs)
    return Ended.shown(shown, boot_id=shown.boot_id)


async def _proven(doing: Doing) -> dict[str, Any]:
    tools = doing.tools
    end = tools.now() + tools.waits.settle
    while True:
        shown = await tools.world.prove(doing.scene)
        if shown.verdict is Verdict.PASSED or tools.now() >= end:
            return asdict(shown)
        await tools.sleep(tools.waits.look.total_seconds())
