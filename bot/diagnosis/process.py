"""Rules about one process: its port, its own exception, its death; and what others see of it."""

from __future__ import annotations

import re

from bot.diagnosis.affected import from_table, of_voices
from bot.diagnosis.kinds import Cause, Kind
from bot.diagnosis.model import Affected, Observation, Verdict
from bot.diagnosis.names import short
from bot.diagnosis.patterns import Pattern
from bot.diagnosis.situation import Situation
from bot.diagnosis.view import View
from bot.diagnosis.voices import Voice

_IN_USE = frozenset({"98", "48", "10048"})
#: Ends of a task that are its own: a crash or a kill, not a cancellation's SIGTERM.
_CRASHED = ("Killed", "Segmentation fault", "Bus error", "Out Of Memory", "Illegal")
_OUT_OF_MEMORY = Pattern(r"out of memory|oom[-_ ]?kill", re.IGNORECASE)
#: Errors that programs print and survive: optional modules that are missing.
_OPTIONAL = ("ModuleNotFoundError", "ImportError")


def port_in_use(situation: Situation) -> Verdict | None:
    """Judge a store server that could not listen; it outranks all that the others then say."""
    view = situation.view
    voices = [
        voice
        for voice in view.voices.values()
        if voice.has(Kind.LISTEN_FAILED)
        and not view.went_on(voice.origin.file, voice.last[Kind.LISTEN_FAILED].seq)
    ]
    if not voices:
        voices = [
            voice
            for voice in view.voices.values()
            if _only_bind_failed(voice) and not situation.failing
        ]
    if not voices:
        return None
    seen = [
        voice.first[kind]
        for voice in voices
        for kind in (Kind.LISTEN_FAILED, Kind.BIND_FAILED)
        if kind in voice.first
    ]
    port = next((one.fields["port"] for one in seen if one.fields.get("port")), "")
    return Verdict(
        cause=Cause.PORT_IN_USE,
        confidence="high",
        affected=from_table(
            situation,
            of_voices(situation, voices, "its store server cannot listen: the port is taken"),
        ),
        evidence=tuple(seen[:4]),
        why=f"the store server cannot listen on port {port or '(not printed)'}: it is taken",
        subject=port,
    )


def _only_bind_failed(voice: Voice) -> bool:
    seen = voice.first.get(Kind.BIND_FAILED)
    if seen is None or voice.last_progress > seen.seq:
        return False
    return seen.fields.get("errno", "98") in _IN_USE


def failed_first(situation: Situation) -> Verdict | None:
    """Judge a process that died of its own fault; what the network says then is fall-out."""
    view = situation.view
    dead = [(voice, error) for voice in view.voices.values() if (error := _own(voice))]
    if dead:
        voices = [voice for voice, _ in dead]
        what = dead[0][1].fields
        words = what["type"] + (f": {what['text']}" if what.get("text") else "")
        return Verdict(
            cause=Cause.PROCESS_FAILED_FIRST,
            confidence="high" if not voices[0].anonymous else "medium",
            affected=from_table(
                situation, of_voices(situation, voices, "its process died of its own exception")
            ),
            evidence=tuple(error for _, error in dead[:4]) + _exit_lines(view)[:2],
            why=f"a process died of its own exception ({words[:160]}); the rest is fall-out",
            subject=words[:160],
        )
    return _killed(situation)


def _own(voice: Voice) -> Observation | None:
    """Return the voice's own exception, if it died of it before the network had any say."""
    for error in voice.own_errors:
        network = voice.first_network
        if network is not None and network < error.seq:
            continue
        if voice.last_progress > error.seq:
            continue
        alive = voice.last_life > error.seq
        optional = error.fields["type"].rpartition(".")[2] in _OPTIONAL
        if alive and (not voice.anonymous or optional):
            continue
        return error
    return None


def _killed(situation: Situation) -> Verdict | None:
    """Judge a process that was killed or crashed without an exception."""
    view = situation.view
    first_network = min(
        (v.first_network for v in view.voices.values() if v.first_network is not None),
        default=None,
    )
    affected: list[Affected] = []
    seen: list[Observation] = []
    for exit_line, tasks in view.exits:
        if view.cancelled_at is not None and view.cancelled_at < exit_line.seq:
            break
        if exit_line.fields["how"].startswith(_CRASHED):
            ranks = () if view.tasks_are_nodes else tasks
            affected.append(
                Affected(
                    host=short(exit_line.fields["node"]),
                    ranks=ranks,
                    node_rank=tasks[0] if view.tasks_are_nodes and tasks else None,
                    because=f"its task ended with {exit_line.fields['how']}",
                )
            )
            seen.append(exit_line)
    if not seen:
        for voice in view.voices.values():
            kill = voice.first.get(Kind.PROCESS_KILLED)
            if kill is None or view.went_on(voice.origin.file, kill.seq):
                continue
            if view.cancelled_at is not None and view.cancelled_at < kill.seq:
                continue
            seen.append(kill)
            affected.extend(of_voices(situation, (voice,), "a process of it was killed"))
    if not seen:
        affected, seen = _crashed_by_table(situation)
    if not seen or (
        situation.failing and first_network is not None and _later(seen, first_network)
    ):
        return None
    return Verdict(
        cause=Cause.PROCESS_FAILED_FIRST,
        confidence="medium",
        affected=from_table(situation, tuple(dict.fromkeys(affected))[:64]),
        evidence=tuple(seen[:4]),
        why="a process was killed or crashed; what the others say of the network follows from it",
        ask="the kernel log of that machine (`dmesg`), and the log of the rank that died",
    )


def _later(seen: list[Observation], first_network: int) -> bool:
    """Tell whether look-ups failed before any process died; memory runs out by itself."""
    if any(_OUT_OF_MEMORY.search(one.text) for one in seen):
        return False
    return min(one.seq for one in seen) > first_network


def _crashed_by_table(situation: Situation) -> tuple[list[Affected], list[Observation]]:
    """Find crashes by signal in torchrun's failure tables."""
    view = situation.view
    found = [one for one in view.root_causes if one.fields["exit"].startswith("-")]
    found = [one for one in found if one.fields["exit"] not in {"-15", "-2"}]
    if situation.failing:
        return [], []
    affected = [
        Affected(
            host=short(one.fields["host"]) if one.fields.get("host") else None,
            ranks=(int(one.fields["rank"]),) if one.fields.get("rank") else (),
            because=f"its process ended with exit code {one.fields['exit']}",
        )
        for one in found
    ]
    return affected, found


def _exit_lines(view: View) -> tuple[Observation, ...]:
    return tuple(seen for seen, _ in view.exits if seen.fields["how"].startswith("Exited"))


def fall_out(situation: Situation) -> Verdict | None:
    """Judge a log that shows only the fall-out: peers or the store went away."""
    view = situation.view
    seen = view.all_of(Kind.PEER_CLOSED, Kind.STORE_GONE, Kind.RDZV_CLOSED, Kind.ROOT_CAUSE)
    if not seen:
        return None
    if view.went_on(seen[-1].origin.file, seen[-1].seq):
        return None
    affected = tuple(
        Affected(
            host=short(one.fields["host"]) if one.fields.get("host") else None,
            ranks=(int(one.fields["rank"]),) if one.fields.get("rank") else (),
            because="the launcher names it as the first failure that it saw",
        )
        for one in view.root_causes[:1]
    )
    return Verdict(
        cause=Cause.PROCESS_FAILED_FIRST,
        confidence="low",
        affected=affected,
        evidence=tuple(seen[:4]),
        why="connected peers went away: this is the fall-out of a death that this "
        "log does not show",
        ask="the log of the rank or node that went away first",
    )
