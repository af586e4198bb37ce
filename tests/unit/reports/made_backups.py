"""The forms and answers of a backup, made of any texts."""

from __future__ import annotations

from collections.abc import Mapping

from bot.reports.slack.backup_form import Form, back_up, looking, may_not_start, recorded
from bot.reports.slack.message import Message, View
from tests.unit.reports.made import ONCALL, Text, choices, usual


def backups(*, text: Text = usual) -> Mapping[str, Message | View]:
    """Return each of them, filled, empty and with a problem."""
    vm = text("backup.vm", "gpu-8")
    items = choices(3, text=text)
    form = Form(
        about="inc_01JDY gpu-8",
        vm=vm,
        said=(text("backup.said", "12.0 GB in 9 files go with the VM."),),
        items=items,
        proposed=frozenset(one.id for one in items[:2]),
        places=choices(2, text=text),
    )
    problem = Form(
        about="inc_01JDY gpu-8", vm=vm, said=(), problem=text("backup.problem", "It is silent.")
    )
    return {
        "backup, looking": looking(vm),
        "backup": back_up(form),
        "backup, impossible": back_up(problem),
        "backup, not allowed": may_not_start((ONCALL,)),
        "nothing to keep": recorded(vm),
    }
