"""A check in a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.reports.checks import of_check
from bot.reports.terminal import show
from tests.unit.reports.made import NOW, checked, machine


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_vms_id_is_never_broken(width: int) -> None:
    """It is copied from here into a console's search field or a ticket."""
    one = machine("a-rather-long-name-of-a-machine-17")
    assert one.vm is not None
    out = io.StringIO()
    show(of_check(checked(machines=(one,)), NOW), Console(file=out, width=width))
    assert any(line.count(one.vm.id) for line in out.getvalue().splitlines())


def test_a_state_is_shown_without_the_prefix_of_all_states() -> None:
    """The cloud's own word, and when it was read."""
    report = of_check(checked(), NOW)
    assert report.sections[0].rows[0][2] == "RUNNING, read 8 s ago"


def test_a_vm_of_another_name_is_named() -> None:
    """Where the machine's name is not its VM's, both are needed."""
    one = machine("gpu-8")
    named = of_check(checked(machines=(one,)), NOW).sections[1].rows
    assert ("VM of gpu-8", "c55f8b50-9587-5256-956e-a5ea712bb374") in named
    other = machine("gpu-8", vm=machine("worker-17").vm)
    told = of_check(checked(machines=(other,)), NOW).sections[1].rows
    assert ("VM of gpu-8", "c55f8b50-9587-5256-956e-a5ea712bb374 worker-17") in told
