"""Prove on a real Slurm that a job is kept, its log with it, and runs again without a node."""

from __future__ import annotations

import pwd
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from bot.schedulers.errors import NeedsWayError, RequestRefusedError
from bot.schedulers.model import JobState
from bot.schedulers.reruns import Reruns
from bot.schedulers.slurm import copying
from bot.schedulers.slurm.adapter import SlurmScheduler
from tests.behaviour.schedulers.conftest import PROGRAMS, login_way, rest_way
from tests.behaviour.schedulers.slurm_cluster import SlurmCluster, wait_until
from tests.behaviour.schedulers.world import job_id

pytestmark = [pytest.mark.anyio, pytest.mark.needs(*PROGRAMS)]

#: Says which run it is, and where; waits the first time, and ends well the second.
_SCRIPT = """\
#SBATCH -N1 -J pretrain -o %x-%j.out -e %x-%j.err
echo "run ${SLURM_RESTART_COUNT:-0} on $SLURM_JOB_NODELIST"
echo "gai error: -3" >&2
[ "$SLURM_RESTART_COUNT" ] || sleep 300
"""


@pytest.fixture
def scheduler(cluster: SlurmCluster) -> SlurmScheduler:
    """Give the commands alone."""
    return SlurmScheduler("hall", [login_way(cluster)])


@pytest.fixture
def reruns(scheduler: SlurmScheduler) -> Reruns:
    """Give what keeps a job and runs it again."""
    return scheduler.reruns()


def written(path: Path, text: str) -> None:
    """Wait until a file holds a text."""
    wait_until(f"{path} holds {text!r}", lambda: path.exists() and text in path.read_text())


def text_of(path: str) -> str:
    """Return what a file holds."""
    return Path(path).read_text()


def put(path: str, text: str) -> None:
    """Write a file."""
    Path(path).write_text(text)


async def test_kept_copied_and_run_again_without_a_node(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """The log of the first run survives, the job is the owner's own, and it runs elsewhere."""
    number = cluster.submit(_SCRIPT)
    out = cluster.work / f"pretrain-{number}.out"
    written(out, "run 0 on n0")
    first = await scheduler.job(job_id(number))
    assert first.command.startswith(str(cluster.work))

    copies = await reruns.copy_logs(first)
    await reruns.keep(job_id(number))
    cluster.wait_for(number, "PENDING")

    kept = await scheduler.job(job_id(number))
    assert (kept.state, kept.held, kept.restarts) == (JobState.PENDING, True, 1)
    assert {Path(one.copy).name for one in copies} == {f"{out.name}.run0", f"{out.stem}.err.run0"}
    with pytest.raises(RequestRefusedError, match="was not kept"):
        await reruns.keep(job_id(number))

    await reruns.go(job_id(number), without=("n0",))
    # at once, and not after the two minutes that a requeue asks for
    cluster.wait_for(number, "COMPLETED", seconds=30)

    assert out.read_text() == "run 1 on n1\n"
    assert text_of(f"{out}.run0") == "run 0 on n0\n"
    again = await scheduler.job(job_id(number))
    assert (again.nodes, again.excluded, again.user) == (("n1",), ("n0",), first.user)


async def test_a_log_is_copied_once_and_nothing_is_overwritten(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """The same content is copied once; what has grown since gets a name of its own."""
    number = cluster.submit(_SCRIPT)
    out = cluster.work / f"pretrain-{number}.out"
    written(out, "run 0")
    put(f"{out}.run0", "somebody's own\n")
    (cluster.work / f"pretrain-{number}.err.run0").symlink_to("/etc/nowhere")
    job = await scheduler.job(job_id(number))

    first = {Path(one.path).suffix: one for one in await reruns.copy_logs(job)}
    assert Path(first[".out"].copy).name == f"{out.name}.run0.2"
    assert Path(first[".err"].copy).name == f"{out.stem}.err.run0.2"
    assert text_of(f"{out}.run0") == "somebody's own\n"
    assert not any(one.already for one in first.values())
    assert all(one.already for one in await reruns.copy_logs(job))

    with out.open("a") as file:
        file.write("one more line\n")
    grown = {Path(one.path).suffix: one for one in await reruns.copy_logs(job)}
    assert Path(grown[".out"].copy).name == f"{out.name}.run0.3"
    assert text_of(grown[".out"].copy) == out.read_text()
    assert (grown[".err"].already, grown[".out"].already) == (True, False)


async def test_what_ends_while_it_is_kept_is_copied_before_it_starts_anew(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """What a job says while it is ended for the requeue is still there to be copied after it."""
    number = cluster.submit(_SCRIPT)
    out = cluster.work / f"pretrain-{number}.out"
    written(out, "run 0")
    await reruns.copy_logs(await scheduler.job(job_id(number)))
    await reruns.keep(job_id(number))
    cluster.wait_for(number, "PENDING")
    (err,) = [
        one
        for one in await reruns.copy_logs(await scheduler.job(job_id(number)))
        if one.path.endswith(".err")
    ]
    assert Path(err.copy).name == f"pretrain-{number}.err.run0.2"
    assert "DUE TO JOB REQUEUE" in text_of(err.copy)


async def test_a_failed_job_outlives_the_memory_of_the_controller(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """One that has ended is kept as well; nodes that its owner leaves out stay left out."""
    number = cluster.submit("exit 3", "-N1", "--exclude=n1")
    cluster.wait_for(number, "FAILED")
    await reruns.keep(job_id(number))
    cluster.wait_for(number, "PENDING")
    await reruns.go(job_id(number), without=("n0",))
    job = await scheduler.job(job_id(number))
    assert set(job.excluded) == {"n0", "n1"}


async def test_what_cannot_be_kept_says_why(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """`--no-requeue` and a job that runs are refused with Slurm's reason; nothing has changed."""
    number = cluster.submit("exit 3", "-N1", "--no-requeue")
    cluster.wait_for(number, "FAILED")
    with pytest.raises(RequestRefusedError, match="disabled"):
        await reruns.keep(job_id(number))
    assert cluster.state(number) == "FAILED"
    going = cluster.submit("sleep 60", "-N1")
    cluster.wait_for(going, "RUNNING")
    with pytest.raises(RequestRefusedError, match="does not wait"):
        await reruns.go(job_id(going))
    rest = rest_way(cluster)
    with pytest.raises(NeedsWayError, match="needs a login node"):
        SlurmScheduler("hall", [rest]).reruns()
    await rest.aclose()
    assert scheduler.cluster == "hall"


async def test_a_log_that_cannot_be_copied_stops_it(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """A file that is not the owner's is not read, so that it could be lost: nothing is done."""
    number = cluster.submit("sleep 60", "-N1", "-o", "given-%j.out")
    cluster.wait_for(number, "RUNNING")
    path = cluster.work / f"given-{number}.out"
    written(path, "")
    shutil.chown(path, "nobody")
    with pytest.raises(RequestRefusedError, match="copy it by hand first"):
        await reruns.copy_logs(await scheduler.job(job_id(number)))


async def test_a_job_that_was_submitted_again_is_found(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """Its owner's next job of the same name and script counts, and no other."""
    number = cluster.submit("exit 3", "-N1", "-J", "pretrain")
    cluster.wait_for(number, "FAILED")
    failed = await scheduler.job(job_id(number))
    assert not await reruns.resubmitted(failed)
    script = failed.command
    other = cluster.submit("sleep 60", "-N1", "-J", "pretrain", "-H")
    ended = failed.ended_at
    assert ended is not None
    # Slurm keeps whole seconds
    wait_until("a second has passed", lambda: time.time() > ended.timestamp() + 2)
    again = int(cluster.command("sbatch", "--parsable", "-H", "-J", "pretrain", script))
    found = await reruns.resubmitted(failed)
    assert [one.id for one in found] == [str(again)]
    assert str(other) not in {one.id for one in found}


async def test_root_copies_as_the_owner(
    cluster: SlurmCluster, scheduler: SlurmScheduler, reruns: Reruns
) -> None:
    """Where the account is root's, the copy is made with the owner's rights and is the owner's."""
    home = cluster.root / "theirs"
    home.mkdir()
    shutil.chown(home, "nobody")
    number = cluster.submit("echo mine; exit 3", "-N1", "--uid=nobody", f"--chdir={home}")
    cluster.wait_for(number, "FAILED")
    (one,) = await reruns.copy_logs(await scheduler.job(job_id(number)))
    assert text_of(one.copy) == "mine\n"
    assert owner(one.copy) == "nobody"
    # a folder that is not theirs takes no copy of theirs
    shutil.chown(home, "root")
    (home / Path(one.copy).name).unlink()
    with pytest.raises(RequestRefusedError, match="could not be copied"):
        await reruns.copy_logs(await scheduler.job(job_id(number)))


def owner(path: str) -> str:
    """Return whose a file is."""
    return Path(path).owner()


def test_without_a_place_beside_it_goes_to_a_folder_of_ours(tmp_path: Path) -> None:
    """An account that may read a log, and not write there, keeps it at home, for itself alone."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    home, logs = tmp_path / "home", tmp_path / "logs"
    home.mkdir()
    logs.mkdir()
    shutil.chown(home, "nobody")
    log = logs / "a b.out"
    log.write_text("line\n" * 1000)
    (logs / "gone.out").write_text("")
    paths = [str(log), str(logs / "none.out")]
    argv = copying.argv("mark", paths, run=0, folder="hall-7", user="root")
    who = pwd.getpwnam("nobody")
    ran = subprocess.run(
        argv, env={"PATH": "/usr/bin:/bin", "HOME": str(home)}, user=who.pw_uid, group=who.pw_gid,
        extra_groups=[], capture_output=True, text=True, check=True,
    )  # fmt: skip
    one, none = copying.copied(ran.stdout, "mark", paths)
    assert none is None
    assert one is not None
    assert one.copy == str(home / "nccl-dns-kept" / "hall-7" / "1-a b.out.run0")
    assert text_of(one.copy) == log.read_text()
    assert (home / "nccl-dns-kept" / "hall-7").stat().st_mode & 0o777 == 0o700
    assert [each.name for each in logs.iterdir() if "run0" in each.name] == []
