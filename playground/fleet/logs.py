"""Write the log of a job as its ranks would, from what each machine of the model sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from playground.fleet.machine import Machine, Network
from playground.fleet.names import resolve
from playground.fleet.torch import TORCH, Torch, traceback

#: PyTorch's own time-out of the store.
TIMEOUT = timedelta(minutes=30)
#: Slurm's SlurmdTimeout: a node that is silent for so long is down.
_NODE_DOWN = timedelta(minutes=5)
#: Seconds between look-ups: they grow, and then stay as they are.
_FIRST_PAUSE, _GROWTH, _LONGEST_PAUSE = 0.4, 1.7, 40.0
#: How long the step of a healthy job takes.
_STEP = timedelta(seconds=2)

_NEW_GROUP = {
    "c10d_logger.py wrapper": 83,
    "distributed_c10d.py init_process_group": 1899,
    "distributed_c10d.py _new_process_group_helper": 2169,
}
_NEW_STORE = {
    "c10d_logger.py wrapper": 83,
    "distributed_c10d.py init_process_group": 1892,
    "rendezvous.py _env_rendezvous_handler": 280,
    "rendezvous.py _create_c10d_store": 199,
}


class Sees(Enum):
    """How far the ranks of a machine come."""

    #: they say nothing: the look-up never comes back, or the machine is gone
    NOTHING = "nothing"
    NO_NAME = "no name"
    NO_ROUTE = "no route"
    STORE = "store"


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run of a job: its machines in rank order, the first of which serves the store."""

    number: int
    nodes: Sequence[str]
    ranks_per_node: int
    started: datetime
    #: what would come later has not happened yet
    now: datetime
    #: as MASTER_ADDR and MASTER_PORT have it
    master: str
    port: int
    torch: str = "2.13"

    @property
    def size(self) -> int:
        """Return the world size."""
        return len(self.nodes) * self.ranks_per_node

    def ranks(self, index: int) -> range:
        """Return the ranks of the machine at a place in the list."""
        return range(index * self.ranks_per_node, (index + 1) * self.ranks_per_node)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a run left behind."""

    stdout: str
    #: empty for a run that is up: it has nothing to add to what was there
    stderr: str
    #: Slurm's word
    state: str
    ended: datetime | None
    #: since when the process group is up; None while ranks wait, and for a run that is over
    up_since: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Event:
    at: datetime
    text: Sequence[str]
    #: None for srun's own words
    rank: int | None = None


def sees(network: Network, machine: Machine, name: str, port: int) -> tuple[Sees, int]:
    """Return how far a machine's ranks come, and the code of their look-ups."""
    if machine.silent or machine.login_hangs:
        return Sees.NOTHING, 0
    found = resolve(machine, network, name)
    if found is None:
        return Sees.NOTHING, 0
    if found.code:
        return Sees.NO_NAME, found.code
    if network.connect(machine, found.address, port) == "connected":
        return Sees.STORE, 0
    return Sees.NO_ROUTE, 0


def written(run: Run, network: Network, *, up_since: datetime | None = None) -> Written:
    """Return the output of a run on a network as it is now.

    `up_since` is when its process group came up, where it did: then it goes on whatever becomes of
    names. Where everybody reaches the store for the first time, it comes up now.
    """
    writer = _Writer(run, network)
    if up_since is None and writer.everybody_is_there:
        up_since = run.now
    return writer.waiting() if up_since is None else writer.up(up_since)


class _Writer:
    def __init__(self, run: Run, network: Network) -> None:
        self._run = run
        self._torch: Torch = TORCH[run.torch]
        self._machines = [network.named(name) for name in run.nodes]
        self._seen = [sees(network, one, run.master, run.port) for one in self._machines]
        self._peer = f"({run.master}, {run.port})"
        self._seconds = int(TIMEOUT.total_seconds())

    @property
    def everybody_is_there(self) -> bool:
        """Tell whether every rank reaches the store."""
        return all(how is Sees.STORE for how, _ in self._seen)

    def up(self, since: datetime) -> Written:
        """Return what a run prints whose process group is up."""
        steps = (self._run.now - since) // _STEP
        lines = [
            f"[rank 0] process group up, world size {self._run.size}",
            *(f"step {step} loss {11 / (1 + step / 40):.4f}" for step in range(steps)),
        ]
        text = self._header() + self._labelled(_Event(at=since, text=lines, rank=0))
        return Written(stdout=text, stderr="", state="RUNNING", ended=None, up_since=since)

    def waiting(self) -> Written:
        """Put what every rank says while it waits, and at its end, into one order of time."""
        run = self._run
        events = [
            event
            for index, (how, code) in enumerate(self._seen)
            for rank in run.ranks(index)
            for event in self._of_rank(rank, self._machines[index], how, code)
        ]
        last = max((event.at for event in events), default=run.started + TIMEOUT)
        events += self._of_launcher(last)
        stuck = any(
            how is Sees.NOTHING and not _is_down(machine)
            for (how, _), machine in zip(self._seen, self._machines, strict=True)
        )
        events.sort(key=lambda event: event.at)
        so_far = [event for event in events if event.at <= run.now]
        over = len(so_far) == len(events)
        return Written(
            stdout=self._header(),
            stderr="".join(self._labelled(event) for event in so_far),
            state="RUNNING" if not over else "TIMEOUT" if stuck else "FAILED",
            ended=events[-1].at if over else None,
        )

    def _of_rank(self, rank: int, machine: Machine, how: Sees, code: int) -> Iterator[_Event]:
        spread = timedelta(microseconds=rank * 1_037_389 % 999_983)
        if how is Sees.NO_NAME:
            yield from self._lookups(rank, spread, code)
        elif how is Sees.NO_ROUTE:
            at = self._run.started + TIMEOUT + spread
            yield _Event(at=at, rank=rank, text=self._given_up(at, tried=0))
        elif how is Sees.STORE:
            yield self._waited(rank, machine, spread)

    def _lookups(self, rank: int, spread: timedelta, code: int) -> Iterator[_Event]:
        """Yield look-ups at growing intervals until the time is up; 2.5 and later try again."""
        at, pause = self._run.started + spread, _FIRST_PAUSE
        end = self._run.started + TIMEOUT + spread
        while at < end:
            yield _Event(at=at, rank=rank, text=[self._torch.not_found(at, self._peer, code)])
            at += timedelta(seconds=pause)
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)
        if self._torch.retries is None:
            yield _Event(at=end, rank=rank, text=self._given_up(end, tried=0))
            return
        delay = 9000 + rank * 733 % 9000
        yield _Event(at=end, rank=rank, text=self._tries_again(end, delay))
        again = end + timedelta(milliseconds=delay)
        text = [self._torch.not_found(again, self._peer, code), *self._given_up(again, tried=1)]
        yield _Event(at=again, rank=rank, text=text)

    def _tries_again(self, at: datetime, delay: int) -> list[str]:
        late = self._torch.too_late(self._seconds, self._peer)
        lines = self._torch.retries or (0, 0)
        text = (
            f"TCP client failed to connect/validate to host {self._run.master}:{self._run.port} - "
            f"retrying (try=0, timeout={self._seconds}000ms, delay={delay}ms): {late}"
        )
        return [
            self._torch.line("E", at, "socket.cpp", self._torch.timed_out, late),
            self._torch.line("W", at, "TCPStore.cpp", lines[0], text),
        ]

    def _given_up(self, at: datetime, *, tried: int) -> list[str]:
        late = self._torch.too_late(self._seconds, self._peer)
        lines = [self._torch.line("E", at, "socket.cpp", self._torch.timed_out, late)]
        if self._torch.retries:
            text = (
                f"TCP client failed to connect/validate to host {self._run.master}:"
                f"{self._run.port} - timed out (try={tried}, timeout={self._seconds}000ms): {late}"
            )
            lines.append(self._torch.line("E", at, "TCPStore.cpp", self._torch.retries[1], text))
        return [*lines, *traceback(_NEW_STORE, f"torch.distributed.DistNetworkError: {late}")]

    def _waited(self, rank: int, machine: Machine, spread: timedelta) -> _Event:
        """Say that a rank that is connected waited in vain; the first one counts who came."""
        at = self._run.started + TIMEOUT + timedelta(seconds=1) + spread
        if rank == 0:
            came = self._run.ranks_per_node * sum(how is Sees.STORE for how, _ in self._seen)
            error = (
                f"torch.distributed.DistStoreError: Timed out after {self._seconds + 1} seconds "
                f"waiting for clients. {came}/{self._run.size} clients joined."
            )
            return _Event(at=at, rank=rank, text=traceback(_NEW_STORE, error))
        if self._torch.waits is None:
            error = "torch.distributed.DistStoreError: Socket Timeout"
            return _Event(at=at, rank=rank, text=traceback(_NEW_GROUP, error))
        ours, theirs = machine.address, self._machines[0].address
        there = (
            f"socket SocketImpl(fd=4, addr=[::ffff:{ours}]:{40000 + rank}, "
            f"remote=[::ffff:{theirs}]:{self._run.port})"
        )
        polled, timed_out = self._torch.waits
        line = self._torch.line
        said = f"waitForInput: poll for {there} returned 0, likely a timeout"
        late = f"waitForInput: {there} timed out after {self._seconds}000ms"
        error = (
            f"torch.distributed.DistStoreError: wait timeout after {self._seconds}000ms, keys: "
            "/default_pg/0//cpu//0/0"
        )
        text = [
            line("W", at, "socket.cpp", polled, said),
            line("W", at, "socket.cpp", timed_out, late),
            *traceback(_NEW_GROUP, error),
        ]
        return _Event(at=at, rank=rank, text=text)

    def _of_launcher(self, last: datetime) -> Iterator[_Event]:
        """Yield what srun says of each machine's tasks, and how the job ends those that hang."""
        second = timedelta(seconds=1)
        limit = last + 20 * second
        stuck = False
        for index, ((how, _), machine) in enumerate(zip(self._seen, self._machines, strict=True)):
            tasks = self._run.ranks(index)
            named = f"srun: error: {machine.name}: tasks {tasks[0]}-{tasks[-1]}"
            if how is not Sees.NOTHING:
                yield _Event(at=last + second, text=[f"{named}: Exited with exit code 1"])
            elif _is_down(machine):
                text = [f"srun: error: Node failure on {machine.name}"]
                yield _Event(at=self._run.started + _NODE_DOWN, text=text)
            else:
                stuck = True
                yield _Event(at=limit + 2 * second, text=[f"{named}: Terminated"])
        if stuck:
            when = f"{limit:%Y-%m-%dT%H:%M:%S}"
            head = f"slurmstepd: error: *** STEP {self._run.number}.0 ON {self._run.nodes[0]}"
            yield _Event(at=limit, text=[f"{head} CANCELLED AT {when} DUE TO TIME LIMIT ***"])
            text = ["srun: Job step aborted: Waiting up to 32 seconds for job step to finish."]
            yield _Event(at=limit + second, text=text)

    def _labelled(self, event: _Event) -> str:
        """Return lines as `srun --label` writes them: the rank, as wide as the widest."""
        width = len(str(self._run.size - 1))
        label = "" if event.rank is None else f"{event.rank:>{width}}: "
        return "".join(f"{label}{line}\n" for line in event.text)

    def _header(self) -> str:
        settings: Mapping[str, object] = {
            "model": "decoder-7b", "sequence length": 4096, "global batch": 4 * self._run.size,
            "master": self._run.master, "port": self._run.port, "world size": self._run.size,
        }  # fmt: skip
        lines = [f"{name}: {value}" for name, value in settings.items()]
        return self._labelled(_Event(at=self._run.started, text=lines, rank=0))


def _is_down(machine: Machine) -> bool:
    """Tell whether Slurm's daemon on a machine does not answer, either."""
    return machine.silent or machine.login_hangs
