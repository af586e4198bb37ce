"""Check what somebody wants looked at, while the parent shows how far that is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

from bot.chat import logs
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ChatError
from bot.chat.port import SharedFile
from bot.chat.progress import Progress
from bot.diagnosis import Source, of_bytes
from bot.diagnosis.leaks import Leaks
from bot.errors import BotError
from bot.hosts.matrix import Matrix, Observer, observed
from bot.incidents.incident import Incident
from bot.reports.slack.notices import secret_found
from bot.triage.case import Asked, Case
from bot.triage.check import examine
from bot.triage.model import Checked
from bot.triage.reading import counted

_LOG = logging.getLogger(__name__)
#: Until the parent is edited for the first time: most is read before that.
_FIRST_EDIT_S = 0.6
#: Between two edits of it.
_EDIT_EVERY_S = 1.0
#: From so many machines on there is something to compare.
_SEVERAL = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to be looked at."""

    job: str | None = None
    text: str = ""
    #: who wrote the text, where that is not whoever asks
    written_by: str = ""
    files: tuple[SharedFile, ...] = ()
    #: machines that a person picked
    named: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Return what is the same when the same is asked again."""
        told = [self.text, *(one.id for one in self.files)]
        return sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What came of a check."""

    checked: Checked
    #: who resolves whom; None where fewer than two machines were asked for names
    matrix: Matrix | None
    #: tells whoever has posted secrets, and nobody else
    warn: Callable[[], Awaitable[None]]


@dataclass(kw_only=True)
class _Posters:
    """Who has posted what is read, and what secrets it holds."""

    asker: Asker
    leaks: dict[str, list[Leaks]] = field(default_factory=dict)

    def of(self, poster: str, source: Source) -> Source:
        """Return a source whose secrets are counted for whoever has posted it."""
        counting = Leaks()
        self.leaks.setdefault(poster or self.asker.user, []).append(counting)
        return counting.of(source)


async def checked(desk: Desk, asker: Asker, incident: Incident, wanted: Wanted) -> Found:
    """Check what is wanted; the parent, once there is one, says how far that is.

    Whoever has posted secrets is told by what is returned, or at once where nothing comes of it.

    Raises BotError where nothing comes of it.
    """
    progress = _begun(desk, incident, wanted)
    posters = _Posters(asker=asker)
    try:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(_shown(desk, incident, progress))
            sources = await _sources(desk, stack, wanted, posters)
            asked = Asked(job=wanted.job, logs=sources, named=wanted.named)
            found, case = await examine(desk.services, asked, progress.tell)
    except AwayError:
        raise  # all of it is done again
    except BotError:
        await _warn(desk, asker, posters)
        raise
    finally:
        desk.outbox.renderer.progress.pop(incident.id, None)
    return Found(checked=found, matrix=_matrix(case), warn=partial(_warn, desk, asker, posters))


def _begun(desk: Desk, incident: Incident, wanted: Wanted) -> Progress:
    """Return how far a check is; the parent shows it from now on."""
    known = desk.outbox.renderer.progress.get(incident.id)
    if known is not None:
        return known
    progress = Progress.of(
        level=desk.services.level, job=bool(wanted.job), logs=bool(wanted.text or wanted.files),
        named=bool(wanted.named),
    )  # fmt: skip
    if incident.check is not None:
        progress.changed.set()
    desk.outbox.renderer.progress[incident.id] = progress
    return progress


async def _sources(
    desk: Desk, stack: AsyncExitStack, wanted: Wanted, posters: _Posters
) -> tuple[Source, ...]:
    found = []
    if wanted.text:
        source = of_bytes(wanted.text.encode("utf-8", "replace"))
        found.append(posters.of(wanted.written_by, source))
    for file in wanted.files:
        parts = desk.chat.download(file)
        read = await stack.enter_async_context(logs.reading(file, parts))
        found += [posters.of(file.user, one) for one in read]
    return tuple(found)


async def _warn(desk: Desk, asker: Asker, posters: _Posters) -> None:
    """Tell whoever has posted secrets, and nobody else."""
    for poster, leaks in posters.leaks.items():
        counts = await counted(desk.services.aside, leaks)
        if not counts:
            continue
        said = secret_found(counts, "")
        if poster == asker.user:
            await desk.tell(asker, said)
        else:
            await desk.whisper(poster, asker, said)


def _matrix(case: Case) -> Matrix | None:
    """Return who resolves whom, of the machines that were asked for names."""
    names = case.question.names
    looked = [*case.looked.values(), *([case.peer] if case.peer else [])]
    asked: list[Observer] = [
        observed(one.evidence, names) for one in looked if one.evidence is not None
    ]
    if not names or len(asked) < _SEVERAL:
        return None
    return Matrix(names=tuple(names), observers=tuple(asked))


@asynccontextmanager
async def _shown(desk: Desk, incident: Incident, progress: Progress) -> AsyncIterator[None]:
    """Edit the parent at each change, at most once a second, until the block ends."""
    over = asyncio.Event()

    async def edit() -> None:
        wait_s = _FIRST_EDIT_S
        while not over.is_set():
            await progress.changed.wait()
            progress.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), wait_s)
            if over.is_set():
                return
            wait_s = 0.0
            try:
                if parent := await desk.parent(incident):
                    await desk.outbox.edit(parent.id)
            except ChatError as error:
                _LOG.warning("the parent stays as it is: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _EDIT_EVERY_S)

    editing = asyncio.create_task(edit())
    try:
        yield
    finally:
        over.set()
        progress.changed.set()
        await editing
