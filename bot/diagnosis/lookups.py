"""What failing look-ups ask for, what they are told, and who asks: the columns of the table."""

from __future__ import annotations

from typing import NamedTuple

from bot.diagnosis import names
from bot.diagnosis.affected import of_failing
from bot.diagnosis.kinds import Cause, Kind
from bot.diagnosis.model import Affected, Observation
from bot.diagnosis.situation import Failing, Situation
from bot.diagnosis.voices import Voice

#: Every way in which a failing look-up of a peer is printed.
LOOKUP_KINDS = (
    Kind.LOOKUP_FAILED,
    Kind.PY_LOOKUP_FAILED,
    Kind.HOST_NOT_FOUND,
    Kind.SSH_LOOKUP_FAILED,
    Kind.COMM_ID_LOOKUP_FAILED,
)


_MOST_NAMED = 6


class Asked(NamedTuple):
    """The question that failed, by the columns of the look-up table."""

    failing: tuple[Failing, ...]
    names: str
    answer: str
    who: str
    others: str
    #: the name that matters most, or words for one that the log does not print
    subject: str

    def evidence(self, situation: Situation) -> tuple[Observation, ...]:
        """Return the lines that bear the judgement out: of each observer, then of the others."""
        voices = [voice for one in self.failing for voice in one.voices]
        lines = (
            _lines(voices[:4], LOOKUP_KINDS)[:6] + _lines(voices[:2], (Kind.CONNECT_TIMEOUT,))[:2]
        )
        joined = situation.view.all_of(Kind.CLIENTS_JOINED)[-1:]
        reached = situation.view.all_of(Kind.STORE_REACHED, Kind.KEYS_TIMEOUT)[:1]
        return tuple(lines + joined + reached + _exits(situation, self.failing))

    def who_text(self, affected: tuple[Affected, ...]) -> str:
        """Name the observers for a sentence."""
        hosts = [one.host for one in affected if one.host]
        if hosts:
            more = " and others" if len(hosts) > _MOST_NAMED else ""
            return ", ".join(hosts[:_MOST_NAMED]) + more
        ranks = sorted({rank for one in affected for rank in one.ranks})
        if ranks:
            return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks[:8]))
        return "the machine that logs this" if self.who == "one" else "some machines"

    def ask(self, cause: Cause, *, named: bool) -> str:
        """Say what one more thing to paste would raise the confidence."""
        if cause in {Cause.RESOLVER_FAILED, Cause.NAME_NOT_FOUND} and not named:
            return (
                "the same log with who logs each line (srun -l, torchrun --tee, "
                "per-rank files), or "
                "--nodes and --ranks-per-node"
            )
        if self.others == "none":
            return f"the log of one other machine, and `getent ahosts {self.subject}` on both"
        return ""


def asked(situation: Situation) -> Asked:
    """Return the question that the failing observers ask, column by column."""
    failing = situation.failing
    answers = {one.answer for one in failing}
    answer = answers.pop() if len(answers) == 1 else "mixed"
    if answer == "mixed" and answers <= {"no_answer", "unclear"}:
        answer = "no_answer"
    targets = sorted(situation.targets)
    several = situation.failing_machines > 1
    who = "several" if several else "one"
    others = "through" if situation.others_through else "none"
    return Asked(
        failing=failing,
        names=_names(situation, targets),
        answer=answer,
        who=who,
        others=others,
        subject=targets[0] if targets else _unprinted(situation),
    )


def _unprinted(situation: Situation) -> str:
    endpoints = sorted(situation.view.endpoints)
    if endpoints and all(names.is_address(one) for one in endpoints):
        return "the machine's own name"
    return endpoints[0] if len(endpoints) == 1 else "the master's name"


def _names(situation: Situation, targets: list[str]) -> str:
    """Classify what is asked for: `malformed`, `own`, `odd` or `plain`."""
    if targets and all(names.is_malformed(target) for target in targets):
        return "malformed"
    if all(_is_own(situation, one) for one in situation.failing):
        return "own"
    return "odd" if _is_odd(situation) else "plain"


def _is_own(situation: Situation, one: Failing) -> bool:
    """Tell whether an observer asks for its own name."""
    view = situation.view
    if view.standalone or view.nnodes == 1 or _in_own_name_frame(situation, one):
        return True
    if one.answer == "no_answer" and _is_rank_0(situation, one):
        return True  # it serves the store, so the name in its settings is its own
    if not one.targets:
        endpoints = view.endpoints
        return bool(endpoints) and all(names.is_address(endpoint) for endpoint in endpoints)
    if all(names.names_itself(target) for target in one.targets):
        return True
    if isinstance(one.observer, str):
        return all(names.same_host(one.observer, target) for target in one.targets)
    return _only_machine_in_view(situation, one) or _dials_itself(situation, one)


def _is_rank_0(situation: Situation, one: Failing) -> bool:
    """Tell whether an observer is rank 0, or all that is said of the job's ranks is 0."""
    view = situation.view
    if all(view.rank(voice) == 0 or view.node_rank(voice) == 0 for voice in one.voices):
        return True
    return view.own_ranks == {0} and all(voice.anonymous for voice in one.voices)


def _only_machine_in_view(situation: Situation, one: Failing) -> bool:
    """Tell whether the name is that of the one machine that the text shows to be there."""
    view = situation.view
    seen = {names.short(name) for name in view.prompts | view.nccl_hosts}
    seen |= {
        names.short(cause.fields["host"]) for cause in view.root_causes if cause.fields["host"]
    }
    for voice in one.voices:
        seen |= {local for local in voice.locals if not names.is_address(local)}
    return len(seen) == 1 and all(names.short(target) in seen for target in one.targets)


def _in_own_name_frame(situation: Situation, one: Failing) -> bool:
    """Tell whether one machine's tracebacks all end in a look-up of its own name.

    Where several fail in that frame, each with its own name, what they share is at fault.
    """
    if one.targets or situation.failing_machines > 1:
        return False
    return all(voice.has(Kind.OWN_NAME_FRAME) for voice in one.voices)


def _dials_itself(situation: Situation, one: Failing) -> bool:
    """Tell whether a lone observer has the pattern of a machine that dials its own name.

    torchrun without an endpoint takes a free (ephemeral) port and its own full name. A full name
    that is said not to exist may as well be another machine's; one that gets no answer is taken for
    the machine's own, since a restart must not be advised on a guess.
    """
    if situation.somebody_through or len(one.targets) != 1 or not one.ports:
        return False
    if situation.failing_machines > 1 or min(one.ports) < names.EPHEMERAL_PORT:
        return False
    target = next(iter(one.targets))
    if any(names.same_host(target, endpoint) for endpoint in situation.view.endpoints):
        return False
    return "." not in target or one.answer == "no_answer"


def _is_odd(situation: Situation) -> bool:
    """Tell whether one observer asks for a name while others use another one."""
    if len(situation.failing) != 1 and situation.failing_machines > 1:
        return False
    mine = situation.targets
    if not mine:
        return False
    if len(situation.failing) == 1 and _others_do_not_complain(situation):
        return True
    mentioned: set[str] = set()
    for voice in situation.view.voices.values():
        failing = id(voice) in situation.failing_voices
        if not failing:
            mentioned |= {peer for peer, _, _ in voice.connects if peer}
        if not failing or voice.anonymous:
            mentioned |= {remote for remote, port in voice.remotes if _same_port(situation, port)}
    mentioned = {name for name in mentioned if not names.is_address(name) and name != "?UNKNOWN?"}
    return bool(mentioned) and not any(
        names.same_host(one, other) for one in mine for other in mentioned
    )


def _others_do_not_complain(situation: Situation) -> bool:
    """Tell whether labelled others are in view, apart from the store's, who find no fault."""
    mine = situation.failing[0]
    if any(voice.anonymous and voice.origin.node_rank is None for voice in mine.voices):
        return False
    return any(
        not voice.anonymous
        and situation.view.observer(voice) != mine.observer
        and not situation.at_master(voice)
        for voice in situation.view.speaking()
    )


def _same_port(situation: Situation, port: int | None) -> bool:
    return any(port in one.ports for one in situation.failing)


def owner_of(situation: Situation, question: Asked) -> tuple[Affected, ...]:
    """Return the machines whose own name it is."""
    found: dict[str | None, Affected] = {}
    for one in question.failing:
        host = one.observer if isinstance(one.observer, str) else None
        if host is None:
            own = [target for target in one.targets if not names.is_loopback(target)]
            host = names.short(own[0]) if len(own) == 1 else None
            if not own:
                host = next((a.host for a in of_failing(situation, (one,)) if a.host), None)
        if host == "kubernetes":
            host = None
        ranks = {situation.view.rank(voice) for voice in one.voices} - {None}
        found[host] = Affected(
            host=host,
            ranks=tuple(sorted(rank for rank in ranks if rank is not None)),
            because="it cannot look up its own name",
        )
    return tuple(found.values())


def _lines(voices: list[Voice], kinds: tuple[Kind, ...]) -> list[Observation]:
    found = {
        (seen.origin.file, seen.line): seen
        for voice in voices
        for kind in kinds
        for seen in (voice.first.get(kind), voice.last.get(kind))
        if seen is not None
    }
    return sorted(found.values(), key=lambda seen: seen.seq)


def _exits(situation: Situation, failing: tuple[Failing, ...]) -> list[Observation]:
    hosts = {one.observer for one in failing if isinstance(one.observer, str)}
    return [seen for seen, _ in situation.view.exits if names.short(seen.fields["node"]) in hosts][
        :2
    ]
