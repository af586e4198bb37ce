"""What a restart would lose on one VM is read from what was seen of it, and nothing is made up."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from bot.clouds.model import PublicAddress, Vm, VmState
from bot.hosts import probes
from bot.hosts.model import Evidence, ProbeResult, Rung
from bot.recovery.losses import losses

NOW = datetime(2026, 11, 30, 3, 7, tzinfo=UTC)
MOUNTED = """\
22 1 259:1 / / rw - ext4 /dev/vda1 rw
31 22 0:44 / /home rw - nfs4 fs.hall.internal:/home rw
32 22 0:45 / /scratch rw - lustre 10.0.0.9@o2ib:/scratch rw
33 22 0:46 / /data rw - nfs4 10.0.0.8:/data rw
"""


def said(name: str, text: str, rc: int | None = 0) -> ProbeResult:
    """Return a probe's answer."""
    return ProbeResult(name=name, rc=rc, duration=timedelta(seconds=1), output=text.encode())


def evidence(*results: ProbeResult) -> Evidence:
    """Return what a machine answered."""
    return Evidence(vm_id="1", name="n8", at=NOW, results={one.name: one for one in results})


def vm(**changes: object) -> Vm:
    """Return a VM that was rented with a reservation."""
    told: dict[str, object] = {
        "id": "1", "name": "n8", "type": "h100.8x", "location": "us", "project": "p",
        "state": VmState.RUNNING, "raw_state": "STATE_RUNNING", "read_at": NOW,
        "reservation_id": "r-1",
    }  # fmt: skip
    return Vm(**(told | changes))  # type: ignore[arg-type]


def test_what_runs_and_what_is_in_memory_goes_with_every_boot() -> None:
    """Processes by owner and job, GPUs, and file systems in memory with something in them."""
    running = [
        {"pid": 1, "uid": 7, "user": "alice", "name": "python", "step": True},
        {"pid": 2, "uid": 7, "user": "alice", "name": "python", "step": True},
        {"pid": 3, "uid": 8, "user": "bob", "name": "vim", "step": False},
    ]
    disks = [
        {"mount": "/scratch", "kind": "tmpfs", "size_bytes": 9 * 10**9, "free_bytes": 6 * 10**9},
        {"mount": "/run", "kind": "tmpfs", "size_bytes": 9 * 10**9, "free_bytes": 6 * 10**9},
        {"mount": "/mnt/e", "kind": "tmpfs", "size_bytes": 10**9, "free_bytes": 10**9},
        {"mount": "/nvme", "kind": "ext4", "size_bytes": 9 * 10**9, "free_bytes": 10**9},
    ]
    found = losses(
        evidence(
            said(probes.PROCESSES.name, "\n".join(map(json.dumps, running))),
            said(probes.DISK.name, "\n".join(map(json.dumps, disks))),
            said(probes.GPU_PROCESSES.name, "1, python, 612 MiB\n2, python, 612 MiB\n"),
        ),
        vm(),
    )
    assert set(found) == {Rung.REBOOT, Rung.RESET, Rung.STOP_START}
    assert found[Rung.REBOOT] == (
        "2 processes of a job of alice",
        "1 process of bob outside of any job",
        "2 processes on its GPUs",
        "3.00 GB in memory at /scratch",
    )


def test_a_mount_by_name_comes_back_only_once_names_resolve() -> None:
    """Servers that are given by address do not hang on the resolver that is broken."""
    text = json.dumps({"target": None, "text": MOUNTED})
    (said_so,) = losses(evidence(said(probes.MOUNTS.name, text)), None)[Rung.RESET]
    assert said_so.startswith("/home: mounted from a server by name")


def test_a_stop_loses_what_is_not_reserved() -> None:
    """Without a reservation and with a dynamic address, a start may not bring back either."""
    assert losses(None, vm()) == {}
    address = PublicAddress(address="203.0.113.9", kind="dynamic")
    found = losses(None, vm(reservation_id="", public_ips=(address,)))
    assert set(found) == {Rung.STOP_START}
    assert "203.0.113.9" in found[Rung.STOP_START][0]
    assert "out_of_stock" in found[Rung.STOP_START][1]


def test_what_was_not_seen_is_not_said() -> None:
    """A machine that answered nothing has no losses of its own, and a silent GPU is not idle."""
    assert losses(None, None) == {}
    assert losses(evidence(), vm()) == {}
    hung = losses(evidence(said(probes.GPU_PROCESSES.name, "", None)), vm())
    assert "not known" in hung[Rung.REBOOT][0]
