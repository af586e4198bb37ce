"""The table of steps: a new one is a file beside this and a row here."""

from __future__ import annotations

from collections.abc import Mapping

from bot.recovery.steps.back_up import BackUp
from bot.recovery.steps.guest import Reboot, RestartResolver
from bot.recovery.steps.lifecycle import Reset, Start, StopForSupport, StopStart
from bot.recovery.steps.step import Step

STEPS: Mapping[str, Step] = {
    one.name: one
    for one in (
        RestartResolver(),
        Reboot(),
        Reset(),
        StopStart(),
        StopForSupport(),
        Start(),
        BackUp(),
    )
}
