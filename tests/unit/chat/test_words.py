"""What a person's words come to, and how Slack's markup of a paste is undone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chat.words import Kind, sort_out, written
from bot.schedulers.ids import Cluster
from bot.schedulers.model import Kind as SchedulerKind

HALL = (Cluster(name="hall", kind=SchedulerKind.SLURM),)


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("", Kind.NOTHING, ""),
        ("  help ", Kind.HELP, ""),
        ("STATUS", Kind.STATUS, ""),
        ("48213", Kind.JOB, "48213"),
        ("check slurm:48213", Kind.JOB, "slurm:48213"),
        ("hall:48213_7", Kind.JOB, "hall:48213_7"),
        ("https://slurm.example/jobs/48213", Kind.JOB, "https://slurm.example/jobs/48213"),
        ("link https://team.slack.com/x", Kind.LINK, "https://team.slack.com/x"),
        ("node-8: gai error: -3", Kind.LINES, "node-8: gai error: -3"),
        (
            "check the lines below\ngai error: -3",
            Kind.LINES,
            "check the lines below\ngai error: -3",
        ),
    ],
)
def test_words(text: str, kind: Kind, told: str) -> None:
    """Each form that help names is told from the others, and the rest is log lines."""
    found = sort_out(text, HALL)
    assert (found.kind, found.text) == (kind, told)


def test_one_word_that_is_nothing_says_what_a_job_looks_like() -> None:
    """A misspelled word is not taken for a log of one line."""
    found = sort_out("stauts", HALL)
    assert found.kind is Kind.UNKNOWN
    assert "Write it as 48213" in found.text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("<@U024BE7LH> 48213", "48213"),
        (
            "to <http://node-3.hall.internal|node-3.hall.internal>:29500",
            "to node-3.hall.internal:29500",
        ),
        ("&lt;unknown&gt; &amp; more", "<unknown> & more"),
        ("```\ngai error: -3\n```", "gai error: -3"),
        ("<http://node-3:29500>", "http://node-3:29500"),
        ("<@U024BE7LH|bot>", ""),
    ],
)
def test_markup_is_undone(marked: str, plain: str) -> None:
    """The engine reads what was pasted, not what Slack made of it."""
    assert written(marked) == plain


@given(st.text(alphabet=st.characters(exclude_characters="<>&`\r", exclude_categories=["Cs"])))
def test_text_without_markup_stays(text: str) -> None:
    """What Slack does not mark up is left as it is."""
    assert written(text) == text.strip()
