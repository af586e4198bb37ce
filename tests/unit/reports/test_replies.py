"""What stands in the thread: progress, quoted lines, probes as a table, and how it ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.diagnosis.result import Evidence
from bot.hosts.model import LoginFailure
from bot.reports.slack.placeholder import placeholder
from bot.reports.slack.reading import reading
from bot.reports.slack.replies import evidence, probes, summary
from bot.reports.slack.values import Progress, Source
from tests.unit.reports.judge import judge
from tests.unit.reports.made import (
    ALICE,
    ASKED,
    NOW,
    checked,
    diagnosis,
    entries,
    finding,
    incident,
    machine,
)
from tests.unit.reports.seen import controls, said


def test_progress_is_visible_from_the_first_second() -> None:
    """Nothing has answered yet: every source is named, and so is who asked."""
    view = placeholder(incident(), [Source(name="log"), Source(name="cloud")], now=NOW)
    judge(view)
    assert "Reading hall:48213: 0 of 2 done" in said(view)
    assert "○ log: waits" in said(view)
    assert f"Asked by @{ALICE}" in said(view)
    assert view.about["purpose"] == "report"


@pytest.mark.parametrize(
    ("progress", "wanted", "done"),
    [
        (Progress.PENDING, "○ cloud: waits", 0),
        (Progress.READING, "… cloud: reading", 0),
        (Progress.DONE, "✓ cloud: read", 1),
        (Progress.FAILED, "✗ cloud: no answer", 1),
        (Progress.SKIPPED, "– cloud: not asked", 1),
    ],
)
def test_each_source_answers_for_itself(progress: Progress, wanted: str, done: int) -> None:
    """A slow or failed source does not hide the others."""
    sources = [Source(name="cloud", progress=progress), Source(name="log")]
    view = placeholder(incident(), sources, now=NOW)
    judge(view)
    assert wanted in said(view)
    assert f"{done} of 2 done" in said(view)


def test_task_cards_are_for_clients_that_know_them() -> None:
    """The plan holds the same words, and the text beside it tells them to all others."""
    sources = [Source(name="cloud", progress=Progress.DONE, said="8 VMs")]
    view = placeholder(incident(), sources, now=NOW, cards=True)
    judge(view)
    task = view.blocks[0]["tasks"][0]
    assert (task["title"], task["status"]) == ("cloud", "complete")
    assert "cloud: 8 VMs." in view.text


def test_nothing_to_read_is_said() -> None:
    """An empty list of sources is a message all the same."""
    judge(placeholder(incident(), [], now=NOW))


def test_evidence_is_quoted_by_file_and_line_in_order() -> None:
    """A person can find each line again; it stands in preformatted text, as it was."""
    view = evidence(checked(), incident())
    judge(view)
    quoted = view.blocks[1]["elements"]
    assert quoted[0]["elements"][0]["text"] == "/shared/48213.err"
    assert quoted[1]["type"] == "rich_text_preformatted"
    assert quoted[1]["elements"][0]["text"].splitlines() == [
        "  17  [c10d] The IPv6 network addresses of …",
        "1204  gai error: -3",
    ]


def test_evidence_says_which_logs_were_not_read() -> None:
    """A missing log is a reason to doubt, so it is told where the lines are."""
    assert "/shared/48213.err unreadable on gpu-0: permission denied" in said(
        evidence(checked(), incident())
    )


def test_each_file_has_its_own_quote() -> None:
    """Lines of two files are never mixed; pasted text has no file."""
    found = tuple(Evidence(file=file, line=1, text="x") for file in ("a.err", None, "b.err"))
    view = evidence(checked(diagnosis=diagnosis(evidence=found)), incident())
    judge(view)
    titles = [block["elements"][0]["elements"][0]["text"] for block in view.blocks[1:]]
    assert titles == ["a.err", "pasted text", "b.err"]


def test_long_evidence_is_attached_whole() -> None:
    """The thread stays readable, and the file has every line."""
    found = tuple(Evidence(file="a.err", line=n, text="x" * 500) for n in range(1, 60))
    view = evidence(checked(diagnosis=diagnosis(evidence=found)), incident())
    judge(view)
    assert [each.name for each in view.attachments] == ["evidence-1.txt"]
    assert view.attachments[0].content.decode().count("x" * 500) == 59
    assert len(said(view)) < 4000


def test_a_key_of_several_lines_is_redacted_as_one() -> None:
    """Line numbers put before the lines must not hide a private key from the redactor."""
    key = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA04up8hoqzS1+APIB0RhjXyObwHQnOzhAk5Bd7mhkSbPkyhP1",
        "-----END RSA PRIVATE KEY-----",
    ]
    found = tuple(Evidence(file="a.err", line=n, text=text) for n, text in enumerate(key, 1))
    view = evidence(checked(diagnosis=diagnosis(evidence=found)), incident())
    assert "MIIEpAIBAAKCAQEA" not in said(view)


def test_probes_stand_side_by_side() -> None:
    """The machine at fault beside the healthy one, one row a question."""
    view = probes(checked(), incident(), now=NOW)
    judge(view)
    rows = [[reading(cell) for cell in row] for row in view.blocks[0]["rows"]]
    assert rows[0] == ["–", "gpu-8", "gpu-3 (healthy)"]
    assert rows[1] == ["Found", "resolver failed", "healthy now"]
    assert ["API state", *["RUNNING, 03:14:52 UTC (8 s old)"] * 2] in rows
    assert "Helps: restart resolver, reboot" in said(view)
    assert "Cannot help: support" in said(view)


def test_probes_of_many_machines_stay_readable() -> None:
    """Questions, two machines and the healthy one; the others are told in a line each."""
    many = checked(machines=tuple(machine(f"gpu-{n}") for n in range(9)))
    view = probes(many, incident(), now=NOW)
    judge(view)
    assert max(len(row) for row in view.blocks[0]["rows"]) == 4
    assert "gpu-8: resolver failed" in said(view)


def test_a_machine_that_lets_nobody_in_says_where_the_way_ended() -> None:
    """The failure is shown in words, and a key taken on trust is never hidden."""
    one = machine()
    assert one.probed is not None
    shut = replace(
        one, probed=replace(one.probed, failure=LoginFailure.HANGS.value, detail="no answer in 5 s")
    )
    trusting = replace(one, probed=replace(one.probed, host_key_on_first_use=True))
    view = probes(checked(machines=(shut, trusting)), incident(), now=NOW)
    assert "hangs: no answer in 5 s" in said(view)
    assert "host key taken on first use, without proof" in said(view)


def test_a_node_that_somebody_else_holds_is_quoted() -> None:
    """Whoever drained it is left alone."""
    held = machine(held='"memory test" by carol')
    assert 'Held by somebody else: "memory test" by carol' in said(
        probes(checked(machines=(held,)), incident(), now=NOW)
    )


def test_without_machines_there_is_a_sentence_instead_of_a_table() -> None:
    """An empty table would be refused."""
    view = probes(checked(machines=(), compared_with=None), incident(), now=NOW)
    judge(view)
    assert said(view) == "No machine was probed."


def test_the_summary_has_the_outcome_and_the_times() -> None:
    """What came of it, how long it took, and what was done when, by whom."""
    ended = incident(closed_at=ASKED + timedelta(minutes=12))
    view = summary(ended, entries(), outcome="The resolver runs again.", now=NOW)
    judge(view)
    assert "The resolver runs again.\nIt took 12 min." in said(view)
    assert f"03:14:20 UTC (+0 s) asked, @{ALICE}" in said(view)
    assert "03:15:00 UTC (+40 s) report shown" in said(view)
    assert controls(view) == []


def test_a_summary_of_a_long_incident_is_attached_whole() -> None:
    """Hundreds of entries are a file, not a wall of text."""
    many = entries() * 200
    view = summary(incident(), many, outcome="Done.", now=NOW)
    judge(view)
    assert view.attachments[0].content.decode().count("report shown") == 200


def test_findings_without_a_cause_are_told() -> None:
    """A probe that found nothing says why, where it can."""
    quiet = machine(findings=(), untold="The machine was not probed: level 1.")
    view = probes(checked(machines=(quiet,)), incident(), now=NOW)
    judge(view)
    assert "The machine was not probed: level 1." in said(view)
    assert finding().finding == "resolver_failed"
