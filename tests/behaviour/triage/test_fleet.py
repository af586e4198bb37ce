"""Prove a check on the whole simulated fleet, spoken to over HTTP and SSH alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.app import build
from bot.settings import load
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.model import Checked
from playground.fleet.cases import CASES
from playground.fleet.world import running

pytestmark = pytest.mark.anyio

#: fault → what is found first, and the rungs that are offered
TABLE: Mapping[str, tuple[str, list[int | None]]] = {
    "resolver-failed": ("resolver_failed", [1]),
    "resolver-hung": ("resolver_hung", [1]),
    "resolver-hung-then-restarted": ("resolver_hung_then_restarted", [0]),
    "upstream-dead": ("upstream_unreachable", [0, 5]),
    "resolv-conf-overwritten": ("resolv_conf_overwritten", [0]),
    "search-domain-lost": ("search_domain_lost", [0]),
    "record-missing": ("record_missing", [0]),
    "port-blocked": ("rendezvous_port_blocked", [0]),
    "host-silent": ("host_silent", [3]),
    "login-hangs": ("login_hangs", []),
    "vm-error": ("host_silent", [5]),
}
#: Faults that are no one machine's.
WIDE = frozenset({"upstream-dead", "record-missing"})


def test_every_fault_of_the_fleet_is_in_the_table() -> None:
    """A new fault has to be told from the others."""
    assert TABLE.keys() == CASES.keys()


async def checked_by_id(folder: Path, fault: str) -> Checked:
    """Break a small fleet and check its job by ID, with the settings that the fleet writes."""
    on = "" if fault == "record-missing" else "node-3"
    async with running(state_dir=folder, vms=5, ranks=2, fault=fault, on=on) as fleet:
        settings = load(fleet.write_settings())
        async with build(settings, environ={}) as services:
            assert not any("not asked:" in one for one in services.missing), services.missing
            return await check(services, Asked(job="48213"))


@pytest.mark.parametrize("fault", TABLE)
async def test_each_fault_is_told_from_the_others(fault: str, tmp_path: Path) -> None:
    """The ID is enough for the log, the ranks, the VM behind them, its state and the cause."""
    finding, rungs = TABLE[fault]

    checked = await checked_by_id(tmp_path, fault)

    assert checked.wrong
    assert checked.machines, checked.headline
    one = checked.machines[0]
    assert [each.finding for each in one.findings][:1] == [finding], (one.untold, checked.notes)
    assert [each.number for each in one.offers if each.offered] == rungs
    assert one.vm is not None
    assert one.vm.raw_state == ("STATE_ERROR" if fault == "vm-error" else "STATE_RUNNING")
    assert {log.reading for log in checked.logs} == {"read"}
    if fault in WIDE:
        assert one.findings[0].fleet_wide
    else:
        assert (one.host, one.ranks) == ("node-3", (6, 7))
