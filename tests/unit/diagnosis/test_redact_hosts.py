"""Asked for, machine names and addresses become pseudonyms that still tell machines apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.redact import redact
from bot.diagnosis.redact_hosts import SHAPES, hide_host_names

LINES = (
    ("addresses of (py041, 29500) cannot", "addresses of (host-1, 29500) cannot"),
    ("addresses of (mira, 29500) cannot", "addresses of (host-1, 29500) cannot"),
    (
        "addr=[node-3.lab.internal]:58112, remote=[node-0.lab.internal]:29500",
        "addr=[host-1]:58112, remote=[host-2]:29500",
    ),
    ("[::ffff:10.0.0.5]:29500 and 10.0.0.5:29500", "[addr-1]:29500 and addr-1:29500"),
    ("64: py041:812:901 [3] NCCL INFO x", "64: host-1:812:901 [3] NCCL INFO x"),
    ("srun: error: gpu-a-7: task 5: Exited", "srun: error: host-1: task 5: Exited"),
    ("*** STEP 6.0 ON gpu-a-7 CANCELLED AT", "*** STEP 6.0 ON host-1 CANCELLED AT"),
    ("Job 6 on gpu-a-[0-3]", "Job 6 on host-1-[0-3]"),
    ("[gpu-8:default3]: hi", "[host-1:default3]: hi"),
    ("2026-05-01T10:00:00.5Z gpu-8 slurmd[81]: x", "2026-05-01T10:00:00.5Z host-1 slurmd[81]: x"),
    ("MASTER_ADDR=py041", "MASTER_ADDR=host-1"),
    ("  host      : py041 (local_rank: 3)", "  host      : host-1 (local_rank: 3)"),
    ("[ana@py041:train]$ ls", "[ana@host-1:train]$ ls"),
    ("tcp://py041.lab:29500", "tcp://host-1:29500"),
    ("looked up worker.us-east1-a.compute.internal", "looked up host-1"),
    ("Anas-MacBook-Air.local is me", "host-1 is me"),
    ("connect to py041 failed", "connect to host-1 failed"),
    ("eth0:172.27.3.3<0>", "eth0:addr-1<0>"),
    ("ip=[2001:db8:7a51:4900:a77c:75f9:c941:53e1]", "ip=[addr-1]"),
    ("fe80::1ff:fe23:4567:890a%eth0", "addr-1%eth0"),
)


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_each_known_shape_loses_its_host(line: str, expected: str) -> None:
    """A name or address in a known place becomes a pseudonym, the rest of the line stays."""
    assert redact(line, hide_hosts=True).text == expected


@pytest.mark.parametrize(("line", "_expected"), LINES)
def test_hosts_stay_unless_asked(line: str, _expected: str) -> None:
    """Without the wish, every host and address is readable: it is the diagnosis."""
    assert redact(line).text == line


@pytest.mark.parametrize(
    "line",
    [
        "addresses of (localhost, 29500) at 127.0.0.1, ::1, 0.0.0.0 and [::]:29500",
        "frame #3: c10d::TCPStore::TCPStore(int, 4096) + 0x4be (0x7f3a5c1e2d4e in libtorch.so)",
        "12:34:56 torch 2.5.1 NCCL 2.21.5 std::vector a::b",
        "[rank3]:12 connect to the server, resolve any host",
        "threading.local of (rank3, 12)",
        "connected to database, ssh works, resolve names",
    ],
)
def test_what_names_no_machine_stays(line: str) -> None:
    """Loopback, versions, times, C++ names and ranks are left alone."""
    assert redact(line, hide_hosts=True).text == line


def test_one_machine_has_one_pseudonym() -> None:
    """Short name, full name and any case are one machine, in every place, numbered as they come."""
    text = "srun: error: node-b: task 1: x\n[Node-B.lab.internal]:5 [node-a]:5 node-a.log NODE-B!"
    assert redact(text, hide_hosts=True).text == (
        "srun: error: host-1: task 1: x\n[host-1]:5 [host-2]:5 host-2.log host-1!"
    )


def test_a_learned_word_is_hidden_only_where_it_is_a_name() -> None:
    """A machine called like an everyday word is hidden in its place, the word elsewhere stays."""
    text = "srun: error: mira: task 1: x, mira said"
    assert redact(text, hide_hosts=True).text == "srun: error: host-1: task 1: x, mira said"


def test_a_taken_pseudonym_is_not_given_again() -> None:
    """A machine that is really called host-1 keeps its name, and no other gets it."""
    text = "[host-1]:5 [py041]:5 [host-3]:5 [py042]:5"
    assert redact(text, hide_hosts=True).text == "[host-1]:5 [host-2]:5 [host-3]:5 [host-4]:5"


def test_secrets_go_as_well_and_their_marks_stay() -> None:
    """Hiding hosts hides secrets, too, and never touches a mark."""
    text = "redis://:hunter2@redis-0:6379 (url-credentials-1, 5) to (url-credentials, 29500)"
    found = redact(text, hide_hosts=True)
    assert found.text.startswith("redis://[redacted:url-credentials]@host-1:6379 ")
    assert dict(found.counts) == {"url-credentials": 1}


FRAGMENTS = ("[", "]", ":", "(", ")", ", ", " ", "\n", "@", "://", ".", "-", "1", "a", "node-3")
MORE = ("10.0.0.5", "::", "fe80::1", "host-1", "addr-2", "host=", " on ", ".internal", "] NCCL ")


@given(
    text=st.lists(
        st.one_of(st.sampled_from(FRAGMENTS + MORE), st.text(st.characters(), max_size=4)),
        max_size=30,
    ).map("".join)
)
def test_hiding_twice_is_hiding_once(text: str) -> None:
    """Any text is done after one pass, with as many lines as before."""
    once = hide_host_names(text)
    assert hide_host_names(once) == once
    assert once.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "unit", ["[a1]:1 ", "1.1.1.1 ", "a.", "::", "1:1:1:1:", "@a1", " of (a, 1)"]
)
def test_a_megabyte_of_names_takes_no_age(unit: str) -> None:
    """No shape backtracks without bound, on lines and on one endless line."""
    text = unit * (200_000 // len(unit))
    assert redact(text, hide_hosts=True).text.count("\n") == 0


def test_each_shape_is_found_by_one_of_its_literals() -> None:
    """Every shape has an example above, or its literals would hide a mistake in it."""
    lines = [line for line, _ in LINES]
    for shape in SHAPES:
        assert any(
            shape.pattern.search(line) and any(part in line.lower() for part in shape.literals)
            for line in lines
        ), shape.pattern.pattern
