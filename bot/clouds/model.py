"""VMs, what may be done to them, and what became of it: values, free of I/O."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.clouds.errors import NotOneVmError


class Action(enum.StrEnum):
    """What we ever ask a cloud to do to a VM; nothing else is in the code."""

    START = "START"
    STOP = "STOP"
    RESET = "RESET"


class VmState(enum.StrEnum):
    """What a cloud's word for a VM's state comes to."""

    #: the hypervisor runs it; that says nothing of the guest
    RUNNING = "running"
    STOPPED = "stopped"
    #: the cloud itself says that something is wrong
    ERROR = "error"
    #: deleted, or on its way out
    DELETED = "deleted"
    #: between two states, or a word that we do not know: wait and show it as it is
    TRANSITIONAL = "transitional"


#: Words without their `STATE_`. Crusoe publishes no list: these are what its Terraform provider,
#: cloud controller manager and autoscaler accept and what its console shows.
STATES = {
    "RUNNING": VmState.RUNNING,
    "SHUTOFF": VmState.STOPPED,
    "STOPPED": VmState.STOPPED,
    "SHUTDOWN": VmState.STOPPED,
    "ERROR": VmState.ERROR,
    "CRASHED": VmState.ERROR,
    "DELETING": VmState.DELETED,
    "DELETED": VmState.DELETED,
}


def state_of(word: str) -> VmState:
    """Return what a cloud's word for a state comes to; an unknown one is transitional."""
    return STATES.get(word.strip().upper().removeprefix("STATE_"), VmState.TRANSITIONAL)


class OperationState(enum.StrEnum):
    """How far an action has come."""

    IN_PROGRESS = "in progress"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    #: the cloud no longer tells: absent, expired or another user's. Not a failure: read the VM
    LOST = "lost"


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicAddress:
    """An address that the internet can reach."""

    address: str
    #: `static` survives a stop and start, `dynamic` does not; empty where the cloud does not say
    kind: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vm:
    """One VM as the cloud described it at one moment."""

    #: equals the guest's SMBIOS system UUID on Crusoe
    id: str
    name: str
    #: product name, such as `h100-80gb-sxm-ib.8x`
    type: str
    location: str
    project: str
    state: VmState
    #: the cloud's own word for the state, to be shown to people
    raw_state: str
    #: IPv4, of all interfaces in the cloud's order
    private_ips: tuple[str, ...] = ()
    public_ips: tuple[PublicAddress, ...] = ()
    #: when the answer that says so was read, UTC
    read_at: datetime
    created_at: datetime | None = None
    updated_at: datetime | None = None
    #: such as `On-demand` or `Spot`; empty where the cloud does not say
    billing: str = ""
    reservation_id: str = ""
    instance_group_id: str = ""

    @property
    def loses_address(self) -> bool:
        """Say whether a stop and start may give it another public address."""
        return any(ip.kind != "static" for ip in self.public_ips)

    def is_machine(self, product_uuid: str) -> bool:
        """Say whether a guest with this SMBIOS UUID is this VM; case does not matter."""
        return self.id.casefold() == product_uuid.strip().casefold()


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One action under way on a VM, or what became of it."""

    id: str
    #: empty where the cloud no longer tells
    vm_id: str = ""
    #: None where the cloud does not say which
    action: Action | None = None
    state: OperationState
    #: the cloud's own word for the state
    raw_state: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None
    #: why it failed, such as `out_of_stock`
    code: str = ""
    message: str = ""
    read_at: datetime

    @property
    def is_over(self) -> bool:
        """Say whether asking again cannot bring news."""
        return self.state is not OperationState.IN_PROGRESS


#: A VM is shown some time after it was made; Crusoe's own controller waits this long.
MAYBE_TOO_NEW = "A VM made in the last two minutes may not be listed yet"


def only_vm(vms: Iterable[Vm], name: str) -> Vm:
    """Return the one VM of this exact name.

    Raises NotOneVmError where there is none or more than one: nothing is ever picked.
    """
    found = [vm for vm in vms if vm.name == name]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotOneVmError(
            f"No VM is named {name!r} in the project. Check the name and the project in the "
            f"settings. {MAYBE_TOO_NEW}."
        )
    ids = ", ".join(sorted(vm.id for vm in found))
    raise NotOneVmError(
        f"{len(found)} VMs are named {name!r} ({ids}). None was picked: give the VM's id."
    )
