"""What fuzzing and people who tried to break it have found; each was wrong once."""

from __future__ import annotations

import pytest

from bot.diagnosis import diagnose_bytes

LOOKUP = (
    "[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of "
    "(node-0.lab.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name "
    "resolution)."
)
SSH = "ssh: Could not resolve hostname w-0: Temporary failure in name resolution"


def test_a_recovered_look_up_need_not_be_c10ds() -> None:
    """The launcher's ssh fails, then the job runs: harmless, and no error in saying so."""
    found = diagnose_bytes(f"{SSH}\nstep 1 loss: 2.0\n".encode())
    assert found.cause == "harmless_warning"


@pytest.mark.parametrize(
    ("why", "lines"),
    [
        (
            "in the end of a log, whose beginning is cut off, others time out on the same name",
            [
                f"n02: {LOOKUP}",
                *(
                    f"n0{number}: [E socket.cpp:957] [c10d] The client socket has timed out after "
                    "1800s while trying to connect to (node-0.lab.internal, 29500)."
                    for number in (2, 3, 4)
                ),
            ],
        ),
        (
            "a process that then dies of its own exception had got beyond the look-up",
            [
                f"3: {LOOKUP}",
                "3: Traceback (most recent call last):",
                '3:   File "/opt/train/train.py", line 20, in <module>',
                "3: AssertionError: hidden size 4096 is not divisible by 24",
            ],
        ),
        (
            "one speaker under two labels is not two machines",
            [
                f"gpu-04: {LOOKUP}",
                (
                    "gpu-04: [rank3]:[W1130 19:20:02.000000001 TCPStore.cpp:125] [c10d] recvValue "
                    "failed on SocketImpl(fd=4, addr=[gpu-04]:57434, remote=[gpu-01]:29500): gone"
                ),
            ],
        ),
        ("rank 0 serves the store: the name is its own", [f"0: {LOOKUP}"] * 3),
        ("a text that is no host name", [LOOKUP.replace("node-0.lab.internal", "10.0.0.256")]),
        ("a run-book that quotes the message", [f"* `{LOOKUP}`", "  Restart systemd-resolved."]),
        (
            "only the store's own machine has reached it",
            [
                *(f"{rank}: {LOOKUP}" for rank in range(2, 8)),
                "1: torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /x",
                (
                    "0: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for "
                    "clients. 2/8 clients joined."
                ),
            ],
        ),
        ("a clone that failed, before the job ran", [SSH.replace("w-0", "github.com")]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_restart_is_advised(why: str, lines: list[str]) -> None:
    """Each of these was taken for a sick resolver once."""
    found = diagnose_bytes("\n".join(lines).encode() + b"\n")
    assert not found.restart_may_help, (why, found.summary)


def test_a_machine_that_was_connected_is_not_named_by_elimination() -> None:
    """The first task to exit after a nameless look-up is not the sick one if it was connected."""
    log = (
        "socket.gaierror: [Errno -3] Temporary failure in name resolution\n"
        "The node 'node-1_437_0' has failed to shutdown the rendezvous '42' due to an error of "
        "type RendezvousConnectionError.\n"
        "srun: error: node-1: task 1: Exited with exit code 1\n"
    )
    assert all(one.host != "node-1" for one in diagnose_bytes(log.encode()).affected)
