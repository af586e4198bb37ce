"""Prove which commands are run on a login node, and how what they say is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from bot.schedulers.errors import (
    AccessError,
    RequestRefusedError,
    SchedulerError,
    SchedulerUnavailableError,
    UnknownNodeError,
    UnreadableAnswerError,
)
from bot.schedulers.model import Job, JobState, KnownFrom
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.runner import LocalRunner, Ran, Runner
from tests.unit.schedulers.test_shapes import recorded
from tests.unit.schedulers.test_texts import FAILED, NODE, SACCT, STEPS

pytestmark = pytest.mark.anyio

Answer = Callable[[str], Ran]


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


def ran(out: str = "", err: str = "", code: int = 0) -> Ran:
    """Return how a command ended."""
    return Ran(returncode=code, stdout=out.encode(), stderr=err.encode())


class Told(Runner):
    """Answer commands from a table of patterns, the first that fits, and keep what was asked."""

    def __init__(self, version: str, *answers: tuple[str, Ran]) -> None:
        self.answers = (("scontrol --version", ran(f"slurm {version}\n")), *answers)
        self.asked: list[str] = []

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        host: str | None = None,
        timeout: timedelta = timedelta(seconds=20),  # noqa: ASYNC109 - as the port has it
    ) -> Ran:
        """Answer one command, without the environment that stands before it."""
        del stdin, host, timeout
        plain = " ".join(argv).partition("SLURM_TIME_FORMAT=standard ")[2]
        self.asked.append(plain)
        return next(answer for pattern, answer in self.answers if re.match(pattern, plain))


def way(version: str, *answers: tuple[str, Ran]) -> tuple[LoginWay, Told]:
    """Return a login node of a Slurm release."""
    runner = Told(version, *answers)
    return LoginWay(cluster="hall", runner=runner), runner


async def test_old_commands_print_text() -> None:
    """Slurm 22.05: `scontrol -o`."""
    login, runner = way(
        "22.05.8",
        ("scontrol -o show job", ran(FAILED)),
        ("scontrol -o show node", ran(NODE)),
        ("scontrol -o show step", ran(STEPS)),
    )

    (job,) = await login.live(5)
    (node,) = await login.some_nodes(("n1",))
    steps = await login.steps(job)

    assert (job.label, node.name, [step.id for step in steps]) == ("2_1", "n1", ["batch", "0"])
    assert runner.asked[1:] == [
        "scontrol -o show job 5",
        "scontrol -o show node n1",
        "scontrol -o show step 5",
    ]


@pytest.mark.parametrize(
    ("version", "shape"), [("23.02.7", 39), ("23.11.10", 40), ("24.11.5", 42), ("25.05.1", 43)]
)
async def test_new_commands_print_json(version: str, shape: int) -> None:
    """From 23.02 on `scontrol --json` prints what slurmrestd of the same release does."""
    records = recorded(shape)
    login, runner = way(
        version,
        ("scontrol --json show job", ran(json.dumps({"jobs": [records["job"]]}))),
        ("scontrol --json show node", ran(json.dumps({"nodes": [records["node"]]}))),
    )

    (job,) = await login.live(48213)
    (node,) = await login.all_nodes()

    assert (job.id, job.exit_code, node.reason) == ("48213", 1, "RMA 4711")
    assert runner.asked[-1] == "scontrol --json show node"


async def test_broken_json_is_an_error() -> None:
    """A plug-in's message in place of JSON is shown."""
    login, _ = way("25.05.1", ("scontrol --json", ran("lua: oops")))

    with pytest.raises(UnreadableAnswerError, match="lua: oops"):
        await login.live(1)


async def test_a_login_node_without_slurm() -> None:
    """What is no version is shown."""
    login, _ = way("?")

    with pytest.raises(UnreadableAnswerError, match="version"):
        await login.live(1)


@pytest.mark.parametrize("version", ["22.05.8", "24.11.5"])
async def test_accounting_is_asked_for_the_columns_of_its_release(version: str) -> None:
    """Output paths are asked for where sacct has them; the job's name is always the last."""
    login, runner = way(version, ("sacct -P", ran(SACCT)))

    history = await login.history(48213)

    assert [job.label for job in history.jobs] == ["48213_7", "48214+1"]
    assert history.accounting is True
    assert ("StdOut,StdErr" in runner.asked[-1]) is (version == "24.11.5")
    assert runner.asked[-1].endswith(",WorkDir,JobName")


async def test_without_accounting_the_file_and_the_settings_are_asked() -> None:
    """The next number and the time to forget tell purged from unknown."""
    login, _ = way(
        "22.05.8",
        ("sacct -c", ran("JobID|State|ExitCode|NodeList|JobName\n7|FAILED|2:0|n[0-1]|x\n")),
        ("sacct", ran(err="Slurm accounting storage is disabled", code=1)),
        ("scontrol show config", ran("MinJobAge   = 300 sec\nNEXT_JOB_ID   = 48214\n")),
    )

    history = await login.history(7)

    assert (history.accounting, history.next_number, history.forgets_after) == (False, 48214, 300)
    assert [(job.state, job.exit_code, job.nodes) for job in history.jobs] == [
        (JobState.FAILED, 2, ("n0", "n1"))
    ]
    assert history.jobs[0].known_from is KnownFrom.COMPLETION_FILE


async def test_failures_without_accounting_skip_what_is_not_believed() -> None:
    """A job that imitates Slurm's fields does not hide the others."""
    fake = FAILED.replace("JobId=5", "JobId=6").replace("State=x", "StdOut=/etc/shadow")
    login, _ = way(
        "22.05.8",
        ("sacct -c", ran(code=1)),
        ("sacct", ran(err="Slurm accounting storage is disabled", code=1)),
        ("scontrol -o show job", ran(f"{fake}\n{FAILED}\n")),
    )

    assert [job.id for job in await login.failures(datetime(2026, 1, 1, tzinfo=UTC))] == ["5"]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller", SchedulerUnavailableError),
        ("error: Could not resolve slurmctld host", SchedulerUnavailableError),
        ("slurm_load_jobs error: Access/permission denied", AccessError),
        ("error: If munged is up, restart with --num-threads=10", AccessError),
        ("slurm_load_jobs error: Socket timed out on send/recv", SchedulerUnavailableError),
        ("something else", RequestRefusedError),
    ],
)
async def test_what_the_commands_complain_about(said: str, error: type[SchedulerError]) -> None:
    """A controller that is away, missing rights and refusals are three things, all quoted."""
    login, _ = way("22.05.8", ("scontrol", ran(err=said, code=1)))

    with pytest.raises(error, match=re.escape(said.partition("error: ")[2] or said)):
        await login.live(1)
    with pytest.raises(error, match="node n1 was not drained"):
        await login.drain("n1", "x")


@pytest.mark.parametrize("said", ["Job 2_9 not found", "slurm_load_jobs error: Invalid job id"])
async def test_a_job_that_the_controller_does_not_know(said: str) -> None:
    """It may be forgotten: that is no error yet."""
    login, _ = way("22.05.8", ("scontrol", ran(said, err=said, code=1)))

    assert await login.live(1) == ()


async def test_changes_are_plain_words() -> None:
    """Reasons and names are single arguments, and a list of nodes is none."""
    login, runner = way("22.05.8", (".*", ran()))

    await login.drain("gpu-03", "nccl-dns: x; reboot (was IDLE)")
    await login.resume("gpu-03")
    await login.hold("48213_7")
    await login.cancel("48213+1")
    await login.requeue("48213")

    assert runner.asked == [
        "scontrol update nodename=gpu-03 state=drain reason=nccl-dns: x; reboot (was IDLE)",
        "scontrol update nodename=gpu-03 state=resume",
        "scontrol hold 48213_7",
        "scancel --verbose 48213+1",
        "scontrol requeue 48213",
    ]
    for name in ("gpu-[01-04]", "gpu-01,gpu-02", "ALL state=down", ""):
        with pytest.raises(UnknownNodeError):
            await login.drain(name, "x")


async def test_an_error_of_scancel_counts_although_it_ends_with_0() -> None:
    """Scancel says so and goes on."""
    login, _ = way("22.05.8", ("scancel", ran(err="scancel: error: Kill job error on job id 9: x")))

    with pytest.raises(RequestRefusedError, match="job 9 was not cancelled"):
        await login.cancel("9")


async def test_the_script_of_a_foreign_job_is_not_there() -> None:
    """Without the right to it there is no script, and no error."""
    login, _ = way("22.05.8", ("scontrol write", ran(err="Access/permission denied", code=1)))
    job = Job(id="1", cluster="hall", state=JobState.FAILED, raw_state="FAILED")

    assert await login.script(job) == ""


async def test_commands_run_here_have_a_deadline() -> None:
    """A command that hangs is ended, a missing one is named, bytes come through as they are."""
    runner = LocalRunner()

    done = await runner.run(["sh", "-c", "cat; echo bad >&2; exit 3"], stdin=b"\xff\n")
    assert (done.returncode, done.stdout, done.err) == (3, b"\xff\n", "bad")
    with pytest.raises(SchedulerUnavailableError, match=r"sleep gave no answer within 0\.1 s"):
        await runner.run(["sleep", "30"], timeout=timedelta(seconds=0.1))
    with pytest.raises(SchedulerUnavailableError, match="cannot be run here"):
        await runner.run(["no-such-program-of-slurm"])
    with pytest.raises(SchedulerUnavailableError, match="n0 cannot be reached"):
        await runner.run(["true"], host="n0")
