"""The decision table: from who sees what to one cause.

The order is the order of proof. What a process or a port did on its own explains everything that
others say of it; only then come names, then addresses, then silence. A look-up failure is judged
over *names × answer × observers* (`LOOKUPS` below), since the line itself says neither who logged
it nor whether the service, the record or the setting is at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bot.diagnosis import network, process
from bot.diagnosis.affected import of_failing, of_voices
from bot.diagnosis.kinds import Cause, Confidence, Kind
from bot.diagnosis.lookups import LOOKUP_KINDS, Asked, asked, owner_of
from bot.diagnosis.model import Verdict
from bot.diagnosis.situation import Situation
from bot.diagnosis.view import View

_ANY = frozenset({"*"})


class Row(NamedTuple):
    """One row of the look-up table; the first that fits decides."""

    #: what is asked for: `malformed`, `own`, `odd` (a name that nobody else mentions), `plain`
    names: frozenset[str]
    #: what came back: `no_answer`, `told_no`, `mixed`, `unclear`
    answer: frozenset[str]
    #: who asks in vain: `one` machine or `several`
    who: frozenset[str]
    #: whether others, apart from the store's own machine, got through: `through`, `none`
    others: frozenset[str]
    cause: Cause
    #: who is affected: `failing`, `nobody` or `owner` (the machine whose own name it is)
    affected: str
    confidence: Confidence
    why: str


def _row(
    names: str, answer: str, who: str, others: str, cause: Cause, rest: tuple[str, Confidence, str]
) -> Row:
    def split(words: str) -> frozenset[str]:
        return frozenset(words.split("|"))

    affected, confidence, why = rest
    return Row(
        names=split(names),
        answer=split(answer),
        who=split(who),
        others=split(others),
        cause=cause,
        affected=affected,
        confidence=confidence,
        why=why,
    )


#: names, answer, who, others → cause, affected, confidence, why
LOOKUPS: tuple[Row, ...] = (
    _row(
        "malformed",
        "*",
        "*",
        "*",
        Cause.NAME_NOT_FOUND,
        ("nobody", "high", "{target} is no host name that anybody could look up"),
    ),
    _row(
        "own",
        "*",
        "*",
        "none",
        Cause.OWN_NAME_UNRESOLVABLE,
        ("owner", "medium", "{target} is the machine's own name: its hosts file lacks it"),
    ),
    _row(
        "own|plain|odd",
        "no_answer",
        "one",
        "through",
        Cause.RESOLVER_FAILED,
        ("failing", "high", "{who} alone gets no answer for {target}, which others have reached"),
    ),
    _row(
        "odd",
        "told_no|mixed|unclear",
        "one",
        "*",
        Cause.NAME_NOT_FOUND,
        ("failing", "high", "{who} alone asks for {target}, a name that nobody else mentions"),
    ),
    _row(
        "own|plain|odd",
        "told_no|mixed",
        "one",
        "through",
        Cause.NAME_NOT_FOUND,
        (
            "failing",
            "medium",
            (
                "{who} alone is told that {target} does not exist, while others have "
                "reached it: its own view of the name differs"
            ),
        ),
    ),
    _row(
        "own|plain|odd",
        "no_answer",
        "several",
        "through",
        Cause.RESOLVER_FAILED,
        ("failing", "medium", "{who} get no answer for {target}, which others have reached"),
    ),
    _row(
        "plain|odd",
        "no_answer",
        "one",
        "none",
        Cause.RESOLVER_FAILED,
        ("failing", "medium", "{who} gets no answer for {target}, and nobody else is in view"),
    ),
    _row(
        "plain|odd",
        "no_answer",
        "several",
        "none",
        Cause.DNS_OUTAGE,
        ("nobody", "high", "everybody in view gets no answer for {target}"),
    ),
    _row(
        "*",
        "told_no",
        "*",
        "*",
        Cause.NAME_NOT_FOUND,
        ("nobody", "high", "everybody who asks is told that {target} does not exist"),
    ),
    _row(
        "*",
        "mixed",
        "several",
        "*",
        Cause.DNS_OUTAGE,
        (
            "nobody",
            "low",
            "some get no answer for {target}, others are told that it does not exist",
        ),
    ),
    _row(
        "*",
        "*",
        "*",
        "*",
        Cause.NAME_NOT_FOUND,
        ("nobody", "low", "{target} cannot be looked up; the code does not say why"),
    ),
)


#: What is said of an empty log, in which no line can be looked at.
NOTHING_READ = Verdict(
    cause=Cause.NO_STARTUP_FAILURE,
    confidence="low",
    why="what was given is empty",
    ask="a log with at least one line",
)


def decide(view: View) -> Verdict:
    """Return the cause that the observations bear out, and who is affected by it."""
    situation = Situation(view)
    for rule in RULES:
        verdict = rule(situation)
        if verdict is not None:
            return verdict
    return Verdict(
        cause=Cause.NO_STARTUP_FAILURE,
        confidence="high" if view.voices else "medium",
        why="no line says that the start-up failed",
        ask="the part of the log around the first error, if a job did fail",
    )


def _lookup(situation: Situation) -> Verdict | None:
    """Judge look-ups that failed and did not recover."""
    if not situation.failing:
        return None
    question = asked(situation)
    for row in LOOKUPS:
        if all(
            column & (_ANY | {value})
            for column, value in (
                (row.names, question.names),
                (row.answer, question.answer),
                (row.who, question.who),
                (row.others, question.others),
            )
        ):
            return _verdict(situation, row, question)
    message = "the last row of LOOKUPS fits everything"
    raise AssertionError(message)


def _verdict(situation: Situation, row: Row, question: Asked) -> Verdict:
    if row.affected == "failing":
        affected = of_failing(situation, question.failing)
    elif row.affected == "owner":
        affected = owner_of(situation, question)
    else:
        affected = ()
    named = [one for one in affected if one.host is not None or one.ranks]
    confidence = row.confidence
    if row.affected == "failing" and not named and confidence == "high":
        confidence = "medium"
    if any(one.known_from == "guess" for one in affected):
        confidence = "low"
    return Verdict(
        cause=row.cause,
        confidence=confidence,
        affected=affected,
        evidence=question.evidence(situation),
        why=row.why.format(target=question.subject, who=question.who_text(affected)),
        ask=question.ask(row.cause, named=bool(named)),
        subject=question.subject,
    )


def _harmless(situation: Situation) -> Verdict | None:
    """Judge warnings that nothing bad followed."""
    view = situation.view
    if situation.recovered_voices:
        seen = view.all_of(*LOOKUP_KINDS)
        first = seen[0].seq if seen else -1
        late = [one for one in view.all_of(Kind.PROGRESS, Kind.STORE_REACHED) if one.seq > first]
        return Verdict(
            cause=Cause.HARMLESS_WARNING,
            confidence="high" if situation.progressed else "medium",
            affected=of_voices(
                situation,
                situation.recovered_voices,
                "its look-ups failed for a while and then worked",
            ),
            evidence=tuple(seen[:4] + seen[-1:] + late[-2:]),
            why="look-ups failed for a while, then the job went on",
        )
    warned = view.all_of(
        Kind.REVERSE_LOOKUP_FAILED,
        Kind.NO_FAMILY,
        Kind.CONNECT_FAILED,
        Kind.OWN_ADDRESS_UNKNOWN,
        Kind.LOOKUP_FAILED,
        Kind.BIND_FAILED,
        Kind.NCCL_RETRYING,
        Kind.NOT_LISTENING_YET,
    )
    if not warned:
        return None
    return Verdict(
        cause=Cause.HARMLESS_WARNING,
        confidence="high" if situation.progressed else "medium",
        evidence=tuple(warned[:4]),
        why="these warnings come from naming addresses or trying another address family; no error "
        "follows",
        ask="what the log says after these lines, if the job did not start",
    )


#: Tried in this order; the first verdict stands.
RULES: tuple[Callable[[Situation], Verdict | None], ...] = (
    process.port_in_use,
    process.failed_first,
    _lookup,
    network.interface,
    network.connect,
    network.rendezvous,
    process.fall_out,
    _harmless,
    network.cancelled_in_silence,
)
