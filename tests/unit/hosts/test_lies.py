"""Prove that a machine may answer what it likes: it is read in bounds, and it moves nobody else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.fleet.placement import Known
from bot.hosts import probes
from bot.hosts.findings import judge
from bot.hosts.model import Evidence, Judgement, ProbeResult
from bot.recovery.ladder import offers
from bot.recovery.triaged import Triaged, facts_from
from tests.unit.hosts import recorded

LONG, ODD = "x" * 30000, "\x1b[2J\u202e<!channel>\n\r\0"
WORDS = st.sampled_from(["127.0.0.53", "10.77.0.2", LONG, ODD, "", "node-0", "timeout", "NXDOMAIN"])


def _objects(**kinds: st.SearchStrategy[object]) -> st.SearchStrategy[str]:
    rows = st.lists(st.fixed_dictionaries({}, optional=kinds), max_size=4)
    return rows.map(lambda found: "".join(json.dumps(one) + "\n" for one in found))


NUMBERS = st.integers() | st.sampled_from([0, -3, -2, 10**30])
ANSWERS: dict[str, st.SearchStrategy[str]] = {
    probes.UNIT.name: st.tuples(WORDS, WORDS).map(
        lambda two: f"ActiveState={two[0]}\nMainPID={two[1]}\nResult={two[1]}\n"
    ),
    probes.RESOLV_CONF.name: st.tuples(WORDS, WORDS, WORDS).map(
        lambda three: json.dumps(
            {"target": three[0], "text": f"nameserver {three[1]}\nsearch {three[2]}\n"}
        )
    ),
    probes.LOOKUPS.name: _objects(name=WORDS, code=NUMBERS, addresses=st.lists(WORDS, max_size=2)),
    probes.STUB.name: _objects(server=WORDS, name=WORDS, answer=WORDS, records=NUMBERS),
    probes.UPLINKS.name: _objects(server=WORDS, name=WORDS, answer=WORDS, records=NUMBERS),
    probes.DIRECT.name: _objects(server=WORDS, name=WORDS, answer=WORDS, records=NUMBERS),
    probes.RENDEZVOUS.name: _objects(address=WORDS, port=NUMBERS, outcome=WORDS),
    probes.RESOLVER_PROCESS.name: _objects(pid=NUMBERS, state=WORDS),
    probes.JOURNAL.name: st.sampled_from(
        [f"9{'9' * 10}.0 Watchdog timeout {ODD}", "1796068491.2 Watchdog timeout", LONG]
    ),
    probes.CONTAINERS.name: _objects(
        rank=st.just(value=True),
        servers=st.lists(WORDS, max_size=4),
        lookups=st.dictionaries(WORDS, NUMBERS, max_size=2),
        answers=st.lists(st.fixed_dictionaries({"server": WORDS, "answer": WORDS}), max_size=2),
    ),
}
JUNK = st.text(max_size=50)


@st.composite
def lying(draw: st.DrawFn, machine: str) -> Evidence:
    """Return a machine's answers, some of them replaced by what it made up."""
    fault = draw(st.sampled_from(recorded.names()))
    honest = recorded.recorded(fault, machine)
    made_up: dict[str, ProbeResult] = {}
    for name in draw(st.sets(st.sampled_from(sorted(ANSWERS)), min_size=1)):
        output = draw(ANSWERS[name] | JUNK).encode(errors="surrogatepass")
        rc = draw(st.sampled_from([0, 1, None]))
        made_up[name] = replace(honest.results[name], output=output, rc=rc)
    return replace(honest, results={**honest.results, **made_up})


def _sentences(judged: Judgement) -> list[str]:
    return [*(one.why for one in judged.found), *([judged.untold] if judged.untold else [])]


@given(vm=lying("node-1"), peer=st.none() | lying("node-2"))
def test_made_up_answers_are_judged_in_bounds(vm: Evidence, peer: Evidence | None) -> None:
    """Judging never fails, and what people read of it is short and printable."""
    judged = judge(vm, peer, recorded.QUESTION)

    for sentence in _sentences(judged):
        assert len(sentence) <= 600
        assert sentence.isprintable()


@given(peer=lying("node-2"))
@pytest.mark.parametrize("fault", ["healthy", "record-missing", "upstream-dead"])
def test_a_lying_peer_gets_no_other_machine_restarted(fault: str, peer: Evidence) -> None:
    """A machine whose own resolver is well is restarted on nobody else's word."""
    judged = judge(recorded.recorded(fault, "node-1"), peer, recorded.QUESTION)

    assert not _mutating(judged)


def _mutating(judged: Judgement) -> set[Any]:
    facts = facts_from(
        Triaged(
            vm="node-1",
            state="RUNNING",
            state_age=recorded.SOON,
            judgement=judged,
            judgement_age=recorded.SOON,
            placement=Known.LOG,
            from_paste_alone=False,
        )
    )
    mending = {"restart_resolver", "reboot", "reset", "stop_start"}
    return {rung for rung, offer in offers(facts).items() if offer.offered} & mending
