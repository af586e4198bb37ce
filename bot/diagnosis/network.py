"""Rules about addresses and silence: interfaces, connects, ranks that never joined."""

from __future__ import annotations

from bot.diagnosis import names
from bot.diagnosis.affected import by_elimination, of_voices
from bot.diagnosis.connects import connects
from bot.diagnosis.kinds import Cause, Kind, KnownFrom
from bot.diagnosis.model import Affected, Observation, Verdict
from bot.diagnosis.situation import Situation
from bot.diagnosis.voices import REACHED_KINDS, Voice

_UNUSABLE = ("169.254.", "fe80:", "127.")
_MOST_SILENT = 4096


def interface(situation: Situation) -> Verdict | None:
    """Judge NCCL and Gloo that found no usable interface, or advertised an unusable address."""
    view = situation.view
    faults = view.all_of(Kind.NO_INTERFACE, Kind.MESH_FAILED)
    if faults and view.went_on(faults[-1].origin.file, faults[-1].seq):
        return None
    voices = [voice for voice in view.voices.values() if voice.has(Kind.NO_INTERFACE)]
    seen = view.all_of(Kind.NO_INTERFACE)
    because = "no usable network interface was found on it"
    if not voices and view.count(Kind.MESH_FAILED):
        voices = [v for v in view.voices.values() if v.has(Kind.OWN_ADDRESS_UNKNOWN)]
        seen = view.all_of(Kind.OWN_ADDRESS_UNKNOWN, Kind.MESH_FAILED)
        because = "it advertises loopback: its own name has no address"
        if not voices and not any(_loopback(one.fields.get("text", "")) for one in seen):
            return None
    if not voices and not seen:
        voices = _without_address(situation)
        seen = view.all_of(Kind.OWN_ADDRESS_UNKNOWN) if voices else []
        because = "it advertises loopback: its own name has no address"
    if not voices and not seen:
        voices, seen = _unusable_peer(situation)
        because = "it uses loopback, where no other machine can reach it" if voices else ""
        if not seen:
            return None
    return Verdict(
        cause=Cause.INTERFACE_MISCONFIGURED,
        confidence="high" if because else "medium",
        affected=_by_nccl(situation, voices, because) if because else (),
        evidence=tuple(seen[:4]),
        why="no usable network interface, or an address that peers cannot use, was picked",
        ask=""
        if because
        else "the lines with `NET/Socket : Using` or `Bootstrap : Using` of the peer",
    )


def _by_nccl(situation: Situation, voices: list[Voice], because: str) -> tuple[Affected, ...]:
    """Name the machines, by NCCL's own prefix where no other label does."""
    found = of_voices(situation, voices, because)
    if any(one.host for one in found):
        return found
    hosts = {
        names.short(seen.origin.nccl_host)
        for voice in voices
        for seen in voice.first.values()
        if seen.origin.nccl_host and seen.kind in {Kind.NO_INTERFACE, Kind.LOOPBACK_USED}
    }
    return tuple(Affected(host=host, because=because) for host in sorted(hosts)) or found


def _loopback(text: str) -> bool:
    return "remote=[127." in text or "remote=[::1" in text or "remote=[localhost" in text


def _without_address(situation: Situation) -> list[Voice]:
    """Return who fell back to loopback, where connects then failed (TensorPipe)."""
    voices = [v for v in situation.view.voices.values() if v.has(Kind.OWN_ADDRESS_UNKNOWN)]
    failed = situation.view.count(Kind.CONNECT_FAILED, Kind.MESH_FAILED)
    return voices if failed else []


def _unusable_peer(situation: Situation) -> tuple[list[Voice], list[Observation]]:
    """Return who uses loopback, and connects to addresses that no other machine can have."""
    seen = [
        one
        for voice in situation.view.voices.values()
        for (peer, _, _), one in voice.connects.items()
        if peer.startswith(_UNUSABLE) and one.kind is Kind.NCCL_CONNECT_FAILED
    ]
    looped = [v for v in situation.view.voices.values() if v.has(Kind.LOOPBACK_USED)]
    return looped if seen else [], seen


def connect(situation: Situation) -> Verdict | None:
    """Judge connects that failed although the name, if any, was found."""
    view = situation.view
    blocked: list[Voice] = []
    refused: list[Voice] = []
    for voice in view.voices.values():
        if _got_through(situation, voice):
            continue
        out, no, _ = connects(voice)
        timed_out = voice.has(Kind.CONNECT_TIMEOUT, Kind.CONNECT_FAILED_ALL)
        gave_up = voice.has(Kind.NCCL_GAVE_UP, Kind.NCCL_CONNECT_FAILED, Kind.MESH_FAILED)
        if no and not out and (timed_out or gave_up or not _only_retrying(voice)):
            refused.append(voice)
        elif out or (timed_out and not _family_only(voice)):
            (refused if _to_itself(voice) and not out else blocked).append(voice)
        elif voice.has(Kind.NCCL_GAVE_UP):
            (refused if _retries_refused(situation) else blocked).append(voice)
        elif voice.has(Kind.MESH_FAILED):
            text = voice.first[Kind.MESH_FAILED].fields.get("text", "").lower()
            (refused if "refused" in text else blocked).append(voice)
    if blocked:
        return _unreachable(situation, blocked)
    if refused:
        return _not_listening(situation, refused)
    return None


def _got_through(situation: Situation, voice: Voice) -> bool:
    """Tell whether a voice's connects failed first and then worked."""
    last = max((seen.seq for seen in voice.connects.values()), default=-1)
    for kind in (Kind.CONNECT_TIMEOUT, Kind.CONNECT_FAILED_ALL, Kind.NCCL_GAVE_UP):
        if kind in voice.last:
            last = max(last, voice.last[kind].seq)
    file = voice.origin.file
    if situation.view.went_on(file, last):
        return True
    if not voice.gave_up and situation.view.went_on_elsewhere(file):
        return True
    return not voice.anonymous and voice.last_reached > last


def _only_retrying(voice: Voice) -> bool:
    return all(seen.kind is Kind.NOT_LISTENING_YET for seen in voice.connects.values())


def _family_only(voice: Voice) -> bool:
    """Tell whether a final failure is one of address family alone, on one machine."""
    out, no, family = connects(voice)
    return bool(family) and not out and not no and not voice.has(Kind.CONNECT_TIMEOUT)


def _to_itself(voice: Voice) -> bool:
    """Tell whether the target is the machine itself: then no network is involved."""
    peers = {peer for peer, _, _ in voice.connects if peer}
    return bool(peers) and all(names.is_loopback(peer) for peer in peers)


def _retries_refused(situation: Situation) -> bool:
    seen = situation.view.all_of(Kind.NCCL_RETRYING)
    return any("refused" in one.fields.get("text", "").lower() for one in seen)


def _evidence(situation: Situation, voices: list[Voice]) -> tuple[Observation, ...]:
    seen = sorted(
        (one for voice in voices[:3] for one in voice.connects.values()), key=lambda one: one.seq
    )
    lines = list({(one.origin.file, one.line): one for one in seen}.values())[:4]
    for voice in voices[:2]:
        lines += [
            voice.first[kind]
            for kind in (Kind.NCCL_GAVE_UP, Kind.MESH_FAILED)
            if kind in voice.first
        ]
    return tuple(lines + situation.view.all_of(Kind.CLIENTS_JOINED, Kind.STORE_REACHED)[:2])


def _target(voices: list[Voice]) -> str:
    for voice in voices:
        for peer, port, _ in voice.connects:
            if peer:
                return f"{peer}:{port}" if port else peer
    return "the peer"


def _unreachable(situation: Situation, voices: list[Voice]) -> Verdict:
    view = situation.view
    machines = {view.observer(voice) for voice in voices}
    through = _somebody_else_through(situation, voices)
    alone = len(machines) == 1 and (through or _others_do_not_complain(situation, voices))
    target = _target(voices)
    return Verdict(
        cause=Cause.PEER_UNREACHABLE,
        confidence="high" if alone else "medium",
        affected=_alone(situation, voices) if alone else (),
        evidence=_evidence(situation, voices),
        why=f"no look-up fails, but connects to {target} do not get through"
        + (", while others reach it" if through else ""),
        ask="" if through else "the log of one more machine: does it get through?",
        subject=target,
    )


def _alone(situation: Situation, voices: list[Voice]) -> tuple[Affected, ...]:
    """Name the one machine that cannot get through; in an unlabelled log by elimination."""
    found = of_voices(situation, voices, "it alone cannot get through")
    if any(one.host is not None or one.ranks for one in found):
        return found
    return by_elimination(situation, voices) or found


def _others_do_not_complain(situation: Situation, voices: list[Voice]) -> bool:
    """Tell whether the launcher names other machines, not the store's, that find no fault."""
    view = situation.view
    if any(voice.anonymous for voice in voices):
        return False
    known = {names.short(host) for host in view.task_host.values()}
    store = names.short(view.task_host[0]) if 0 in view.task_host else None
    return bool(known - {store} - {view.machine(voice) for voice in voices})


def _somebody_else_through(situation: Situation, voices: list[Voice]) -> bool:
    mine = {id(voice) for voice in voices}
    for voice in situation.view.voices.values():
        if voice.has(*REACHED_KINDS) and (id(voice) not in mine or voice.anonymous):
            return True
        if voice.anonymous and voice.has(Kind.RDZV_TIMEOUT, Kind.RDZV_CLOSED):
            return True
    joined = situation.most_joined
    return joined is not None and joined[0] > 1


def _not_listening(situation: Situation, voices: list[Voice]) -> Verdict:
    target = _target(voices)
    return Verdict(
        cause=Cause.PEER_NOT_LISTENING,
        confidence="medium",
        evidence=_evidence(situation, voices),
        why=f"{target} refuses or never answers at its own address: no process listens there",
        ask="the log of the rank that should listen there (rank 0 for the store)",
        subject=target,
    )


def rendezvous(situation: Situation) -> Verdict | None:
    """Judge ranks that waited in vain for somebody the log does not explain."""
    view = situation.view
    kinds = (Kind.CLIENTS_JOINED, Kind.KEYS_TIMEOUT, Kind.BARRIER_TIMEOUT, Kind.RDZV_TIMEOUT)
    waited = view.all_of(*kinds)
    if not waited and view.count(Kind.STORE_REACHED):
        waited = view.all_of(Kind.STORE_REACHED)
    if not waited and view.count(Kind.RDZV_CONNECTION):
        waited = view.all_of(Kind.RDZV_CONNECTION)
    if not waited or view.went_on(waited[-1].origin.file, waited[-1].seq):
        return None
    if view.count(Kind.PEER_CLOSED) and not view.count(*kinds):
        return None
    joined = situation.most_joined
    count = f" {joined[0]} of {joined[1]} joined." if joined else ""
    return Verdict(
        cause=Cause.RENDEZVOUS_TIMEOUT,
        confidence="medium",
        evidence=tuple(waited[:3] + [seen for seen, _ in view.exits[-3:]]),
        why=f"somebody never joined, and the log does not say why.{count}",
        ask="the log of the machines that are silent here, and `systemctl status systemd-resolved` "
        "on them",
    )


#: A log that is longer has something to say, in words that are not known here.
_MOST_SILENT_LINES = 2000


def cancelled_in_silence(situation: Situation) -> Verdict | None:
    """Judge a job that was ended from outside before anything in its log shows that it ran."""
    view = situation.view
    if view.cancelled_at is None or situation.progressed or view.lines > _MOST_SILENT_LINES:
        return None
    if not view.exits or any(seen.fields["how"].startswith("Exit") for seen, _ in view.exits):
        return None
    return Verdict(
        cause=Cause.RENDEZVOUS_TIMEOUT,
        confidence="low",
        evidence=tuple(view.all_of(Kind.CANCELLED)[:2] + [seen for seen, _ in view.exits[:4]]),
        why="nothing in this log shows that the ranks met before the job was ended from outside",
        ask="the output of the ranks themselves, and how long the job had waited",
    )


def with_silent(situation: Situation, verdict: Verdict, silent: set[int | str]) -> Verdict:
    """Return a rendezvous verdict that names who is silent.

    `silent` are the ranks (nodes under torchrun, or machines) of which there is not one line.
    """
    because = "not one line comes from it"
    if not silent:
        silent = set(_only_terminated(situation))
        because = "it said nothing and was only terminated, after others had ended by themselves"
    numbers = sorted(one for one in silent if isinstance(one, int))[:_MOST_SILENT]
    machines = sorted(one for one in silent if isinstance(one, str))[:_MOST_SILENT]
    affected = _silent_numbers(situation, numbers, because) + tuple(
        Affected(host=machine, because=because) for machine in machines
    )
    named = any(one.host for one in affected)
    return verdict._replace(
        confidence="high" if named else verdict.confidence,
        affected=affected,
        silent_ranks=() if situation.view.tasks_are_nodes else tuple(numbers),
    )


def with_silent_store(situation: Situation, verdict: Verdict, silent: set[int | str]) -> Verdict:
    """Return a refused verdict that names rank 0, where it has no line at all."""
    if 0 not in silent:
        return verdict
    because = "it serves the store, and not one line comes from it"
    return verdict._replace(affected=_silent_numbers(situation, [0], because))


def _silent_numbers(situation: Situation, numbers: list[int], because: str) -> tuple[Affected, ...]:
    view = situation.view
    nodes = view.tasks_are_nodes
    groups: dict[tuple[str | None, KnownFrom], list[int]] = {}
    for number in numbers:
        host = view.task_host.get(number) or (None if nodes else view.rank_host.get(number))
        known: KnownFrom = "log"
        if host is None:
            known = "guess" if view.dynamic else "launch"
            if nodes:
                host = view.launch.hosts[number] if number < len(view.launch.hosts) else None
            else:
                host = view.launch.host_of(number)
        groups.setdefault((names.short(host) if host else None, known), []).append(number)
    return tuple(
        Affected(
            host=host,
            ranks=() if nodes else tuple(members),
            node_rank=members[0] if nodes and len(members) == 1 else None,
            because=because,
            known_from=known if host else "log",
        )
        for (host, known), members in groups.items()
    )


def _only_terminated(situation: Situation) -> tuple[int, ...]:
    """Return the tasks that were ended from outside while others had ended by themselves."""
    view = situation.view
    ended = {
        t for seen, tasks in view.exits for t in tasks if seen.fields["how"].startswith("Exit")
    }
    terminated = {
        task
        for seen, tasks in view.exits
        for task in tasks
        if seen.fields["how"].startswith(("Terminated", "Killed"))
    }
    missing = None
    if situation.most_joined is not None:
        missing = situation.most_joined[1] - situation.most_joined[0]
    silent = tuple(sorted(terminated - ended))
    if not ended or not silent or (missing is not None and len(silent) > missing):
        return ()
    return silent
