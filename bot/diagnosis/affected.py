"""Who is affected: from voices to machines and ranks, each with how it is known."""

from __future__ import annotations

from collections.abc import Iterable

from bot.diagnosis import names
from bot.diagnosis.kinds import Kind, KnownFrom
from bot.diagnosis.model import Affected
from bot.diagnosis.situation import Failing, Situation
from bot.diagnosis.voices import REACHED_KINDS, Voice


def of_voices(situation: Situation, voices: Iterable[Voice], because: str) -> tuple[Affected, ...]:
    """Return the machines and ranks of some voices, one entry a machine."""
    view = situation.view
    groups: dict[str | None, list[Voice]] = {}
    for voice in voices:
        groups.setdefault(view.machine(voice), []).append(voice)
    found = []
    for machine, members in groups.items():
        told = {rank for voice in members if not voice.anonymous for rank in voice.global_ranks}
        ranks = sorted({rank for rank in map(view.rank, members) if rank is not None} or told)
        nodes = {node for node in map(view.node_rank, members) if node is not None}
        found.append(
            _placed(
                situation,
                Affected(
                    host=machine,
                    ranks=tuple(ranks),
                    node_rank=nodes.pop() if len(nodes) == 1 else None,
                    because=because,
                ),
                {voice.origin.local_rank for voice in members} - {None},
            )
        )
    return _merged(found)


def of_failing(situation: Situation, failing: tuple[Failing, ...]) -> tuple[Affected, ...]:
    """Return the machines whose look-ups fail; where no line names one, by elimination."""
    voices = [voice for one in failing for voice in one.voices]
    because = "its look-ups fail and do not recover"
    found = of_voices(situation, voices, because)
    if any(one.host is not None for one in found) or any(one.ranks for one in found):
        return found
    return by_elimination(situation, voices) or found


def by_elimination(situation: Situation, voices: list[Voice]) -> tuple[Affected, ...]:
    """Name who is behind unlabelled lines from what else the log tells; empty where it does not."""
    missing = _missing_ranks(situation)
    if missing:
        return missing
    machine, how = _by_elimination(situation, voices)
    if machine is None:
        return ()
    known: KnownFrom = "launch" if how == "nodes" and situation.view.launch.hosts else "log"
    return (Affected(host=machine, because=_WHY[how], known_from=known),)


def _missing_ranks(situation: Situation) -> tuple[Affected, ...]:
    """Name the ranks that did not reach the store, where all the others say that they did."""
    view = situation.view
    joined = situation.most_joined
    if joined is None or view.tasks_are_nodes:
        return ()
    reached = {view.rank(voice) for voice in view.voices.values() if voice.has(*REACHED_KINDS)}
    missing = sorted(set(range(joined[1])) - {rank for rank in reached if rank is not None})
    if len(missing) != joined[1] - joined[0]:
        return ()
    groups: dict[str | None, list[int]] = {}
    for rank in missing:
        host = view.task_host.get(rank) or view.rank_host.get(rank)
        groups.setdefault(names.short(host) if host else None, []).append(rank)
    return tuple(
        _placed(
            situation,
            Affected(
                host=host,
                ranks=tuple(ranks),
                because="these ranks alone did not reach the store, and all others say so",
            ),
            set(),
        )
        for host, ranks in groups.items()
    )


def from_table(situation: Situation, found: tuple[Affected, ...]) -> tuple[Affected, ...]:
    """Name who failed from torchrun's failure table, where the lines themselves do not."""
    if any(one.host is not None or one.ranks for one in found):
        return found
    causes = situation.view.root_causes
    named = {(one.fields.get("host", ""), one.fields.get("rank", "")) for one in causes}
    if len(named) != 1:
        return found
    host, rank = named.pop()
    return (
        Affected(
            host=names.short(host) if host else None,
            ranks=(int(rank),) if rank else (),
            because="the launcher's table names it as the first failure",
        ),
    )


_WHY = {
    "exits": "its tasks were the only ones still running when the last of these lines was logged",
    "first exit": "its task is the first to exit after the look-up failed",
    "nodes": "it is the only machine of the job that did not reach the store",
}


def _by_elimination(situation: Situation, voices: list[Voice]) -> tuple[str | None, str]:
    """Name the machine behind unlabelled lines from what else the log tells."""
    view = situation.view
    if view.exits:
        fatal = [
            voice.last[kind].seq
            for voice in voices
            for kind in (Kind.PY_LOOKUP_FAILED, Kind.HOST_NOT_FOUND)
            if kind in voice.last
        ]
        if fatal:
            after = [
                seen
                for seen, _ in view.exits
                if seen.seq > min(fatal) and seen.fields["how"].startswith("Exited")
            ]
            if after:
                return names.short(after[0].fields["node"]), "first exit"
            return None, ""
        last = max(
            (
                voice.last[kind].seq
                for voice in voices
                for kind in (Kind.LOOKUP_FAILED, Kind.CONNECT_TIMEOUT, Kind.STORE_RETRY)
                if kind in voice.last
            ),
            default=-1,
        )
        ended = {task for seen, tasks in view.exits if seen.seq < last for task in tasks}
        running = {
            names.short(seen.fields["node"])
            for seen, tasks in view.exits
            if seen.seq > last and set(tasks) - ended
        }
        if ended and len(running) == 1:
            return running.pop(), "exits"
    return _by_nodes(situation)


def _by_nodes(situation: Situation) -> tuple[str | None, str]:
    """Name the one expected machine that neither serves nor reached the store."""
    view = situation.view
    hosts = {names.short(host) for host in view.hosts}
    if not hosts:
        return None, ""
    seen: set[str] = set()
    for voice in view.voices.values():
        if voice.has(*REACHED_KINDS) or voice.anonymous:
            seen |= voice.locals
            seen |= {names.short(remote) for remote, _ in voice.remotes}
        machine = view.machine(voice)
        if machine is not None and id(voice) not in situation.failing_voices:
            seen.add(machine)
    seen |= {names.short(target) for target in situation.targets}
    left = hosts - seen
    return (left.pop(), "nodes") if len(left) == 1 and hosts & seen else (None, "")


def _placed(situation: Situation, one: Affected, local_ranks: set[int | None]) -> Affected:
    """Fill in from the launch what the log does not tell; the log always wins."""
    launch = situation.view.launch
    if not launch.hosts:
        return one
    known: KnownFrom = "guess" if situation.view.dynamic else "launch"
    if one.host is None and one.node_rank is not None and one.node_rank < len(launch.hosts):
        return _with(one, host=launch.hosts[one.node_rank], known_from=known)
    if one.host is None and one.ranks:
        hosts = {launch.host_of(rank) for rank in one.ranks}
        if len(hosts) == 1 and None not in hosts:
            return _with(one, host=hosts.pop(), known_from=known)
        return one
    if one.host is not None and not one.ranks and launch.ranks_per_node and known == "launch":
        index = next(
            (i for i, host in enumerate(launch.hosts) if names.same_host(host, one.host)), None
        )
        if index is not None:
            first = index * launch.ranks_per_node
            ranks = [
                first + local
                for local in range(launch.ranks_per_node)
                if not local_ranks or local in local_ranks
            ]
            return _with(one, ranks=tuple(ranks), node_rank=index)
    return one


def _with(one: Affected, **changes: object) -> Affected:
    values = {
        "host": one.host,
        "ranks": one.ranks,
        "node_rank": one.node_rank,
        "because": one.because,
        "known_from": one.known_from,
    }
    return Affected(**{**values, **changes})  # type: ignore[arg-type]


def _merged(found: list[Affected]) -> tuple[Affected, ...]:
    """Join entries that the launch put on one machine."""
    by_host: dict[str | None, Affected] = {}
    for one in found:
        other = by_host.get(one.host)
        if other is None:
            by_host[one.host] = one
        else:
            by_host[one.host] = _with(other, ranks=tuple(sorted({*other.ranks, *one.ranks})))
    return tuple(
        sorted(by_host.values(), key=lambda one: (one.ranks or (1 << 30,), one.host or ""))
    )
