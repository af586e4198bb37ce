"""Slurm's controller and its REST service, on a host of the lab's network of their own."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.network import CTL, CTL_IP, address, end
from tests.lab.running import alive, run, spawn, wait_until

REST_PORT = 6820
#: Where all machines see the same folder, as a cluster's shared disk.
SHARED = "/shared"
_CONF = """\
ClusterName=lab
SlurmctldHost=ctl({ctl})
SlurmUser=root
AuthType=auth/munge
{auth}AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={folder}/jwt.key
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir=/var/spool/slurmd
SlurmdLogFile=/var/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
DebugFlags=NO_CONF_HASH
SlurmdTimeout=30
KillWait=2
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.log
NodeName=node-[0-{last}] NodeAddr={addresses} CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@dataclass(kw_only=True)
class Slurm:
    """The controller's side of a cluster."""

    folder: Path
    count: int
    _pids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the keys and settings that the machines need at their first start."""
        (self.folder / "state").mkdir(parents=True)
        (self.folder / "munge").mkdir()
        self._key("munge.key", 64, owner="munge")
        # slurmrestd does not run as root
        self._key("jwt.key", 32, owner="nobody")
        (self.folder / "munge").chmod(0o755)
        shutil.chown(self.folder / "munge", "munge")
        auth = f"AuthInfo=socket={self.folder}/munge/socket\n"
        (self.folder / "slurm.conf").write_text(self._conf(auth), encoding="ascii")

    def _key(self, name: str, size: int, *, owner: str) -> None:
        path = self.folder / name
        path.write_bytes(secrets.token_bytes(size))
        path.chmod(0o400)
        shutil.chown(path, owner)

    def _conf(self, auth: str) -> str:
        last = self.count - 1
        net, _, first = address(0).rpartition(".")
        return _CONF.format(
            ctl=CTL_IP, auth=auth, folder=self.folder, last=last,
            addresses=f"{net}.[{first}-{int(first) + last}]",
        )  # fmt: skip

    @property
    def of_machines(self) -> str:
        """Return slurm.conf as machines have it: munge is at its usual place there."""
        return self._conf("")

    @property
    def environ(self) -> Mapping[str, str]:
        """Return what Slurm's commands need around them."""
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self) -> None:
        """Start munge, the controller and the REST service."""
        munge = self.folder / "munge"
        self._pids.append(spawn(
            "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--force",
            "--foreground", f"--key-file={self.folder}/munge.key", f"--socket={munge}/socket",
            f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed",
            log=self.folder / "munged.out",
        ))  # fmt: skip
        wait_until("munge answers", (munge / "socket").exists)
        conf = self.folder / "slurm.conf"
        self._pids.append(self._spawned("slurmctld", "-D", "-f", str(conf)))
        wait_until("the controller answers", lambda: "UP" in self.run("scontrol", "ping"))
        self._pids.append(self._spawned(
            "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "env",
            "SLURM_JWT=daemon", "slurmrestd", "-f", str(conf), "-s", "openapi/v0.0.38", "-a",
            "rest_auth/jwt", f"{CTL_IP}:{REST_PORT}",
        ))  # fmt: skip

    def _spawned(self, *argv: str) -> int:
        # the controller has to be the host that slurm.conf names
        inside = (
            "ip",
            "netns",
            "exec",
            CTL,
            "unshare",
            "-u",
            "sh",
            "-c",
            'hostname ctl; exec "$@"',
        )
        log = self.folder / f"{Path(argv[0]).name}.out"
        return spawn(*inside, "sh", *argv, log=log, environ=self.environ)

    def run(self, *argv: str, may_fail: bool = True) -> str:
        """Run one of Slurm's commands as root of the controller's host."""
        inside = ("ip", "netns", "exec", CTL)
        return run(*inside, *argv, environ=self.environ, may_fail=may_fail)

    def token(self) -> str:
        """Return a token for the REST service that lasts for an hour."""
        told = self.run("scontrol", "token", "username=root", "lifespan=3600", may_fail=False)
        return told.strip().removeprefix("SLURM_JWT=")

    def wait_until_idle(self) -> None:
        """Wait until every node takes jobs."""

        def idle() -> bool:
            return self.run("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(self.count)

        wait_until("every node is idle", idle, within_s=90.0)

    def state(self, job: str) -> str:
        """Return a job's state; empty once it is forgotten."""
        told = self.run("scontrol", "-o", "show", "job", job)
        words = dict(one.partition("=")[::2] for one in told.split())
        return words.get("JobState", "")

    def stop(self) -> None:
        """End all of it."""
        end([pid for pid in reversed(self._pids) if alive(pid)])
        self._pids.clear()
