"""Prove how output patterns become paths that a shell expands to these files and no others."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.schedulers.model import Job, JobState
from bot.schedulers.slurm.patterns import ANY, default_output, expand, letters_of

JOB = Job(
    id="48220",
    cluster="hall",
    state=JobState.FAILED,
    raw_state="FAILED",
    name="pretrain",
    user="ada",
    batch_host="gpu-01.example",
    work_dir="/home/ada/run",
)
TASK = replace(JOB, array_job=48213, array_task=17)


@pytest.mark.parametrize(
    ("pattern", "job", "path"),
    [
        ("out-%j.log", JOB, "/home/ada/run/out-48220.log"),
        ("/logs/%u/%x-%A_%a.out", TASK, "/logs/ada/pretrain-48213_17.out"),
        ("%A.log", JOB, "/home/ada/run/48220.log"),
        ("%b.log", TASK, "/home/ada/run/7.log"),
        ("%N-%n-%t-%s-%J.log", JOB, "/home/ada/run/gpu-01-0-0-batch-48220.log"),
        ("%4a-%3t.log", TASK, "/home/ada/run/0017-000.log"),
        ("100%%-%j.log", JOB, "/home/ada/run/100%-48220.log"),
        ("\\%j.log", JOB, "/home/ada/run/%j.log"),
        ("%.log", JOB, "/home/ada/run/%.log"),
    ],
)
def test_the_letters_of_a_batch_script(pattern: str, job: Job, path: str) -> None:
    """sbatch(1)'s letters, widths, `%%` and the backslash that switches them off."""
    glob = expand(pattern, letters_of(job), job.work_dir)

    assert glob is not None
    assert (glob.shown, glob.many) == (path, False)


@pytest.mark.parametrize(
    ("pattern", "step", "path"),
    [
        ("step-%j.%s-%t.log", "0", "/home/ada/run/step-48220.0-*.log"),
        ("%J-%N.log", "3", "/home/ada/run/48220.3-*.log"),
        ("%s-%n.log", "", "/home/ada/run/*-*.log"),
        (f"{ANY}/attempt_{ANY}/std{ANY}.log", None, "/home/ada/run/*/attempt_*/std*.log"),
    ],
)
def test_the_letters_that_differ_from_task_to_task(
    pattern: str, step: str | None, path: str
) -> None:
    """Task, node and an unknown step stand for anything within one name."""
    glob = expand(pattern, letters_of(JOB, step=step), JOB.work_dir)

    assert glob is not None
    assert (glob.shown, glob.many) == (path, True)


def test_a_job_name_does_not_lead_out_of_the_folder() -> None:
    """A slash in what a letter stands for is no folder, and a star in it no pattern."""
    job = replace(JOB, name="../../etc/*")
    glob = expand("%x.log", letters_of(job), "/w")

    assert glob is not None
    assert glob.pattern == "/w/.._.._etc_[*].log"
    assert not glob.many


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\0b"])
def test_what_is_no_path(pattern: str) -> None:
    """Empty ones and those that a list of lines cannot hold are left out."""
    assert expand(pattern, letters_of(JOB), "/w") is None


@pytest.mark.parametrize("end", ["\n", "\r", "\0"])
def test_a_name_with_a_line_end_names_no_file(end: str) -> None:
    """It cannot be a word of a command line, whoever brought it in: the path or the job's name."""
    job = replace(JOB, name=f"pre{end}train")

    assert expand(f"/w/a{end}b.log", letters_of(JOB), "/w") is None
    assert expand("/w/%x.log", letters_of(job), "/w") is None
    assert expand("out.log", letters_of(JOB), f"/w{end}") is None


def test_a_relative_path_needs_the_folder() -> None:
    """Without WorkDir a relative path is nowhere."""
    assert expand("out.log", {}, "") is None


def test_the_default_name_of_an_output() -> None:
    """sbatch(1): slurm-%j.out, and slurm-%A_%a.out for an array."""
    assert (default_output(JOB), default_output(TASK)) == ("slurm-%j.out", "slurm-%A_%a.out")


@given(st.text(alphabet=" []*?!a-z$'\"`\\;&|~\u00e9", min_size=1, max_size=12))
def test_a_shell_expands_a_fixed_name_to_itself(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """Brackets, stars, quotes and dollars of a name mean themselves."""
    folder = tmp_path_factory.getbasetemp() / "names"
    folder.mkdir(exist_ok=True)
    plain = name.replace("\\", "")
    if not plain:
        return
    (folder / plain).touch()
    glob = expand(name, {}, str(folder))

    assert glob is not None
    ran = subprocess.run(
        ["sh", "-c", 'IFS=; for f in $1; do printf "%s\\n" "$f"; done', "sh", glob.pattern],
        capture_output=True,
        check=True,
    )
    assert str(Path(folder) / plain).encode() in ran.stdout.splitlines()
