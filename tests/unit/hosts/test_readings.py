"""Prove that parsers read real answers, and take whatever a machine sends."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.hosts import readings
from bot.hosts.model import Probe, ProbeResult
from bot.hosts.probes import PROBES


def _result(text: str | bytes, rc: int | None = 0) -> ProbeResult:
    output = text if isinstance(text, bytes) else text.encode()
    return ProbeResult(name="x", rc=rc, duration=timedelta(0), output=output)


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "pid",
                    "name",
                    "code",
                    "addresses",
                    "text",
                    "target",
                    "answers",
                    "lookups",
                    "found",
                ]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
@given(junk=st.binary(max_size=300) | _JUNK.map(lambda value: json.dumps(value).encode()))
def test_no_answer_breaks_a_parser(probe: Probe[Any], junk: bytes) -> None:
    """Bytes, and JSON of another shape, are read as little or nothing and never raise."""
    for rc in (0, 1, None):
        probe.parse(_result(junk, rc))


def test_the_unit_of_a_resolver_that_was_given_up() -> None:
    """`systemctl show` of systemd 252 after five crashes."""
    unit = readings.unit(
        _result(
            "MainPID=0\nResult=core-dump\nNRestarts=5\nExecMainStatus=11\nActiveState=failed\n"
            "SubState=failed\n"
        )
    )

    assert (unit.active, unit.result, unit.restarts) == ("failed", "core-dump", 5)
    assert not unit.runs


def test_a_resolv_conf_as_glibc_reads_it() -> None:
    """Comments fall away, the last search line counts, and the stub is known."""
    text = "# made by hand\nnameserver 127.0.0.53\ndomain a\nsearch B.internal. c # d\noptions x\n"
    conf = readings.resolv_conf(_result(json.dumps({"target": "/run/x", "text": text})))

    assert conf.servers == ("127.0.0.53",)
    assert conf.search == ("b.internal", "c")
    assert conf.asks_stub
    assert conf.target == "/run/x"


def test_a_resolv_conf_that_is_not_there() -> None:
    """A dangling link is told from an empty file."""
    missing = readings.resolv_conf(_result(json.dumps({"target": "/run/x", "text": None}), 1))
    empty = readings.resolv_conf(_result(json.dumps({"target": None, "text": ""})))

    assert not missing.exists
    assert empty.exists


def test_the_journal_with_its_times() -> None:
    """Seconds since the epoch become UTC; other lines are passed over."""
    events = readings.journal(
        _result(
            "-- Boot 1 --\n1796068491.298082 node-1 systemd[1]: systemd-resolved.service: "
            "Watchdog timeout (limit 3min)!\n"
        )
    )

    assert [event.at for event in events] == [datetime(2026, 11, 30, 19, 54, 51, tzinfo=UTC)]
    assert "Watchdog timeout" in events[0].text


def test_a_probe_that_ran_out_of_time_is_an_answer() -> None:
    """A connection that hangs is a time-out, and look-ups that came back are kept."""
    connect = readings.connect(_result("", None))
    found = readings.lookups(_result('{"name":"a","code":-3,"addresses":[],"ms":1}\n', None))

    assert connect is not None
    assert connect.outcome == "timeout"
    assert found.timed_out
    assert found.by_name["a"].code == -3


def test_mounts_are_read_without_touching_them() -> None:
    """Kind and source stand behind the dash of mountinfo, whatever optional fields there are."""
    text = "36 35 98:0 / /home rw,noatime shared:1 - nfs4 10.0.0.5:/home rw\nbroken\n"
    mounts = readings.mounts(_result(json.dumps({"target": None, "text": text})))

    assert [(m.mount, m.kind, m.source) for m in mounts] == [("/home", "nfs4", "10.0.0.5:/home")]
