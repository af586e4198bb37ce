"""Prove on a real OpenSSH sshd how commands reach a login node, and Slurm by way of one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncssh
import pytest

from bot.diagnosis import Launch, diagnose
from bot.diagnosis.kinds import Cause
from bot.hosts.errors import HostSetupError
from bot.hosts.ssh.connect import Place
from bot.hosts.ssh.options import Jump, SshOptions
from bot.schedulers import ids
from bot.schedulers.errors import AccessError, RequestRefusedError, SchedulerUnavailableError
from bot.schedulers.excerpts import renumbered, sources
from bot.schedulers.model import DistributionFrom, JobState, Reading
from bot.schedulers.placing import placement
from bot.schedulers.slurm import ssh_runner
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.ssh_runner import Machines, SshRunner
from tests.behaviour.hosts.sshd import Sshd, is_root, running_sshd
from tests.behaviour.schedulers.conftest import PROGRAMS
from tests.behaviour.schedulers.slurm_cluster import SlurmCluster
from tests.behaviour.schedulers.test_slurm import EXAMPLE, lines_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.needs("sshd"),
    pytest.mark.skipif(not is_root(), reason="sshd logs in only for root"),
]

HOST = "127.0.0.1"


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """Return a running sshd whose key is pinned to its address."""
    with running_sshd(tmp_path) as running:
        yield pinned_as(running, HOST)


def pinned_as(sshd: Sshd, *names: str) -> Sshd:
    """Pin the host key to these names."""
    known = sshd.folder / "known_hosts"
    key = known.read_text(encoding="utf-8").partition(" ")[2]
    known.write_text("".join(f"{name} {key}" for name in names), encoding="utf-8")
    return sshd


def login_of(sshd: Sshd) -> Jump:
    """Return the sshd as a login node."""
    return Jump(host=HOST, user="root", port=sshd.options.port)


@asynccontextmanager
async def runner_of(
    sshd: Sshd, options: SshOptions | None = None, machines: Machines | None = None
) -> AsyncIterator[SshRunner]:
    """Return a runner, and close its connections at the end."""
    runner = SshRunner(login_of(sshd), options or sshd.options, machines=machines)
    try:
        yield runner
    finally:
        await runner.aclose()


async def test_words_input_and_ends_come_through_whole(sshd: Sshd) -> None:
    """A command's words reach it unsplit, bytes as they are, and codes and complaints come back."""
    odd = ["$(touch /x)", "a;b", "*", "'\"", "`id`", "-n", "é", "\\", "a b", "!x", ""]
    async with runner_of(sshd) as runner:
        printed = await runner.run(["printf", "%s\\n", *odd])
        done = await runner.run(["sh", "-c", "cat; echo bad >&2; exit 3"], stdin=b"\xff\0\n")
        killed = await runner.run(["sh", "-c", "kill -SEGV $$"])

    assert printed.out.split("\n")[:-1] == odd
    assert (done.returncode, done.stdout, done.err) == (3, b"\xff\0\n", "bad")
    assert killed.returncode not in {0, None}


async def test_many_commands_at_once_share_one_login(sshd: Sshd) -> None:
    """More commands than sshd allows sessions on a connection wait for their turn."""
    async with runner_of(sshd) as runner:
        ran = await asyncio.gather(*(runner.run(["echo", str(n)]) for n in range(30)))

    assert [one.out for one in ran] == [f"{n}\n" for n in range(30)]
    assert sshd.log.count("Accepted publickey") == 1


async def test_a_connection_that_breaks_is_told_and_opened_anew(sshd: Sshd) -> None:
    """A command that was cut short is an error, is not run twice, and the next one logs in."""
    count = sshd.folder / "count"
    kill = f"echo once >> {count}; kill -9 $(ps -o ppid= -p $PPID)"
    async with runner_of(sshd) as runner:
        with pytest.raises(SchedulerUnavailableError, match="broke off") as broken:
            await runner.run(["sh", "-c", kill])
        again = await runner.run(["echo", "back"])

    assert broken.value.transient
    assert again.out == "back\n"
    assert count.read_text(encoding="utf-8") == "once\n"
    assert sshd.log.count("Accepted publickey") == 2


async def test_a_command_that_hangs_ends_on_both_sides(sshd: Sshd) -> None:
    """Nobody waits for it here, and it does not go on there."""
    pid = sshd.folder / "pid-of-command"
    script = f"echo $$ > {pid}; while :; do sleep 0.1; done"
    async with runner_of(sshd) as runner:
        with pytest.raises(SchedulerUnavailableError, match="sh gave no answer on the login node"):
            await runner.run(["sh", "-c", script], timeout=timedelta(seconds=2))
        number = pid.read_text(encoding="utf-8").strip()
        await _until(lambda: not Path(f"/proc/{number}").exists())
        assert (await runner.run(["echo", "next"])).out == "next\n"


def test_the_far_side_has_the_time_out_too() -> None:
    """Where the connection is lost for good, a search of ten gigabytes ends all the same."""
    line = ssh_runner.command(["nice", "sh", "-c", "a b"], timedelta(seconds=1.2))

    assert line == "timeout -k 5 2 nice sh -c 'a b'"


async def test_a_flood_is_cut(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output beyond the bound is not read, and the command counts as failed; complaints are cut."""
    monkeypatch.setattr(ssh_runner, "MOST_BYTES", 1 << 20)
    async with runner_of(sshd) as runner:
        flood = await runner.run(["yes"])
        noisy = await runner.run(["sh", "-c", "yes | head -c 300000 >&2; echo fine"])

    assert (len(flood.stdout), flood.returncode) == (1 << 20, 141)
    assert "cut off after 1 MB" in flood.err
    assert (noisy.returncode, noisy.out, len(noisy.stderr)) == (0, "fine\n", 1 << 16)


async def test_a_missing_program_is_named(sshd: Sshd) -> None:
    """It is Slurm's program that is missing, not the one that sets its environment."""
    async with runner_of(sshd) as runner:
        with pytest.raises(SchedulerUnavailableError, match=r"no-such-slurm cannot be run on the"):
            await runner.run(["env", "-u", "SLURM_JWT", "TZ=UTC", "no-such-slurm", "--version"])


async def test_a_line_end_is_never_sent(sshd: Sshd) -> None:
    """A word that login shells read in different ways is refused before anything is run."""
    async with runner_of(sshd) as runner:
        with pytest.raises(RequestRefusedError, match="was not run"):
            await runner.run(["echo", "a\nreboot"])

    assert "Starting session" not in sshd.log


async def test_no_agent_is_forwarded(sshd: Sshd) -> None:
    """On the far side there is no agent's socket."""
    async with runner_of(sshd) as runner:
        assert (await runner.run(["sh", "-c", "echo [$SSH_AUTH_SOCK]"])).out == "[]\n"


async def test_another_machine_is_reached_by_way_of_the_login_node(sshd: Sshd) -> None:
    """Only machines that the settings name are, each with its own pinned key."""
    pinned_as(sshd, HOST, "vm-of-n0")

    def machines(name: str) -> Place | None:
        aliases = {"n0": "vm-of-n0", "n1": "vm-that-is-not-pinned"}
        if name not in aliases:
            return None
        return Place(
            name=name, alias=aliases[name], address=HOST, port=sshd.options.port, user="root"
        )

    async with runner_of(sshd, machines=machines) as runner:
        assert [runner.reaches(name) for name in ("n0", "n1", "n2")] == [True, True, False]
        there = await runner.run(["sh", "-c", "echo $SSH_CONNECTION"], host="n0")
        with pytest.raises(AccessError, match=r"N1 was not asked: The host key of n1"):
            await runner.run(["true"], host="n1")
        with pytest.raises(SchedulerUnavailableError, match="n2 cannot be reached"):
            await runner.run(["true"], host="n2")

    assert there.out.startswith(HOST)
    assert sshd.log.count("Accepted publickey") == 2


async def test_jump_hosts_lead_to_the_login_node(sshd: Sshd) -> None:
    """It is reached through them, and not through itself where it is the last of them."""
    pinned_as(sshd, HOST, "localhost")
    jump = Jump(host="localhost", user="root", port=sshd.options.port)
    through = replace(sshd.options, jumps=(jump,))
    itself = replace(sshd.options, jumps=(login_of(sshd),))

    async with runner_of(sshd, through) as runner:
        assert (await runner.run(["echo", "far"])).out == "far\n"
    assert sshd.log.count("Accepted publickey") == 2
    async with runner_of(sshd, itself) as runner:
        assert (await runner.run(["echo", "near"])).out == "near\n"
    assert sshd.log.count("Accepted publickey") == 3


async def test_what_keeps_us_out_is_told_apart(sshd: Sshd) -> None:
    """A foreign host key and a refused key are our settings'; a silent port may answer later."""
    closed = replace(sshd.options, port=1)
    async with runner_of(sshd, closed) as runner:
        runner._login = replace(runner._login, port=1)
        with pytest.raises(SchedulerUnavailableError, match=r"login node 127\.0\.0\.1 was not"):
            await runner.run(["true"])
    other = asyncssh.generate_private_key("ssh-ed25519")
    foreign = sshd.folder / "foreign"
    foreign.write_text(f"{HOST} {other.export_public_key('openssh').decode()}", encoding="utf-8")
    async with runner_of(sshd, replace(sshd.options, known_hosts=foreign)) as runner:
        with pytest.raises(AccessError, match="is not the one pinned"):
            await runner.run(["true"])
    other.write_private_key(sshd.folder / "id")
    async with runner_of(sshd) as runner:
        with pytest.raises(AccessError, match="refuses the login of root"):
            await runner.run(["true"])
    (sshd.folder / "id").unlink()
    async with runner_of(sshd) as runner:
        with pytest.raises(AccessError, match="cannot be read"):
            await runner.run(["true"])


async def test_an_unknown_login_node_is_trusted_only_where_that_is_switched_on(sshd: Sshd) -> None:
    """Its key is then pinned, and another one is refused from there on."""
    new = sshd.folder / "new_known_hosts"
    with pytest.raises(HostSetupError, match="does not exist"):
        SshRunner(login_of(sshd), replace(sshd.options, known_hosts=new))
    first = replace(sshd.options, known_hosts=new, trust_on_first_use=True)

    async with runner_of(sshd, first) as runner:
        await runner.run(["true"])
    pinned = new.read_text(encoding="utf-8")

    assert pinned.startswith(f"{HOST} ssh-ed25519 ")
    async with runner_of(sshd, replace(first, trust_on_first_use=False)) as runner:
        assert (await runner.run(["true"])).returncode == 0


#: Each task prints what the rank of its number printed, and fails where that one did.
_REPLAY = f"""\
#SBATCH -N2 --ntasks-per-node=4 -J pretrain -o logs/%x-%j.out
seq -f 'loading shard %g of the corpus' 100000
srun -l bash -c '
  own=$(grep "^$SLURM_PROCID: " {EXAMPLE} | cut -d" " -f2-)
  printf "%s\\n" "$own"
  case $own in *Traceback*) exit 1;; esac'
"""


@pytest.mark.needs(*PROGRAMS)
async def test_a_failing_job_of_real_slurm_is_found_over_ssh(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    """From the ID alone: placed, its log scanned where it lies, diagnosed; drained and resumed."""
    (cluster.work / "logs").mkdir(exist_ok=True)
    number = cluster.submit(_REPLAY)
    cluster.wait_for(number, "FAILED")
    command = f'export SLURM_CONF={cluster.conf}; eval "$SSH_ORIGINAL_COMMAND"'
    with running_sshd(tmp_path, f"ForceCommand {command}") as plain:
        async with runner_of(pinned_as(plain, HOST)) as runner:
            scheduler = SlurmScheduler("hall", [LoginWay(cluster="hall", runner=runner)])
            job = await scheduler.job(ids.parse(str(number)))
            logs = await scheduler.logs(job)
            drained = await scheduler.drain("n1", "resolver failed; $(reboot)")
            node = await scheduler.resume("n1", drained.reason)

    launch = Launch(hosts=job.nodes, ranks_per_node=job.ntasks_per_node)
    verdict = renumbered(diagnose(sources(logs), launch=launch), logs)
    assert (job.state, job.distribution_from) == (JobState.FAILED, DistributionFrom.SCRIPT)
    assert [rank.host for rank in placement(job).ranks] == ["n0"] * 4 + ["n1"] * 4
    (file,) = logs.files
    assert (file.reading, file.size_bytes > 3_000_000) == (Reading.READ, True)
    assert len(file.text) < 200_000
    lines = lines_of(file.path)
    assert [lines[line - 1] for line in file.numbers] == file.text.splitlines(keepends=True)
    assert verdict.cause is Cause.RESOLVER_FAILED
    assert [(one.host, one.ranks) for one in verdict.affected] == [("n1", (6, 7))]
    assert "$(reboot)" in drained.reason
    assert not node.drained
    assert plain.log.count("Accepted publickey") == 1


async def _until(holds: Callable[[], bool], seconds: float = 10) -> None:
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while not holds():
        assert clock() < until
        await asyncio.sleep(0.05)
