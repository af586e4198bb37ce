"""The lab as one thing: machines, their network and Slurm; up and down again without a trace."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab import root
from tests.lab.faults import PORT
from tests.lab.machine import ACCOUNTS, Machine
from tests.lab.network import DOMAIN, Network
from tests.lab.running import LabError, missing, run
from tests.lab.slurm import SHARED, Slurm

COUNT = 4
#: Ranks on each machine.
EACH = 2
PROGRAMS = (
    "debootstrap", "systemd-nspawn", "dnsmasq", "slurmctld", "slurmrestd", "munged", "nft", "ip",
    "nsenter", "ssh-keygen",
)  # fmt: skip
_RANK = "RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID"


@dataclass(kw_only=True)
class Lab:
    """Four machines that train together."""

    folder: Path
    made: root.Made
    network: Network
    slurm: Slurm
    machines: tuple[Machine, ...]
    count: int = COUNT

    @property
    def shared(self) -> Path:
        """Return the folder that every machine sees as `/shared`."""
        return self.folder / "shared"

    def job(
        self, launcher: str = "srun", *, store_s: int = 20, steps: int = 5, master: str = "",
        crash_rank: str = "",
    ) -> str:  # fmt: skip
        """Submit a job over all machines and return its id.

        `store_s`: how long ranks wait for the rendezvous, in seconds.
        """
        tasks, command = self._launched(launcher)
        script = "\n".join((
            "#!/bin/bash",
            f"#SBATCH -J pretrain -N {self.count} --ntasks-per-node={tasks} -c {EACH // tasks}",
            f"#SBATCH -o {SHARED}/%j.out -t 10 --requeue",
            f"export MASTER_ADDR={master or f'node-0.{DOMAIN}'} MASTER_PORT={PORT}",
            f"export T={store_s} STEPS={steps} GLOO_SOCKET_IFNAME=eth0 CRASH_RANK={crash_rank}",
            command,
            "",
        ))  # fmt: skip
        path = self.folder / "job.sh"
        path.write_text(script, encoding="utf-8")
        told = self.slurm.run(
            "sbatch", "--parsable", f"--chdir={SHARED}", str(path), may_fail=False
        )
        return told.strip().partition(";")[0]

    def _launched(self, launcher: str) -> tuple[int, str]:
        python, train = f"{self.made.torch}/bin/python", "/opt/lab/train.py"
        torchrun = f"{self.made.torch}/bin/torchrun --nnodes={self.count} --nproc-per-node={EACH}"
        match launcher:
            case "srun" | "srun -l":
                return EACH, f"exec {launcher} bash -c '{_RANK} exec {python} {train}'"
            case "torchrun":
                where = f"--master-addr=$MASTER_ADDR --master-port={PORT}"
                rank = "--node-rank=$SLURM_NODEID"
                return 1, f"exec srun -l bash -c 'exec {torchrun} {rank} {where} {train}'"
        raise LabError(f"No launcher is called {launcher}.")

    def log(self, job: str) -> str:
        """Return what a job has printed so far."""
        path = self.shared / f"{job}.out"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def install(made: root.Made, folder: Path) -> tuple[Path, ...]:
    """Write what makes the bot's accounts on a machine, with new keys; return the keys."""
    from typer.testing import CliRunner

    from bot.cli import app

    grants = folder / "grants"
    told = CliRunner().invoke(
        app,
        ["init", "--level", "act", "--grants", str(grants), "--output", str(folder / "init.toml")],
    )
    if told.exit_code:
        raise LabError(told.output)
    keys = tuple(folder / f"{name}-key" for name in ACCOUNTS)
    for key in keys:
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    place = made.opt / "grants"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path in (grants / "install.sh", *(Path(f"{key}.pub") for key in keys)):
        shutil.copy(path, place)
    return keys


@contextmanager
def lab(*, count: int = COUNT) -> Iterator[Lab]:
    """Bring the machines up, and take them down at the end, whatever happened meanwhile."""
    if lacking := missing(PROGRAMS):
        raise LabError(f"Install {', '.join(lacking)} first.")
    made = root.made()
    folder = Path(tempfile.mkdtemp(prefix="nccl-dns-lab-"))
    folder.chmod(0o755)
    network = Network(folder=folder, count=count)
    # what a killed run has left is in the way
    network.down()
    slurm = Slurm(folder=folder / "slurm", count=count)
    (folder / "shared").mkdir()
    (folder / "shared").chmod(0o1777)
    install(made, folder)
    key = (slurm.folder / "munge.key").read_bytes()
    machines = tuple(
        Machine(
            number=number,
            folder=folder / f"node-{number}",
            made=made,
            binds=(f"{folder}/shared:{SHARED}",),
            files={"/etc/slurm/slurm.conf": slurm.of_machines},
            secrets={"/etc/munge/munge.key": key},
            prepare=(
                ("chown", "munge:munge", "/etc/munge/munge.key"),
                ("mkdir", "-p", "/var/spool/slurmd"),
            ),
            accounts=made.opt / "grants",
        )
        for number in range(count)
    )
    up = Lab(folder=folder, made=made, network=network, slurm=slurm, machines=machines, count=count)
    try:
        network.up()
        slurm.start()
        for machine in machines:
            machine.start()
        for machine in machines:
            machine.wait_until_up()
        slurm.wait_until_idle()
        yield up
    finally:
        _down(up)


def _down(up: Lab) -> None:
    with ThreadPoolExecutor() as pool:
        endings = [pool.submit(machine.gone) for machine in up.machines]
    problems = [str(error) for ending in endings if (error := ending.exception())]
    for step in (up.slurm.stop, up.network.down):
        problems += _problem(step)
    shutil.rmtree(up.folder, ignore_errors=True)
    if problems:
        raise LabError("The lab did not go away: " + "; ".join(problems))


def _problem(step: Callable[[], None]) -> list[str]:
    try:
        step()
    except LabError as error:
        return [str(error)]
    return []


def _main() -> None:
    """Keep the lab up until Ctrl-C, and say how it is used."""
    with lab() as up:
        print(up.slurm.run("sinfo", "-N"), file=sys.stderr)
        print(f"job {up.job()}", file=sys.stderr)
        try:
            input("up; Enter ends it\n")
        except (EOFError, KeyboardInterrupt):
            return


if __name__ == "__main__":
    _main()
