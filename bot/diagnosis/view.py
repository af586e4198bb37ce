"""Everything that was observed, by speaker, and who sits where.

A *voice* is one speaker as the prefixes tell it: a rank, a task, a pod, a file, or the unlabelled
merge of everybody. A *machine* is where voices sit, once the log has linked them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from bot.diagnosis import names
from bot.diagnosis.kinds import Kind
from bot.diagnosis.model import Launch, Observation
from bot.diagnosis.notes import MOST_VOICES, NOTES
from bot.diagnosis.origin import Origin
from bot.diagnosis.voices import LIFE_KINDS, NETWORK_KINDS, WARNING_KINDS, Voice
from bot.errors import PlacementError


class View:
    """All observations of one diagnosis."""

    def __init__(self, launch: Launch | None = None) -> None:
        """Start empty; `launch` is what someone outside the log says of the job."""
        self.launch = launch or Launch()
        self.voices: dict[tuple[object, ...], Voice] = {}
        self.task_host: dict[int, str] = {}
        self.rank_host: dict[int, str] = {}
        #: (observation, tasks) of every exit line of the launcher, in order
        self.exits: list[tuple[Observation, tuple[int, ...]]] = []
        #: the last answer of `tasks_are_nodes`, and what it was given for
        self._judged: tuple[tuple[int, int | None], bool] = ((0, None), False)
        self.cancelled_at: int | None = None
        self.joined: list[tuple[int, int, Observation]] = []
        self.world_size: int | None = None
        self.timeout_seconds: float | None = None
        #: rows of torchrun's failure tables, and those of them that it takes for the first
        self.failures: list[Observation] = []
        self.root_causes: list[Observation] = []
        self.elastic = False
        self.dynamic = False
        self.standalone = False
        self.nnodes: int | None = None
        self.endpoints: set[str] = set()
        #: machines whose shell prompt stands in the text
        self.prompts: set[str] = set()
        #: ranks and node ranks that command lines and environments in the text give
        self.own_ranks: set[int] = set()
        #: machines that NCCL's own prefix names
        self.nccl_hosts: set[str] = set()
        self.nodes_text: str | None = None
        self.first_time: str | None = None
        self.last_time: str | None = None
        #: lines read, over all files
        self.lines = 0
        #: whether `==> name <==` headers were seen
        self.sections = False
        #: last progress of anybody, per file
        self.progress: dict[str | None, int] = {}
        #: first progress of anybody, per file, where it was looked for from the start
        self.first_progress: dict[str | None, int] = {}
        #: last network failure of anybody, per file
        self.failure: dict[str | None, int] = {}

    def voice(self, origin: Origin) -> Voice:
        """Return the voice that an origin belongs to."""
        key = origin.voice
        voice = self.voices.get(key)
        if voice is None:
            if len(self.voices) >= MOST_VOICES:
                origin, key = Origin(), Origin().voice
            voice = self.voices.setdefault(key, Voice(origin=origin))
        return voice

    def add(self, seen: Observation) -> None:
        """Take one observation in."""
        if seen.time is not None and seen.kind is not Kind.PROGRESS:
            self.first_time = self.first_time or seen.time
            self.last_time = seen.time
        if seen.kind is Kind.BARRIER_TIMEOUT and not seen.origin.labelled:
            seen = seen._replace(origin=seen.origin._replace(rank=int(seen.fields["rank"])))
        voice = self.voice(seen.origin)
        kind = seen.kind
        voice.counts[kind] += seen.repeats
        voice.first.setdefault(kind, seen)
        voice.last[kind] = seen
        if kind is not Kind.PROGRESS:
            # where the search for progress ends depends on what came before it
            self._link(seen)
        if kind in NETWORK_KINDS:
            if voice.first_network is None:
                voice.first_network = seen.seq
            if voice.first_fatal is None and kind not in WARNING_KINDS:
                voice.first_fatal = seen.seq
            file = seen.origin.file
            self.failure[file] = max(self.failure.get(file, -1), seen.seq)
        if kind in LIFE_KINDS:
            voice.last_life = max(voice.last_life, seen.seq)
        note = NOTES.get(kind)
        if note is not None:
            note(self, voice, seen)

    def _link(self, seen: Observation) -> None:
        """Note which machine a task or rank sits on, where the line says both."""
        origin = seen.origin
        if origin.nccl_host is not None and len(self.nccl_hosts) < MOST_VOICES:
            self.nccl_hosts.add(origin.nccl_host)
        host = origin.host or origin.nccl_host
        if host is None:
            return
        if origin.task is not None:
            self.task_host.setdefault(origin.task, host)
        if origin.rank is not None:
            self.rank_host.setdefault(origin.rank, host)

    def went_on(self, file: str | None, seq: int) -> bool:
        """Tell whether anybody in the same file reports progress after a position."""
        return self.progress.get(file, -1) > seq

    def went_on_elsewhere(self, file: str | None) -> bool:
        """Tell whether another file ends in progress: no order holds between files."""
        return any(
            last > self.failure.get(other, -1)
            for other, last in self.progress.items()
            if other != file
        )

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Return the machines of the job in node order, as the launch or the log lists them."""
        if self.launch.hosts or self.nodes_text is None:
            return self.launch.hosts
        from bot.fleet.nodes import node_list

        try:
            return node_list(self.nodes_text)
        except PlacementError:
            return ()

    # ------------------------------------------------------------------ who is where

    def machine(self, voice: Voice) -> str | None:
        """Return the machine that a voice sits on, short, or None where the log does not say."""
        origin = voice.origin
        if origin.host is not None:
            return names.short(origin.host)
        if origin.task is not None and origin.task in self.task_host:
            return names.short(self.task_host[origin.task])
        rank = self.rank(voice)
        if rank is not None:
            host = self.rank_host.get(rank)
            if host is None and not self.tasks_are_nodes:
                host = self.task_host.get(rank)
            if host is not None:
                return names.short(host)
        if not (voice.anonymous and origin.node_rank is None and origin.file is None):
            named = {local for local in voice.locals if not names.is_address(local)}
            if len(named) == 1:
                return next(iter(named))
        return None

    @property
    def tasks_are_nodes(self) -> bool:
        """Tell whether a launcher's task is a whole node (torchrun), not a rank."""
        if self.elastic:
            return True
        if self._judged[0] != (len(self.exits), self.world_size):
            self._judged = ((len(self.exits), self.world_size), self._one_task_a_node())
        return self._judged[1]

    def _one_task_a_node(self) -> bool:
        tasks = {task for _, ended in self.exits for task in ended}
        nodes = {seen.fields["node"] for seen, _ in self.exits}
        return bool(
            self.world_size
            and len(tasks) == len(nodes) > 1
            and tasks == set(range(len(tasks)))
            and self.world_size % len(tasks) == 0
            and self.world_size > len(tasks)
        )

    def rank(self, voice: Voice) -> int | None:
        """Return the global rank of a voice, where the log tells it."""
        if voice.origin.rank is not None:
            return voice.origin.rank
        if voice.origin.task is not None and not self.tasks_are_nodes:
            return voice.origin.task
        return None

    def node_rank(self, voice: Voice) -> int | None:
        """Return the node rank of a voice, where the log tells it."""
        if voice.origin.node_rank is not None:
            return voice.origin.node_rank
        if voice.group_rank is not None and not voice.anonymous:
            return voice.group_rank
        return voice.origin.task if self.tasks_are_nodes else None

    def observer(self, voice: Voice) -> object:
        """Return what counts as one observer: the machine, or else the rank, task or file."""
        origin = voice.origin
        return self.machine(voice) or (origin.file, origin.rank, origin.task, origin.node_rank)

    def speaking(self) -> Iterator[Voice]:
        """Yield the voices of processes, not those in which only a launcher speaks."""
        for voice in self.voices.values():
            if any(kind not in _LAUNCHER_KINDS for kind in voice.first):
                yield voice

    def count(self, *kinds: Kind) -> int:
        """Return how often the kinds were observed, over all voices."""
        return sum(voice.counts.get(kind, 0) for voice in self.voices.values() for kind in kinds)

    def all_of(self, *kinds: Kind) -> list[Observation]:
        """Return the first and last observations of the kinds, in order."""
        found = {}
        for voice in self.voices.values():
            for kind in kinds:
                for seen in (voice.first.get(kind), voice.last.get(kind)):
                    if seen is not None:
                        found[seen.origin.file, seen.line, seen.kind] = seen
        return sorted(found.values(), key=lambda seen: seen.seq)


_LAUNCHER_KINDS = frozenset(
    {
        Kind.SECTION,
        Kind.TASK_ENDED,
        Kind.CANCELLED,
        Kind.NODES,
        Kind.WORLD_SIZE,
        Kind.LAUNCH,
        Kind.PROCESS_KILLED,
    }
)
