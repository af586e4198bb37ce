"""Faults of a whole fleet by name: what each changes on the machine and at the cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playground.fleet.faults import FAULTS


class UnknownFaultError(ValueError):
    """No fault of this name, or no machine; the message lists those that there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One fault as everybody sees it."""

    #: what is wrong with the machine now (a name of `FAULTS`)
    now: str
    #: what was wrong with it while the job ran, where that was something else
    then: str = ""
    #: what the cloud shows of its VM, where that is no running one
    vm_state: str = ""
    #: it hits the machine that serves the rendezvous, unless another one is named
    on_master: bool = False


CASES: Mapping[str, Case] = {
    **{name: Case(now=name) for name in FAULTS},
    # Its watchdog has restarted the resolver since.
    "resolver-hung-then-restarted": Case(now="resolver-hung-then-restarted", then="resolver-hung"),
    "record-missing": Case(now="record-missing", on_master=True),
    "vm-error": Case(now="host-silent", vm_state="STATE_ERROR"),
}


def case(name: str) -> Case:
    """Return a fault; raises UnknownFaultError, which lists the names."""
    if name not in CASES:
        raise UnknownFaultError(f"There is no fault {name!r}; there are {', '.join(CASES)}.")
    return CASES[name]
