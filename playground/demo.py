"""The demo: a simulated fleet whose job cannot start, and a check of that job by its ID.

`python -m playground.demo` starts 32 machines with 8 ranks each in this process, breaks one's
resolver, asks about job 48213 as a person would, and prints the report.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from bot.app import build
from bot.reports.checks import of_check
from bot.reports.sections import Report
from bot.reports.terminal import show
from bot.settings import load
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.model import Checked
from playground.fleet.world import running

JOB = "48213"
BROKEN = "node-8"
FINDING = "resolver_failed"


async def checked(folder: Path) -> Checked:
    """Start the fleet, check the job, and stop the fleet."""
    _say("starting 32 machines with 8 ranks each; the resolver of one of them has failed")
    async with running(state_dir=folder, fault="resolver-failed", on=BROKEN) as fleet:
        settings = load(fleet.write_settings())
        _say(f"nccl-dns check {JOB}")
        async with build(settings, environ={}) as services:
            return await check(services, Asked(job=JOB), tell=_say)


def _say(text: str) -> None:
    sys.stdout.write(f"… {text}\n")
    sys.stdout.flush()


def is_right(found: Checked) -> bool:
    """Tell whether the check found what was broken: rank 64 of 256, its VM, and why."""
    if not found.machines:
        return False
    one = found.machines[0]
    names = [each.finding for each in one.findings]
    return one.host == BROKEN and 64 in one.ranks and one.vm is not None and FINDING in names  # noqa: PLR2004


def shown(report: Report) -> Report:
    """Return the report without most of its quoted lines, which would fill the screen."""
    most = 3
    return report._replace(
        sections=tuple(
            section._replace(rows=section.rows[:most])
            if section.title.startswith("Evidence")
            else section
            for section in report.sections
        )
    )


def main() -> int:
    """Run the demo; 1 where it does not find what it broke."""
    with tempfile.TemporaryDirectory(prefix="nccl-dns-demo-") as folder:
        found = asyncio.run(checked(Path(folder)))
    sys.stdout.write("\n")
    show(shown(of_check(found)))
    if not is_right(found):
        sys.stderr.write("The demo did not find what it had broken.\n")
        return 1
    sys.stdout.write(
        "\nnext: .venv/bin/nccl-dns diagnose YOUR.log\n"
        "      .venv/bin/python -m playground.fleet   # keeps the fleet up, to try things on\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
