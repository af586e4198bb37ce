"""The form of a restart, made of any texts."""

from __future__ import annotations

from collections.abc import Mapping

from bot.reports.slack.message import Message, View
from bot.reports.slack.restart_form import Fits, Form, Rung, looking, restart
from tests.unit.reports.made import Text, usual


def restarts(*, text: Text = usual) -> Mapping[str, Message | View]:
    """Return it while the VM is looked at, filled, with nothing to choose, and with a problem."""
    vm, about = text("restart.vm", "gpu-8"), "inc_01JDY gpu-8"
    rungs = tuple(
        Rung(
            id=f"rung_{number}",
            number=number,
            what=text(f"restart.what {number}", "Reboot inside the guest."),
            loses=text(f"restart.loses {number}", "memory and tmpfs"),
            here=(text(f"restart.here {number}", "8 processes of a job of alice"),),
            fits=fits,
            why=(text(f"restart.why {number}", "The resolver has failed."),),
        )
        for number, fits in enumerate(Fits)
    )
    none = tuple(one for one in rungs if one.fits in {Fits.NOT_NOW, Fits.BESIDE})
    said = (text("restart.said", "The run can still be saved until 03:37 UTC."),)
    return {
        "restart, looking": looking(vm),
        "restart": restart(
            Form(about=about, vm=vm, rungs=rungs, recommended=rungs[0].id, said=said)
        ),
        "restart, nothing": restart(Form(about=about, vm=vm, rungs=none)),
        "restart, impossible": restart(
            Form(about=about, vm=vm, problem=text("restart.problem", "It is silent."))
        ),
    }
