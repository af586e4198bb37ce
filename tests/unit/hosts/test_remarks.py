"""Prove that who sees what decides whom a pre-flight blames."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.hosts.matrix import Matrix
from bot.hosts.model import Delays
from bot.hosts.remarks import Blame, headline, remarks
from tests.fabric import AGAIN, DOMAIN, LATE, NONE, matrix

NODE_7 = {"node-7": NONE, f"node-7.{DOMAIN}": NONE}


@pytest.mark.parametrize(
    ("found", "blame", "words"),
    [
        (matrix(8, sick={3: AGAIN}), Blame.MACHINE, "node-3 gets no answer for 14 of 16"),
        (matrix(8, sick={3: LATE, 4: LATE}), Blame.MACHINE, "node-3, node-4 get no answer"),
        (matrix(8, sick={3: NONE}), Blame.MACHINE, "other DNS servers or another domain"),
        (matrix(8, short=[2]), Blame.SEARCH_DOMAIN, "node-2 resolves full names"),
        (matrix(8, short=range(8)), Blame.SEARCH_DOMAIN, "All 8 machines"),
        (matrix(8, bad_names=NODE_7), Blame.NAME, "node-7 has no address on 8 of 8"),
        (
            matrix(8, bad_names={f"node-7.{DOMAIN}": AGAIN}),
            Blame.NAME,
            f"The full name node-7.{DOMAIN} gets no answer",
        ),
        (matrix(8, sick=dict.fromkeys(range(8), AGAIN)), Blame.UPSTREAM, "DNS servers behind"),
        (matrix(8, sick=dict.fromkeys(range(8), NONE)), Blame.UPSTREAM, "nss-resolve"),
        (matrix(8, lost=[5]), Blame.NOT_REACHED, "nothing is known of it: node-5"),
        (matrix(4, observers=1, sick={0: AGAIN}), Blame.MACHINE, "both suspects"),
    ],
)
def test_the_pattern_names_the_culprit(found: Matrix, blame: Blame, words: str) -> None:
    """One thing is wrong, one thing is said, and it blames the right one."""
    (one,) = remarks(found)

    assert one.blame is blame
    assert words in one.text
    assert headline(found) == one.text


def test_several_faults_are_told_apart() -> None:
    """A sick machine does not hide a missing record, nor a lost machine either of them."""
    found = matrix(16, sick={3: LATE}, bad_names=NODE_7, lost=[9])

    said = {one.blame: one for one in remarks(found)}

    assert list(said) == [Blame.MACHINE, Blame.NAME, Blame.NOT_REACHED]
    assert said[Blame.MACHINE].observers == ("node-3",)
    assert set(said[Blame.NAME].names) == set(NODE_7)
    assert said[Blame.NOT_REACHED].observers == ("node-9",)


def test_a_single_cell_blames_nobody() -> None:
    """One look-up that failed once is asked again before anything is done."""
    found = matrix(8)
    cells = bytearray(found.observers[2].cells)
    cells[8] = AGAIN
    rows = list(found.observers)
    rows[2] = replace(rows[2], cells=bytes(cells))

    (one,) = remarks(replace(found, observers=tuple(rows)))

    assert one.blame is Blame.CELLS
    assert "node-2 does not find node-4" in one.text


def test_a_machines_own_name_says_nothing_of_its_resolver() -> None:
    """What it finds in its own files neither clears nor convicts it."""
    found = matrix(8)
    cells = bytearray(found.observers[2].cells)
    cells[4] = cells[5] = AGAIN
    rows = list(found.observers)
    rows[2] = replace(rows[2], cells=bytes(cells))

    assert not [one for one in remarks(replace(found, observers=tuple(rows))) if one.observers]


def test_all_well_is_said() -> None:
    """Nothing stands out where every name resolves everywhere."""
    assert remarks(matrix(8)) == ()
    assert headline(matrix(8)) == "All 8 machines resolve all 16 names, short and full, now."
    assert headline(Matrix(names=(), observers=())) == "No machine was asked."


def test_a_slow_machine_is_named_beside_what_is_wrong() -> None:
    """Slow logins never head the report of names that fail."""
    found = matrix(8, sick={3: LATE})
    quick, slow = (
        Delays(login=timedelta(seconds=0.2), shell=timedelta(seconds=seconds))
        for seconds in (0.1, 4)
    )
    rows = [replace(one, delays=slow if one.name == "node-5" else quick) for one in found.observers]

    last = remarks(replace(found, observers=tuple(rows)))[-1]

    assert last.blame is Blame.SLOW
    assert last.observers == ("node-5",)
    assert "login shell of node-5 takes 4.0 s, 0.1 s elsewhere" in last.text
