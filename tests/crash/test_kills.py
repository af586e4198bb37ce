"""Killed at each boundary and at random, nothing is sent twice, and every step has an outcome."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.incidents.run import OVER, RunState
from bot.incidents.store import open_store
from tests.behaviour.store.postgres import running as postgres
from tests.crash.far import Far
from tests.crash.replica import Order
from tests.scenario.stage import ROOT, until

#: chain → the calls that it may send, each once at most
CHAINS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("restart_resolver",): ("restart_resolver",),
    ("reboot",): ("drain", "reboot", "resume"),
    ("stop_start",): ("drain", "STOP", "START", "resume"),
}
#: Kills at random in the test run; `make chaos` asks for more.
RANDOM = int(os.environ.get("NCCL_DNS_KILLS", "20"))
_SEED = 20261201
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600 + 20 * RANDOM)]
_MOST_S = 120.0
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@dataclass(frozen=True, kw_only=True)
class Ground:
    """One store, one far side, and what is done to them."""

    order: Order
    folder: Path
    numbers: Iterator[int]
    #: begins replicas; none yet, or one
    nursery: list[asyncio.subprocess.Process] = field(default_factory=list)

    @property
    def shared(self) -> bool:
        """Tell whether several replicas may share the store."""
        return self.order.store.startswith("postgresql")

    @property
    def far(self) -> Far:
        """Return the far side."""
        return Far(path=Path(self.order.far))

    def chains(
        self, only: Sequence[tuple[str, ...]] = tuple(CHAINS)
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Return a new VM for each of the chains."""
        made = []
        for chain in only:
            name = f"vm-{next(self.numbers)}-{chain[0]}"
            self.far.add(name)
            made.append((name, chain))
        return made

    async def run(self, order: Order) -> int:
        """Run a replica to its end and return its exit code."""
        path = order.written(self.folder / f"order-{next(self.numbers)}.json")
        if not self.nursery:
            self.nursery.append(await _nursery(self.folder / "stderr"))
        nursery = self.nursery[0]
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(f"{path}\n".encode())
        code = int(await asyncio.wait_for(nursery.stdout.readline(), _MOST_S))
        told = (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")
        assert code in {0, -signal.SIGKILL}, told[-4000:]
        return code

    async def end(self) -> None:
        """End the process that begins others."""
        for one in self.nursery:
            one.kill()
            await one.wait()

    async def judged(self) -> Counter[str]:
        """Hold everything against what must be, and return how often each outcome was."""
        outcomes: Counter[str] = Counter()
        async with open_store(self.order.store) as store:
            _, broken = await store.audit.broken()
            assert not broken
            for approval in await store.approvals.approved_since(_LONG_AGO):
                runs = await store.step_runs.of(approval.id)
                assert [run.step for run in runs] == list(approval.chain)
                assert all(run.state in OVER and run.sentence for run in runs), runs
                outcomes.update(str(run.state) for run in runs)
                self._sent_once(approval.vm_name, approval.chain, runs[-1].state)
        return outcomes

    def _sent_once(self, vm: str, chain: tuple[str, ...], state: RunState) -> None:
        sent = self.far.sent(vm)
        assert max(Counter(sent).values(), default=0) <= 1, (vm, sent)
        allowed = CHAINS[chain]
        assert sent == list(allowed[: len(sent)]), (vm, sent)
        if state is RunState.PASSED:
            assert sent == list(allowed), (vm, sent)


async def _started(order: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.crash.replica", str(order),
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


async def _nursery(errors: Path) -> asyncio.subprocess.Process:
    with errors.open("ab") as told:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.crash.nursery",
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told,
        )  # fmt: skip


@asynccontextmanager
async def beside(ground: Ground) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run another replica beside the block, that lives through it."""
    order = replace(ground.order, ends=False)
    path = order.written(ground.folder / f"order-{next(ground.numbers)}.json")
    process = await _started(path)
    assert process.stdout is not None
    assert (await process.stdout.readline()).strip() == b"ready"
    try:
        yield process
    finally:
        process.kill()
        await process.communicate()


@pytest.fixture(params=["sqlite", "postgresql"])
async def ground(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ground]:
    """Return an empty ground on each store."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            store, engine = f"sqlite:///{tmp_path}/bot.db", f"sqlite:///{tmp_path}/engine.db"
        else:
            store = engine = stack.enter_context(postgres()).emptied()
        order = Order(store=store, engine=engine, far=str(tmp_path / "far.db"))
        made = Ground(order=order, folder=tmp_path, numbers=itertools.count())
        yield made
        await made.end()


async def _boundaries(ground: Ground, chain: tuple[str, ...]) -> int:
    """Return how many boundaries a chain has to its end; nobody kills it, so it has to pass."""
    trace = ground.folder / f"trace-{chain[0]}"
    order = replace(ground.order, chains=ground.chains([chain]), trace=str(trace))
    before = await ground.judged()
    assert await ground.run(order) == 0
    assert (await ground.judged() - before) == {"passed": 1}
    # once the step's end stands in the store nobody waits for the rest, such as a second proof
    lines = trace.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines) if "0.end done" in line)


async def _everywhere(ground: Ground) -> int:
    """Kill a process at each boundary of each chain; the next one finishes what it left."""
    killed = 0
    for chain in CHAINS:
        count = await _boundaries(ground, chain)
        for number in range(1, count + 1):
            order = replace(
                ground.order, chains=ground.chains([chain]), kill_at=number,
                finishes=not ground.shared,
            )  # fmt: skip
            assert await ground.run(order) == -signal.SIGKILL, (chain, number)
            killed += 1
        assert await ground.run(ground.order) == 0
    return killed


async def _at_random(ground: Ground, rng: random.Random) -> None:
    """Kill processes at random, also several in a row at the same chains."""
    kills = 0
    while kills < RANDOM:
        chains = ground.chains() if rng.random() < 0.6 else ()
        order = replace(
            ground.order,
            chains=chains,
            chance=0.02 + 0.1 * rng.random(),
            seed=rng.randrange(1 << 30),
        )
        kills += await ground.run(order) == -signal.SIGKILL
    assert await ground.run(ground.order) == 0


async def test_killed_at_each_boundary_and_at_random(ground: Ground) -> None:
    """No call is sent twice, no step is left without an outcome, and the audit chain holds."""
    rng = random.Random(_SEED)
    if not ground.shared:
        killed = await _everywhere(ground)
        await _at_random(ground, rng)
    else:
        async with beside(ground) as other:
            killed = await _everywhere(ground)
            await _at_random(ground, rng)
            assert other.returncode is None
    outcomes = await ground.judged()
    print(f"{killed} boundaries, {RANDOM} at random: {dict(outcomes)}")
    # marked and not sent: the proof fails where there is one, else nobody can tell
    assert set(outcomes) <= {"passed", "unknown", "failed"}, outcomes
    assert outcomes["passed"] > sum(outcomes.values()) * 0.8, outcomes


@pytest.mark.parametrize("ground", ["sqlite"], indirect=True)
async def test_a_second_process_on_one_file_refuses_to_start(ground: Ground) -> None:
    """Two engines on a SQLite file would do everything twice."""
    async with beside(ground):
        path = ground.order.written(ground.folder / "second.json")
        process = await _started(path)
        _, told = await asyncio.wait_for(process.communicate(), _MOST_S)
    assert process.returncode == 1
    assert "Another nccl-dns carries out steps" in told.decode()


@pytest.mark.parametrize("ground", ["postgresql"], indirect=True)
async def test_a_frozen_process_that_wakes_up_sends_nothing(ground: Ground) -> None:
    """What was taken over from a process that only slept is not done by it as well."""
    for number in range(3):
        trace = ground.folder / f"trace-{number}"
        order = replace(ground.order, chains=ground.chains(), trace=str(trace))
        path = order.written(ground.folder / f"frozen-{number}.json")
        process = await _started(path)
        await until(trace.exists)
        await asyncio.sleep(0.15 * number)
        process.send_signal(signal.SIGSTOP)
        async with beside(ground):
            await asyncio.sleep(4 * ground.order.ttl_s)
            process.send_signal(signal.SIGCONT)
            _, told = await asyncio.wait_for(process.communicate(), _MOST_S)
        assert process.returncode == 0, told.decode()[-3000:]
    await ground.judged()
