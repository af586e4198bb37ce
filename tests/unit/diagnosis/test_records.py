"""Structured lines: the text and who logged it, out of the shapes that shippers write."""

from __future__ import annotations

import json

import pytest

from bot.diagnosis import diagnose_bytes
from bot.diagnosis.origin import NOWHERE, Origin
from bot.diagnosis.records import records_of
from bot.diagnosis.unpack import unpack

LINE = (
    "[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of "
    "(node-0.lab.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name "
    "resolution)."
)

#: One line in the shapes of common shippers, and the machine that each names.
SHAPES: dict[str, tuple[object, str | None]] = {
    "Loki, exported": (
        {"stream": {"node": "gpu-1", "pod": "w-0"}, "ts": "x", "line": LINE},
        "gpu-1",
    ),
    "Loki, query": (
        {"data": {"result": [{"stream": {"pod": "w-0"}, "values": [["1764523578", LINE]]}]}},
        "w-0",
    ),
    "Datadog": ({"host": "gpu-1", "message": LINE, "service": "train"}, "gpu-1"),
    "Datadog, nested": ({"attributes": {"host": "gpu-1", "message": LINE}}, "gpu-1"),
    "fluent-bit": ({"log": LINE + "\n", "kubernetes": {"host": "gpu-1", "pod_name": "w"}}, "gpu-1"),
    "CloudWatch": (
        {"events": [{"timestamp": 1, "message": LINE, "logStreamName": "job/algo-2-1764523578"}]},
        "algo-2",
    ),
    "Google": (
        {"textPayload": LINE, "resource": {"labels": {"node_name": "gpu-1"}}},
        "gpu-1",
    ),
    "journald": ({"_HOSTNAME": "gpu-1", "MESSAGE": LINE}, "gpu-1"),
    "OpenTelemetry": ({"body": LINE, "resource": {"k8s.node.name": "gpu-1"}}, "gpu-1"),
    "Elastic": ({"@timestamp": "x", "host": {"name": "gpu-1"}, "message": LINE}, "gpu-1"),
    "docker": ({"log": LINE + "\n", "stream": "stderr", "time": "2026-11-30T17:26:18Z"}, None),
    "elastic error file": ({"message": {"message": LINE, "extraInfo": {}}}, None),
}


@pytest.mark.parametrize("name", SHAPES)
def test_text_and_machine_are_found(name: str) -> None:
    """Whatever the shipper calls its fields."""
    record, host = SHAPES[name]
    (peeled, raw), *more = unpack(json.dumps(record).encode(), NOWHERE)
    assert not more
    assert peeled.text == raw == LINE
    assert peeled.origin.host == host


@pytest.mark.parametrize("name", SHAPES)
def test_records_in_one_endless_line_are_read(name: str) -> None:
    """A query's answer may be one array of many records, over a block and more."""
    record, host = SHAPES[name]
    text = json.dumps([record] * 900)
    found = diagnose_bytes(text.encode())
    assert found.peers[0].lookups == 900
    assert [one.host for one in found.affected] == [host]


def test_labels_tell_rank_node_rank_and_local_rank() -> None:
    """Each kind of number stays what it is."""
    record = {"rank": "64", "node_rank": 8, "local_rank": 0, "msg": "x"}
    (found,) = records_of(json.dumps(record)) or []
    assert found.origin == Origin(rank=64, node_rank=8, local_rank=0)


def test_the_path_in_a_record_tells_its_speaker() -> None:
    """Tailing agents note the file that they read."""
    (found,) = records_of(json.dumps({"path": "/logs/rank_64.log", "message": "x"})) or []
    assert found.origin.rank == 64


def test_logfmt_is_a_record() -> None:
    """Text and labels of a `key="value"` line."""
    (found,) = records_of(f'ts=2026-11-30T17:26:18Z host=gpu-1 msg="{LINE}"') or []
    assert (found.text, found.origin.host, found.time) == (LINE, "gpu-1", "2026-11-30T17:26:18Z")


@pytest.mark.parametrize(
    "line",
    [
        "{'loss': 2.31, 'epoch': 0.01}",
        '{"broken": ',
        "{}",
        "[1, 2, 3]}",
        '{"a": 1}',
        "[" * 5000 + "{" + "}" * 3,
        '{"message": 5}',
        'x="',
    ],
)
def test_what_is_no_record_stays_a_line(line: str) -> None:
    """Dictionaries that training prints, and broken JSON, are text."""
    assert records_of(line) is None


def test_a_record_of_several_lines_gives_them_all() -> None:
    """An escaped line end is a line end."""
    text = json.dumps({"host": "gpu-1", "message": f"first\n{LINE}\r\nlast"})
    assert [peeled.text for peeled, _ in unpack(text.encode(), NOWHERE)] == ["first", LINE, "last"]
