"""Prove that no answer of a scheduler, however odd, ends in anything but a value or our error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.schedulers.errors import SchedulerError
from bot.schedulers.model import Job, JobState, KnownFrom, Limits, Stream
from bot.schedulers.slurm import far, logs, patterns, script, shapes, texts
from tests.unit.schedulers.test_shapes import recorded

KEYS = sorted({*recorded(38)["job"], *recorded(43)["job"], *recorded(43)["accounted"]})
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYS, "set", "number", "infinite"]), inner, max_size=4)
    ),
    max_leaves=12,
)
ROWS = st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=12)
SLURMISH = st.lists(
    st.sampled_from(
        [
            *("JobId=", "NodeName=n0", "StepId=1.0", "NodeList=n[0-", "NodeList=n[0-3]"),
            *("StdOut=/x", "ExitCode=1:0", "StartTime=9999-99", "State=IDLE+", "Reason=[a@b]"),
            *(" ", "\n", "|", "JobID|State|JobName\n", "48213_7|RUNNING|x\n", "=", "\x00"),
        ]
    ),
    max_size=30,
).map("".join)
JOB = Job(id="1", cluster="c", state=JobState.FAILED, raw_state="FAILED", work_dir="/w")


@given(ROWS)
def test_any_json(row: dict[str, object]) -> None:
    """Wrong types and missing fields are "not told"."""
    for read in (shapes.job_of, shapes.accounted_job_of, shapes.node_of):
        try:
            read(row, "hall")
        except SchedulerError:
            continue
    shapes.errors(row)


@given(SLURMISH)
def test_any_text(output: str) -> None:
    """Broken records, headers without rows and impossible times."""
    for first, read in (("JobId", texts.job_of), ("NodeName", texts.node_of)):
        for fields in texts.records(output, first):
            try:
                read(fields, "hall")
            except SchedulerError:
                continue
    try:
        texts.accounted_jobs(output, "hall", known_from=KnownFrom.ACCOUNTING)
    except SchedulerError:
        return


@given(st.text(max_size=300) | SLURMISH, st.text(max_size=40))
def test_any_script_and_any_path(source: str, path: str) -> None:
    """What a user writes leads to a plan whose patterns are absolute and of one line."""
    said = script.read(f"#!/bin/bash\nsrun -o {path} ./a\n{source}", JOB)
    for wanted in logs.plan(JOB, said, [path]).wanted:
        assert wanted.glob.pattern.startswith("/")
        assert "\n" not in wanted.glob.pattern
    patterns.expand(path, patterns.letters_of(JOB), "/w")


@given(st.binary(max_size=300), st.lists(st.sampled_from(["file", "lines", "tail", "end", "full"])))
def test_any_answer_of_the_far_side(data: bytes, words: list[str]) -> None:
    """A login shell's greeting, noise and torn sections are no files."""
    noise = b"\n".join([data, *(f"\nM {word} 0 1 1 0 0".encode() for word in words), data])
    wanted = [far.Wanted(glob=patterns.Glob(pattern="/x", shown="/x"), stream=Stream.BOTH)]

    files, _ = far.files_in(noise, "M", wanted, Limits())

    assert all(
        len(file.numbers)
        == file.text.count(b"\n") + (not file.text.endswith(b"\n") and bool(file.text))
        for file in files
    )
