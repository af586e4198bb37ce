"""Prove on a real cluster what only Slurm does: ways, logs where they lie, forgotten jobs."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from bot.diagnosis import Launch, diagnose
from bot.diagnosis.kinds import Cause
from bot.schedulers import ids
from bot.schedulers.errors import (
    AccessError,
    NeedsWayError,
    PurgedJobError,
    SchedulerUnavailableError,
    UnknownJobError,
)
from bot.schedulers.excerpts import renumbered, sources
from bot.schedulers.ids import Cluster
from bot.schedulers.model import (
    DistributionFrom,
    JobLogs,
    JobState,
    Kind,
    KnownFrom,
    Limits,
    LogFile,
    Reading,
    Stream,
)
from bot.schedulers.placing import placement
from bot.schedulers.port import Operation
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.rest import RestWay
from bot.schedulers.slurm.runner import LocalRunner, Ran
from tests.behaviour.schedulers.conftest import PROGRAMS, login_way, rest_way
from tests.behaviour.schedulers.slurm_cluster import SlurmCluster, free_ports, wait_until
from tests.behaviour.schedulers.world import job_id

pytestmark = [pytest.mark.anyio, pytest.mark.needs(*PROGRAMS)]

EXAMPLE = Path(__file__).parents[3] / "bot" / "examples" / "resolver-failed.log"

#: Each task prints what the rank of its number printed, and fails where that one did. Steps that
#: went well before fill the log.
_REPLAY = f"""\
#SBATCH -N2 --ntasks-per-node=4 -J pretrain -o logs/%x-%j.out
seq -f 'loading shard %g of the corpus' {{filler}}
srun -l bash -c '
  own=$(grep "^$SLURM_PROCID: " {EXAMPLE} | cut -d" " -f2-)
  printf "%s\\n" "$own"
  case $own in *Traceback*) exit 1;; esac'
"""


@pytest.fixture
async def rest(cluster: SlurmCluster, anyio_backend: str) -> AsyncIterator[RestWay]:
    """Give the REST service."""
    del anyio_backend
    way = rest_way(cluster)
    yield way
    await way.aclose()


@pytest.fixture
def scheduler(cluster: SlurmCluster) -> SlurmScheduler:
    """Give the commands alone."""
    return SlurmScheduler("hall", [login_way(cluster)])


def lines_of(path: str) -> list[bytes]:
    """Return the lines of a file."""
    return Path(path).read_bytes().splitlines(keepends=True)


def by_name(logs: JobLogs) -> dict[str, LogFile]:
    """Return the files by the last part of their paths."""
    return {Path(file.path).name: file for file in logs.files}


@pytest.mark.parametrize("ways", ["login", "rest first"])
async def test_a_failing_job_is_found_placed_and_diagnosed_in_place(
    cluster: SlurmCluster, rest: RestWay, ways: str
) -> None:
    """From nothing but the ID: nodes, distribution, the log's few lines, and the right verdict."""
    login = login_way(cluster)
    scheduler = SlurmScheduler("hall", [login] if ways == "login" else [rest, login])
    (cluster.work / "logs").mkdir(exist_ok=True)
    number = cluster.submit(_REPLAY.format(filler=400_000))
    cluster.wait_for(number, "FAILED")
    clusters = [Cluster(name="hall", kind=Kind.SLURM)]

    asked = ids.parse(f"hall:{number}", clusters)
    job = await scheduler.job(asked)
    logs = await scheduler.logs(job)
    launch = Launch(hosts=job.nodes, ranks_per_node=job.ntasks_per_node)
    verdict = renumbered(diagnose(sources(logs), launch=launch), logs)

    assert (job.nodes, job.ntasks, job.ntasks_per_node) == (("n0", "n1"), 8, 4)
    assert (job.distribution, job.distribution_from) == ("block", DistributionFrom.SCRIPT)
    assert [rank.host for rank in placement(job).ranks] == ["n0"] * 4 + ["n1"] * 4
    assert verdict.cause is Cause.RESOLVER_FAILED
    assert [(one.host, one.ranks) for one in verdict.affected] == [("n1", (6, 7))]
    (file,) = logs.files
    assert file.path == str(cluster.work / "logs" / f"pretrain-{number}.out")
    assert file.size_bytes > 10_000_000
    assert len(file.text) < 200_000
    lines = lines_of(file.path)
    assert file.line_count == len(lines)
    assert [lines[line - 1] for line in file.numbers] == file.text.splitlines(keepends=True)
    assert verdict.evidence
    for quote in verdict.evidence:
        assert quote.line > 400_000
        assert quote.text.encode() == lines[quote.line - 1].rstrip(b"\n")


async def test_every_kind_of_output_is_found(
    cluster: SlurmCluster, scheduler: SlurmScheduler
) -> None:
    """Batch outputs, steps' files by task, torchrun's log folder and the cluster's own pattern."""
    number = cluster.submit(
        "#SBATCH -n2 -J 'my job[1]' -o 'out %x.log' -e err-%u-%A.log\n"
        "mkdir -p tr/run_abc/attempt_0/0; echo worker > tr/run_abc/attempt_0/0/stderr.log\n"
        'srun -o "step-%j.%s-%t.log" -e "${SLURM_SUBMIT_DIR}/step-err-$SLURM_JOB_ID.log" \\\n'
        "  sh -c 'echo rank $SLURM_PROCID; echo oops >&2'\n"
        "srun -n1 -o $SOMEWHERE/x.log true\n"
        ": torchrun --nnodes=2 --log-dir=tr train.py\n"
        "echo site > site-$SLURM_JOB_ID.txt\n"
        "exit 3"
    )
    cluster.wait_for(number, "FAILED")
    with_site = SlurmScheduler(
        "hall", [login_way(cluster)], log_patterns=[f"{cluster.work}/site-%j.*", "/no/such/%j"]
    )

    logs = await with_site.logs(await scheduler.job(job_id(number)))

    found = by_name(logs)
    assert found["out my job[1].log"].stream is Stream.STDOUT
    assert found[f"err-root-{number}.log"].stream is Stream.STDERR
    assert found[f"step-{number}.0-0.log"].text == b"rank 0\n"
    assert found[f"step-{number}.0-1.log"].stream is Stream.STEP
    assert found[f"step-err-{number}.log"].text == b"oops\noops\n"
    assert found["stderr.log"].stream is Stream.TORCHRUN
    assert found[f"site-{number}.txt"].stream is Stream.SETTINGS
    assert found[str(number)].reading is Reading.MISSING
    assert any("$SOMEWHERE/x.log" in note for note in logs.notes)


async def test_files_that_cannot_be_read_are_named(
    cluster: SlurmCluster, scheduler: SlurmScheduler
) -> None:
    """A deleted output is missing, a folder in its place unreadable; neither is skipped."""
    number = cluster.submit("#SBATCH -o gone-%j.out -e dir-%j.err\nexit 1")
    cluster.wait_for(number, "FAILED")
    (cluster.work / f"gone-{number}.out").unlink()
    (cluster.work / f"dir-{number}.err").unlink()
    (cluster.work / f"dir-{number}.err").mkdir()

    found = by_name(await scheduler.logs(await scheduler.job(job_id(number))))

    assert found[f"gone-{number}.out"].reading is Reading.MISSING
    assert found[f"dir-{number}.err"].reading is Reading.UNREADABLE
    assert found[f"dir-{number}.err"].because == "not a regular file"


async def test_a_job_cannot_have_somebody_elses_file_read(
    cluster: SlurmCluster, scheduler: SlurmScheduler
) -> None:
    """Anybody can name any path as output: what is not the user's own is not read for him."""
    foreign = cluster.work / "foreign.log"
    number = cluster.submit(f"#SBATCH -o {foreign} -e link-%j.err\nexit 1")
    cluster.wait_for(number, "FAILED")
    shutil.chown(foreign, "nobody")
    (cluster.work / f"link-{number}.err").unlink()
    (cluster.work / f"link-{number}.err").symlink_to(foreign)

    files = (await scheduler.logs(await scheduler.job(job_id(number)))).files

    assert [file.reading for file in files] == [Reading.UNREADABLE] * 2
    assert {file.because for file in files} == {"it does not belong to the user of the job"}
    assert {file.text for file in files} == {b""}


async def test_an_array_task_has_its_own_log(
    cluster: SlurmCluster, scheduler: SlurmScheduler
) -> None:
    """Sbatch's default name for a task holds the array's number and the task's."""
    number = cluster.submit("echo task $SLURM_ARRAY_TASK_ID; exit 1", "-n1", "-a", "4,9")
    cluster.wait_for(f"{number}_9", "FAILED")

    job = await scheduler.job(ids.parse(f"{number}_9"))
    (file,) = (await scheduler.logs(job)).files

    assert Path(file.path).name == f"slurm-{number}_9.out"
    assert file.text == b"task 9\n"


async def test_an_interactive_job_says_paste_it(
    cluster: SlurmCluster, scheduler: SlurmScheduler
) -> None:
    """The output of salloc went to a terminal: that is not the absence of a failure."""
    said = cluster.command("salloc", "-n1", "sh", "-c", "echo $SLURM_JOB_ID")
    number = int(said.splitlines()[-1])

    job = await scheduler.job(job_id(number))
    logs = await scheduler.logs(job)

    assert job.batch is False
    assert logs.files == ()
    assert "interactive" in logs.notes[0]
    assert logs.notes[0].endswith("Paste it.")


async def test_a_log_on_the_batch_host_is_read_there(cluster: SlurmCluster) -> None:
    """What the login node does not have is looked for where the script ran."""
    number = cluster.submit("#SBATCH -o local-%j/out.log\nexit 1")
    cluster.wait_for(number, "FAILED")
    output = cluster.work / f"local-{number}" / "out.log"

    class Reaching(LocalRunner):
        """This machine stands in for the batch host, where the file is."""

        def reaches(self, host: str) -> bool:
            return host == "n0"

        async def run(
            self,
            argv: Sequence[str],
            *,
            stdin: bytes = b"",
            host: str | None = None,
            timeout: timedelta = timedelta(seconds=20),  # noqa: ASYNC109 - as the port has it
        ) -> Ran:
            if host is not None:
                output.parent.mkdir()
                output.write_text("from the batch host\n")
            return await super().run(argv, stdin=stdin, timeout=timeout)

    alone = SlurmScheduler("hall", [login_way(cluster)])
    both = SlurmScheduler("hall", [LoginWay(cluster="hall", runner=Reaching(cluster.env))])
    job = await alone.job(job_id(number))

    lost = await alone.logs(job)
    (file,) = (await both.logs(job)).files

    assert [file.reading for file in lost.files] == [Reading.MISSING]
    assert "may lie on the batch host n0" in lost.notes[0]
    assert (file.host, file.reading, file.text) == ("n0", Reading.READ, b"from the batch host\n")


async def test_rest_alone_says_what_it_cannot_do(cluster: SlurmCluster, rest: RestWay) -> None:
    """v0.0.38 reads and cancels; for the rest it answers that it needs a login node."""
    scheduler = SlurmScheduler("hall", [rest])
    number = cluster.submit("sleep 50", "-N1")
    cluster.wait_for(number, "RUNNING")

    for operation in (Operation.DRAIN, Operation.RESUME, Operation.HOLD, Operation.REQUEUE):
        assert scheduler.ways(operation) == ()
    for operation in (Operation.JOB, Operation.NODES, Operation.FAILURES, Operation.CANCEL):
        assert scheduler.ways(operation) == ("slurmrestd v0.0.38",)
    job = await scheduler.job(job_id(number))
    assert (job.nodes, job.distribution) == (("n0",), None)
    for refused in (
        scheduler.drain("n1", "test"),
        scheduler.hold(job_id(number)),
        scheduler.requeue(job_id(number)),
        scheduler.logs(job),
    ):
        with pytest.raises(NeedsWayError, match="needs a login node"):
            await refused
    await scheduler.cancel(job_id(number))
    cluster.wait_for(number, "CANCELLED")
    assert not (await scheduler.node("n1")).drained


async def test_rest_tells_an_unknown_job_from_a_refused_token(
    cluster: SlurmCluster, rest: RestWay
) -> None:
    """22.05 answers both with status 500; only one of them is about the job."""
    forged = RestWay(
        cluster="hall", base_url=cluster.rest_url, user="root", token=lambda: "e30.e30.AAAA"
    )

    assert await rest.live(999999) == ()
    with pytest.raises(AccessError):
        await forged.live(1)
    await forged.aclose()


async def test_rest_without_accounting_cannot_tell_purged_from_unknown(rest: RestWay) -> None:
    """Nobody remembers, and the answer says both possibilities."""
    scheduler = SlurmScheduler("hall", [rest])

    with pytest.raises(PurgedJobError, match=r"purged or never existed.*accounting is disabled"):
        await scheduler.job(job_id(999999))


async def test_the_version_of_the_service_is_found(rest: RestWay) -> None:
    """Slurmrestd lists its paths; the newest that is known is taken."""
    assert await rest.newest_version() == 38


async def test_commands_answer_when_the_service_is_away(cluster: SlurmCluster) -> None:
    """A way that is out of reach is passed over for reading; alone it is an error."""
    (nobody,) = free_ports(1)
    away = rest_way(cluster, url=f"http://127.0.0.1:{nobody}")
    both = SlurmScheduler("hall", [away, login_way(cluster)])

    assert (await both.node("n0")).name == "n0"
    with pytest.raises(SchedulerUnavailableError, match="cannot be reached"):
        await SlurmScheduler("hall", [away]).node("n0")
    await away.aclose()


async def test_a_controller_that_is_away_is_no_unknown_job(cluster: SlurmCluster) -> None:
    """The commands' silence says nothing about the job."""
    (nobody,) = free_ports(1)
    conf = cluster.root / "away.conf"
    text = cluster.conf.read_text()
    port = next(line for line in text.splitlines() if line.startswith("SlurmctldPort="))
    conf.write_text(text.replace(port, f"SlurmctldPort={nobody}\nMessageTimeout=2"))
    way = LoginWay(
        cluster="hall",
        runner=LocalRunner({**cluster.env, "SLURM_CONF": str(conf)}),
        timeout=timedelta(seconds=40),
    )

    with pytest.raises(SchedulerUnavailableError):
        await SlurmScheduler("hall", [way]).node("n0")


@pytest.mark.timeout(150)
async def test_a_forgotten_job(running_cluster: SlurmCluster, forgotten: int) -> None:
    """Accounting is off: the file of finished jobs answers; without one the job is purged."""
    cluster = running_cluster
    wait_until("the controller forgot the job", lambda: not cluster.state(forgotten), 120)
    with_file = SlurmScheduler("hall", [login_way(cluster)])
    conf = cluster.root / "no-jobcomp.conf"
    conf.write_text(
        cluster.conf.read_text().replace("JobCompType=jobcomp/filetxt", "JobCompType=jobcomp/none")
    )
    without_file = SlurmScheduler(
        "hall",
        [LoginWay(cluster="hall", runner=LocalRunner({**cluster.env, "SLURM_CONF": str(conf)}))],
    )

    job = await with_file.job(job_id(forgotten))

    assert (job.state, job.exit_code) == (JobState.FAILED, 7)
    assert (job.nodes, job.known_from) == (("n0", "n1"), KnownFrom.COMPLETION_FILE)
    assert job.distribution is None
    assert "output paths" in job.notes[0]
    assert (await with_file.logs(job)).notes == (
        f"Nobody tells where job {forgotten} writes its output. Paste the log.",
    )
    with pytest.raises(PurgedJobError, match=r"was purged, and accounting is disabled.*20 s"):
        await without_file.job(job_id(forgotten))
    with pytest.raises(UnknownJobError, match="has not given out"):
        await without_file.job(job_id(999999))


async def test_a_flood_of_matching_lines_is_cut(
    cluster: SlurmCluster, scheduler: SlurmScheduler
) -> None:
    """A log that is nothing but such lines costs no more than the limit, and says that it did."""
    number = cluster.submit(
        "#SBATCH -o flood-%j.out\n"
        "yes '[c10d] The IPv6 network addresses of (a, 1) cannot be retrieved (gai error: -3 - x)'"
        " | head -n 200000\nexit 1"
    )
    cluster.wait_for(number, "FAILED")
    limits = Limits(file_bytes=100_000)
    small = SlurmScheduler("hall", [login_way(cluster)], limits=limits)

    (file,) = (await small.logs(await scheduler.job(job_id(number)))).files

    assert file.cut
    assert file.line_count == 200_000
    assert len(file.text) < 100_000 + limits.head_bytes + limits.tail_bytes
    assert (file.numbers[0], file.numbers[-1]) == (1, 200_000)
