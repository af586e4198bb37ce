"""Tickets and what they are drafted from; every foreign text can be replaced by another."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.clouds.model import Action, Operation, OperationState, VmState
from bot.incidents.incident import Entry, Incident
from bot.incidents.run import Run, RunState
from bot.incidents.statement import Kind, Statement
from bot.incidents.ticket import Capture
from bot.reports.tickets.bundle import Contents
from bot.reports.tickets.drafting import Known, drafted
from bot.reports.tickets.ticket import Ticket
from bot.triage.model import Checked
from tests.unit.reports.made import NOW, Text, checked, machine, usual

BEGAN = NOW - timedelta(hours=2)
INCIDENT = Incident(id="k3n9-x2", key="job:1", opened_at=BEGAN, cluster="hall", job_id="48213")


def in_error(*hosts: str, text: Text = usual) -> Checked:
    """Return a check that found the VMs of machines in ERROR."""
    made = []
    for host in hosts:
        one = machine(host, text=text)
        assert one.vm is not None
        vm = replace(one.vm, state=VmState.ERROR, raw_state=text("vm.raw_state", "STATE_ERROR"))
        made.append(replace(one, vm=replace(vm, id=f"{vm.id}-{host}", name=host)))
    return checked(text=text, machines=tuple(made))


def said(kind: Kind, vm: str = "gpu-8", *, text: str = "") -> Statement:
    """Return what was said of a VM."""
    return Statement(
        id=f"said-{kind}-{vm}", incident_id=INCIDENT.id, vm_name=vm, kind=kind, text=text,
        who="U024BE7LH", at=NOW - timedelta(minutes=5),
    )  # fmt: skip


def known(*hosts: str, text: Text = usual, **changes: object) -> Known:
    """Return everything that a ticket is drafted from: one repair was tried, one stop failed."""
    found = in_error(*(hosts or ("gpu-8",)), text=text)
    ids = [one.vm.id for one in found.machines if one.vm]
    ended = NOW - timedelta(minutes=20)
    made = Known(
        incident=INCIDENT,
        checked=found,
        said=(said(Kind.AT_RISK, text=text("at risk", "2 checkpoints, 120 GB")),),
        runs=(
            Run(
                id="run.0", approval_id="a", incident_id=INCIDENT.id, number=0,
                step="restart_resolver", vm_name="gpu-8", state=RunState.FAILED,
                sentence=text("run.sentence", "gpu-8 still does not find gpu-0."), ended_at=ended,
            ),
        ),
        titles={"restart_resolver": "Restart systemd-resolved"},
        operations={
            ids[0]: (
                Operation(
                    id="OP-1", vm_id=ids[0], action=Action.STOP, state=OperationState.FAILED,
                    raw_state="FAILED", started_at=ended, code=text("op.code", "internal_error"),
                    message=text("op.message", "host is gone"), read_at=NOW,
                ),
            )
        },
        contact=text("contact", "ML platform on call, +00 0000 0000"),
        now=NOW,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def ticket(*hosts: str, text: Text = usual, **changes: object) -> Ticket:
    """Return a ticket."""
    made = drafted(known(*hosts, text=text, **changes))
    assert made is not None
    return made


def contents(*, text: Text = usual) -> Contents:
    """Return what a bundle is made of."""
    told = known(text=text)
    incident = replace(INCIDENT, check={"headline": text("headline", "x")}, checked_at=NOW)
    return Contents(
        incident=incident,
        entries=(
            Entry(at=BEGAN, kind="opened", who="U024BE7LH"),
            Entry(at=NOW, kind="checked", text=text("entry", "gpu-8: VM in ERROR.")),
        ),
        said=told.said,
        runs=told.runs,
        captures=(
            Capture(
                id="1", incident_id=INCIDENT.id, at=NOW, why="look",
                outputs={
                    f"probes/{text('machine.host', 'gpu-8')}/resolv_conf": text("output", "x"),
                    "log//shared/48213.err": text("log", "gai error: -3"),
                },
            ),
        ),
        ticket=ticket(text=text),
    )  # fmt: skip
