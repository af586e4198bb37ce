"""Prove which way is asked, and what is said when nobody remembers a job."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from bot.schedulers.about import About
from bot.schedulers.errors import (
    AccessError,
    JobIdError,
    NeedsWayError,
    NodeHeldError,
    PurgedJobError,
    SchedulerUnavailableError,
    UnknownJobError,
    UnknownNodeError,
)
from bot.schedulers.ids import parse
from bot.schedulers.model import Job, JobState, KnownFrom, Node, NodeFlag
from bot.schedulers.port import Operation
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.way import History, Way

pytestmark = pytest.mark.anyio

JOB = Job(id="48213", cluster="hall", state=JobState.FAILED, raw_state="FAILED", nodes=("n0",))
_HISTORY = frozenset({Operation.HISTORY})
NODE = Node(name="n0", cluster="hall", state="IDLE", raw_state="IDLE")


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@dataclass(kw_only=True)
class Told(Way):
    """A way that answers what it was told to, or fails as it was told to."""

    cluster: str = "hall"
    called: str = "told"
    operations: frozenset[Operation] = frozenset(Operation) - {Operation.STEPS}
    jobs: tuple[Job, ...] = ()
    remembered: History = field(default_factory=History)
    nodes: dict[str, Node] = field(default_factory=lambda: {"n0": NODE})
    failing: Exception | None = None
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Name the way."""
        self.name = self.called

    @property
    def can(self) -> frozenset[Operation]:
        """Return what this way can do."""
        return self.operations

    async def live(self, number: int) -> tuple[Job, ...]:
        """Return the jobs."""
        self._ask(f"live {number}")
        return self.jobs

    async def history(self, number: int) -> History:
        """Return what is remembered."""
        self._ask(f"history {number}")
        return self.remembered

    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return the jobs."""
        self._ask(f"failures {since}")
        return self.jobs

    async def all_jobs(self) -> tuple[Job, ...]:
        """Return the jobs."""
        self._ask("jobs")
        return self.jobs

    async def about(self) -> About:
        """Return its name."""
        self._ask("about")
        return About(way=self.name)

    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        self._ask("nodes")
        return tuple(self.nodes.values())

    async def some_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return the nodes that are there."""
        self._ask(f"nodes {names}")
        return tuple(self.nodes[name] for name in names if name in self.nodes)

    async def drain(self, node: str, reason: str) -> None:
        """Say that it was done, while somebody else is quicker."""
        self._ask(f"drain {node}")
        taken = replace(NODE, flags=frozenset({NodeFlag.DRAIN}), reason="mine")
        self.nodes[node] = taken
        assert reason

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.failing is not None:
            raise self.failing


def hall(*ways: Way) -> SlurmScheduler:
    """Return a cluster with these ways."""
    return SlurmScheduler("hall", ways)


async def test_the_first_way_that_can_is_taken() -> None:
    """A way that cannot is passed over, and the second is not asked when the first answers."""
    cannot = Told(operations=frozenset({Operation.DRAIN}), called="half")
    first, second = Told(jobs=(JOB,), called="first"), Told(called="second")
    scheduler = hall(cannot, first, second)

    assert (await scheduler.job(parse("48213"))).id == "48213"
    assert scheduler.ways(Operation.JOB) == ("first", "second")
    assert (cannot.asked, second.asked) == ([], [])


async def test_a_way_out_of_reach_is_passed_over_and_a_refusal_is_not() -> None:
    """Who refuses has answered; asking elsewhere would go around it."""
    away = Told(failing=SchedulerUnavailableError("away"))
    denied = Told(failing=AccessError("denied"))
    fine = Told(jobs=(JOB,))

    assert (await hall(away, fine).job(parse("48213"))).id == "48213"
    with pytest.raises(AccessError):
        await hall(denied, fine).job(parse("48213"))
    with pytest.raises(SchedulerUnavailableError):
        await hall(away, away).job(parse("48213"))


async def test_without_a_way_nothing_can_be_asked() -> None:
    """The error says what is configured."""
    with pytest.raises(NeedsWayError, match="settings have nothing"):
        await hall().job(parse("48213"))
    with pytest.raises(NeedsWayError, match=r"drain of n0 .* settings have half"):
        await hall(Told(operations=frozenset({Operation.NODES}), called="half")).drain("n0", "x")


async def test_a_task_that_is_forgotten_while_others_live() -> None:
    """The rest of the array does not stand for it: whoever remembers is asked."""
    other = replace(JOB, id="48216", array_job=48213, array_task=3)
    mine = replace(JOB, id="48220", array_job=48213, array_task=7, known_from=KnownFrom.ACCOUNTING)
    way = Told(jobs=(other,), remembered=History(jobs=(mine,), accounting=True))

    assert (await hall(way).job(parse("48213_7"))).known_from is KnownFrom.ACCOUNTING
    with pytest.raises(UnknownJobError, match="accounting of cluster hall knows job 48213_9"):
        await hall(way).job(parse("48213_9"))


@pytest.mark.parametrize(
    ("history", "error", "said"),
    [
        (History(accounting=True), UnknownJobError, "nor the accounting"),
        (History(accounting=False, next_number=100), UnknownJobError, "next job is 100"),
        (
            History(accounting=False, next_number=99999, forgets_after=300),
            PurgedJobError,
            "48213 was purged, and accounting is disabled.*300 s after its end",
        ),
        (History(accounting=False), PurgedJobError, "was purged or never existed"),
    ],
)
async def test_why_a_job_is_not_there(history: History, error: type[Exception], said: str) -> None:
    """Unknown to accounting, never given out, purged for sure, and perhaps purged."""
    with pytest.raises(error, match=said):
        await hall(Told(remembered=history)).job(parse("48213"))


async def test_the_other_way_may_remember() -> None:
    """REST without accounting says nothing about what `sacct -c` knows."""
    rest = Told(remembered=History(accounting=False))
    login = Told(remembered=History(jobs=(JOB,), accounting=False))

    assert (await hall(rest, login).job(parse("48213"))).id == "48213"


async def test_a_way_out_of_reach_is_not_taken_for_forgetting() -> None:
    """Where nobody could be asked the job is not said to be purged; where another could, it is."""
    away = Told(failing=SchedulerUnavailableError("away"), operations=_HISTORY)
    knows_nothing = Told(remembered=History(accounting=False))
    live_only = Told(operations=frozenset({Operation.JOB}))

    with pytest.raises(SchedulerUnavailableError):
        await hall(live_only, away).job(parse("48213"))
    with pytest.raises(PurgedJobError):
        await hall(away, knows_nothing).job(parse("48213"))


async def test_failures_are_ordered_and_recent() -> None:
    """The latest first; what ended before, or at no known time, is left out."""
    times = [datetime(2026, 11, 30, hour, tzinfo=UTC) for hour in (1, 5, 3)]
    jobs = tuple(replace(JOB, id=str(at.hour), ended_at=at) for at in times)
    way = Told(jobs=(*jobs, replace(JOB, ended_at=None)))

    found = await hall(way).failures(datetime(2026, 11, 30, 2, tzinfo=UTC))

    assert [job.id for job in found] == ["5", "3"]


async def test_nodes_come_in_the_order_of_the_question() -> None:
    """And none is left out silently."""
    nodes = {name: replace(NODE, name=name) for name in ("a", "b")}
    scheduler = hall(Told(nodes=nodes))

    assert [node.name for node in await scheduler.named_nodes(("b", "a"))] == ["b", "a"]
    with pytest.raises(UnknownNodeError, match="no node c"):
        await scheduler.named_nodes(("a", "c"))


async def test_a_drain_that_somebody_overtook_is_not_taken_for_ours() -> None:
    """The node is read again after the change, and the other reason is quoted."""
    way = Told()

    with pytest.raises(NodeHeldError, match=r'"mine".*at the same moment'):
        await hall(way).drain("n0", "resolver failed")
    assert way.asked == ["nodes ('n0',)", "drain n0", "nodes ('n0',)"]


@pytest.mark.parametrize("what", ["job", "hold", "cancel", "requeue"])
async def test_an_id_of_another_kind_is_refused(what: str) -> None:
    """Kubernetes' objects are nothing that Slurm can be asked about."""
    way = Told(jobs=(JOB,))

    with pytest.raises(JobIdError, match="no job of Slurm"):
        await getattr(hall(way), what)(parse("ml/pytorchjob/llama"))
    assert way.asked == []


async def test_a_way_says_that_it_cannot_change_anything() -> None:
    """What a way does not override is refused with what is needed instead."""
    way = Told()

    for refused in (
        way.resume("n0"),
        way.hold("1"),
        way.cancel("1"),
        way.requeue("1"),
        way.steps(JOB),
        way.script(JOB),
    ):
        with pytest.raises(NeedsWayError, match="needs a login node"):
            await refused
