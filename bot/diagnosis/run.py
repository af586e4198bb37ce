"""The way of one log through the engine, from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from bot.diagnosis import names
from bot.diagnosis.decide import NOTHING_READ, decide
from bot.diagnosis.explain import RESTART_MAY_HELP, SEVERITY, next_steps, summary
from bot.diagnosis.kinds import Cause, Kind
from bot.diagnosis.model import Launch, Observation, Verdict
from bot.diagnosis.network import with_silent, with_silent_store
from bot.diagnosis.origin import Origin
from bot.diagnosis.quoting import quoted
from bot.diagnosis.reading import Reader
from bot.diagnosis.result import AffectedMachine, Diagnosis, Evidence, LogFacts, Peer
from bot.diagnosis.scan import Literals, scan
from bot.diagnosis.second_look import (
    Mark,
    Speaker,
    look_for_nccl_hosts,
    look_for_other_lines,
    look_for_progress,
    look_for_speakers,
)
from bot.diagnosis.signatures import literals
from bot.diagnosis.situation import Situation
from bot.diagnosis.source import Source
from bot.diagnosis.view import View
from bot.diagnosis.voices import Voice

_MOST_EVIDENCE = 14
#: Distance between the positions of two files; no log is larger.
_FILE_STRIDE = 1 << 50


@cache
def _compiled() -> Literals:
    return Literals(literals())


@dataclass(kw_only=True)
class _Read:
    """What the first look counted."""

    lines: int = 0
    size_bytes: int = 0
    recognised: int = 0


def run(
    sources: list[Source],
    *,
    launch: Launch | None,
    believe_names: bool,
    on_bytes: Callable[[int], None] | None,
) -> Diagnosis:
    """Read every source, look again where the verdict hangs on it, and say what was found."""
    view = View(launch)
    read = _first_look(sources, view, believe_names=believe_names, on_bytes=on_bytes)
    _look_for_progress(sources, view, believe_names=believe_names)
    _look_for_other_lines(sources, view, believe_names=believe_names)
    _look_for_machines(sources, view)
    verdict = decide(view) if read.size_bytes else NOTHING_READ
    if verdict.cause is Cause.RENDEZVOUS_TIMEOUT:
        silent = _look_for_silent(sources, view, believe_names=believe_names)
        verdict = with_silent(Situation(view), verdict, silent)
    elif verdict.cause is Cause.PEER_NOT_LISTENING:
        silent = _look_for_silent(sources, view, believe_names=believe_names)
        verdict = with_silent_store(Situation(view), verdict, silent)
    return _published(view, verdict, read)


def _first_look(
    sources: list[Source],
    view: View,
    *,
    believe_names: bool,
    on_bytes: Callable[[int], None] | None,
) -> _Read:
    read = _Read()
    for index, source in enumerate(sources):
        reader = Reader(
            view.add,
            file=source.name,
            believe_name=believe_names,
            first_seq=index * _FILE_STRIDE,
        )
        with source.open() as stream:
            totals = scan(stream, _compiled(), reader, on_bytes=on_bytes)
        read.lines += totals.lines
        read.size_bytes += totals.size_bytes
        read.recognised += reader.recognised
        view.lines += totals.lines
        view.sections = view.sections or reader.sections
    return read


#: After what progress matters: it makes a warning of what would else be a failure.
_ANSWERABLE = (
    Kind.LOOKUP_FAILED,
    Kind.PY_LOOKUP_FAILED,
    Kind.HOST_NOT_FOUND,
    Kind.SSH_LOOKUP_FAILED,
    Kind.COMM_ID_LOOKUP_FAILED,
    Kind.CONNECT_FAILED,
    Kind.CONNECT_TIMEOUT,
    Kind.CONNECT_FAILED_ALL,
    Kind.REVERSE_LOOKUP_FAILED,
    Kind.NO_FAMILY,
    Kind.NCCL_CONNECT_FAILED,
    Kind.CLIENTS_JOINED,
    Kind.RDZV_TIMEOUT,
    Kind.RDZV_CONNECTION,
    Kind.LISTEN_FAILED,
    Kind.BIND_FAILED,
    Kind.OWN_ADDRESS_UNKNOWN,
)


@dataclass(kw_only=True)
class _Question:
    """What one voice last said that progress would answer."""

    mark: Mark
    voice: Voice
    #: answered only by the voice itself: others may go on for a while after one died
    itself: bool
    heard: int = 0


def _look_for_progress(sources: list[Source], view: View, *, believe_names: bool) -> None:
    """Find out who got on after the failures, if there were any."""
    questions = _questions(view)
    if not questions:
        return
    for index, source in enumerate(sources):
        first_seq = index * _FILE_STRIDE
        here = sorted(
            (one for seq, one in questions if first_seq <= seq < first_seq + _FILE_STRIDE),
            key=lambda one: one.mark,
        )
        last = max((one.mark.offset for one in here), default=-1)
        start = here[0].mark if here else Mark(offset=-1, line=1)
        if view.count(Kind.PY_LOOKUP_FAILED) and not view.elastic:
            start = Mark(offset=-1, line=1)  # a look-up after the first step is of something else

        def tell(
            seen: Observation,
            here: list[_Question] = here,
            last: int = last,
            start: Mark = start,
        ) -> Mark | None:
            view.add(seen)
            offset = seen.seq % _FILE_STRIDE
            here[:] = [one for one in here if not _answers(one, seen, view, offset)]
            if view.sections:
                return start  # no order holds between the files in it: all of it is looked at
            if offset > last and not any(one.itself for one in here):
                return None
            return here[0].mark if here else None

        with source.open() as stream:
            look_for_progress(
                stream,
                start,
                tell,
                file=source.name,
                believe_name=believe_names,
                first_seq=first_seq,
                sections=view.sections,
            )


#: So many progress lines of others after an exception tell that it was survived.
_SURVIVED = 2000


def _answers(question: _Question, seen: Observation, view: View, offset: int) -> bool:
    if offset <= question.mark.offset:
        return False
    if not question.itself or view.voice(seen.origin) is question.voice:
        return True
    question.heard += 1
    if question.heard >= _SURVIVED:
        question.voice.last_progress = max(question.voice.last_progress, seen.seq)
        return True
    return False


def _questions(view: View) -> list[tuple[int, _Question]]:
    found = []
    for voice in view.voices.values():
        for kinds, itself in ((_ANSWERABLE, False), ((Kind.OWN_ERROR,), not voice.anonymous)):
            seen = max(
                (voice.last[kind] for kind in kinds if kind in voice.last),
                key=lambda one: one.seq,
                default=None,
            )
            if seen is not None:
                mark = Mark(offset=seen.seq % _FILE_STRIDE, line=seen.line)
                found.append((seen.seq, _Question(mark=mark, voice=voice, itself=itself)))
    if not found and view.cancelled_at is not None:
        # ended from outside: did anything ever run?
        first = view.cancelled_at - view.cancelled_at % _FILE_STRIDE
        start = Mark(offset=-1, line=1)
        found.append((first, _Question(mark=start, voice=Voice(origin=Origin()), itself=False)))
    return found


#: So many other lines show that a labelled speaker, or a lone unlabelled one, got on.
_OTHER_LINES = {False: 1, True: 3}
_MOST_ASKED = 8


def _look_for_other_lines(sources: list[Source], view: View, *, believe_names: bool) -> None:
    """Find out whether who looked a name up in vain then printed something else."""
    if view.sections:
        return
    situation = Situation(view)
    failing = [
        voice
        for one in situation.failing
        for voice in one.voices
        if not voice.gave_up
        and Kind.LOOKUP_FAILED in voice.last
        and voice.last[Kind.LOOKUP_FAILED].seq == voice.last_lookup
    ]
    if situation.somebody_through and any(voice.anonymous for voice in failing):
        return
    if len(failing) > _MOST_ASKED:
        return  # so many do not print something else by chance
    for voice in failing:
        index, offset = divmod(voice.last_lookup, _FILE_STRIDE)
        source = sources[index]
        with source.open() as stream:
            found, last = look_for_other_lines(
                stream,
                Mark(offset=offset, line=1),
                voice.origin.voice,
                file=source.name,
                believe_name=believe_names,
            )
        if found >= _OTHER_LINES[voice.anonymous]:
            voice.quiet = index * _FILE_STRIDE + last


def _look_for_machines(sources: list[Source], view: View) -> None:
    """Find out whose log it is, where a lone unlabelled speaker may be asking for its own name."""
    situation = Situation(view)
    if len(situation.failing) != 1 or situation.somebody_through:
        return
    if any(voice.anonymous for voice in situation.failing[0].voices):
        for source in sources:
            with source.open() as stream:
                view.nccl_hosts |= look_for_nccl_hosts(stream)


def _look_for_silent(sources: list[Source], view: View, *, believe_names: bool) -> set[Speaker]:
    """Return the ranks (nodes under torchrun, or else machines) without any line at all."""

    def number_of(origin: Origin) -> Speaker | None:
        voice = Voice(origin=origin)
        return view.node_rank(voice) if view.tasks_are_nodes else view.rank(voice)

    def machine_of(origin: Origin) -> Speaker | None:
        return view.machine(Voice(origin=origin))

    numbers: set[Speaker] = set(range(_expected(view)))
    hosts: set[Speaker] = {names.short(host) for host in view.hosts}
    speaking = list(view.speaking())
    for everybody, who, spoken in (
        (numbers, number_of, {number_of(voice.origin) for voice in speaking}),
        (hosts, machine_of, {view.machine(voice) for voice in speaking}),
    ):
        missing = everybody - spoken
        if not missing or missing == everybody:
            continue
        for source in sources:
            with source.open() as stream:
                missing = look_for_speakers(
                    stream, missing, who, file=source.name, believe_name=believe_names
                )
        if missing and _plausible(view, missing, everybody):
            return missing
    return set()


def _expected(view: View) -> int:
    """Return how many speakers there should be: ranks, or nodes under torchrun."""
    tasks = {task for _, ended in view.exits for task in ended}
    ended = max(tasks) + 1 if tasks else 0
    if view.tasks_are_nodes:
        return len(view.launch.hosts) or view.nnodes or ended
    return view.world_size or view.launch.world_size or ended


def _plausible(view: View, missing: set[Speaker], everybody: set[Speaker]) -> bool:
    """Tell whether the missing ones can be those that never joined, not merely unlabelled ones."""
    if not view.joined or view.tasks_are_nodes:
        return len(missing) <= len(everybody) // 2
    joined, world, _ = view.joined[-1]
    return len(missing) <= max(world - joined, 0)


def _published(view: View, verdict: Verdict, read: _Read) -> Diagnosis:
    world = view.world_size or view.launch.world_size
    joined = view.joined[-1][0] if view.joined else None
    return Diagnosis(
        cause=verdict.cause,
        confidence=verdict.confidence,
        severity=SEVERITY.get(verdict.cause, "failure"),
        affected=tuple(
            AffectedMachine(
                host=quoted([one.host])[0] if one.host else None,
                ranks=one.ranks,
                node_rank=one.node_rank,
                because=one.because,
                known_from=one.known_from,
            )
            for one in verdict.affected
        ),
        peers=tuple(_peers(view)),
        world_size=world,
        clients_joined=joined,
        timeout_seconds=view.timeout_seconds,
        silent_ranks=verdict.silent_ranks,
        restart_may_help=verdict.cause in RESTART_MAY_HELP,
        summary=quoted([summary(verdict, world)])[0],
        next_steps=tuple(quoted(next_steps(verdict))),
        evidence=tuple(_quotes(verdict)),
        log=LogFacts(
            lines=read.lines,
            bytes=read.size_bytes,
            matched=read.recognised,
            first_time=view.first_time,
            last_time=view.last_time,
        ),
    )


_MOST_PEERS = 64


def _peers(view: View) -> Iterator[Peer]:
    """Yield every host that was looked up in vain or not reached, the most asked for first."""
    asked: dict[tuple[str, int | None], tuple[set[int], int]] = {}
    for voice in view.voices.values():
        for (host, port), lookup in voice.lookups.items():
            codes, count = asked.setdefault((host, port), (set(), 0))
            asked[host, port] = (codes | lookup.codes, count + lookup.count)
        for (host, port, _), seen in voice.connects.items():
            if seen.kind in _TARGETS and host:
                asked.setdefault((host, port), (set(), 0))
    ranked = sorted(asked.items(), key=lambda item: (-item[1][1], item[0][0], item[0][1] or 0))
    for (host, port), (codes, count) in ranked[:_MOST_PEERS]:
        yield Peer(host=quoted([host])[0], port=port, gai_codes=tuple(sorted(codes)), lookups=count)


#: Kinds that print the configured target; others print reverse look-ups.
_TARGETS = frozenset({Kind.CONNECT_TIMEOUT, Kind.CONNECT_FAILED_ALL})


def _quotes(verdict: Verdict) -> Iterator[Evidence]:
    lines: dict[tuple[str | None, int], Observation] = {}
    for one in verdict.evidence:
        if len(lines) < _MOST_EVIDENCE:
            lines.setdefault((one.origin.file, one.line), one)
    texts = quoted([one.text for one in lines.values()])
    files = quoted([one.origin.file or "" for one in lines.values()])
    for one, text, file in zip(lines.values(), texts, files, strict=True):
        yield Evidence(file=file or None, line=one.line, text=text)
