"""The log wins over the launch, and every contradiction is said."""

from __future__ import annotations

import time

from bot.fleet.placement import Known, Placement, laid_out
from bot.fleet.settle import settle

HOSTS = ("node-0", "node-1", "node-2", "node-3")


def launch(known: Known = Known.LAUNCH, each: int = 2) -> Placement:
    """Return a block placement over four hosts."""
    order = [node for node in range(4) for _ in range(each)]
    return laid_out(HOSTS, order, known=known, because="as launched")


def where(placement: Placement, rank: int) -> tuple[str, str] | None:
    """Return host and knowledge of a rank."""
    placed = placement.of(rank)
    return (placed.host, placed.known.value) if placed else None


def test_what_the_log_bears_out_is_known_from_the_log() -> None:
    """A rank that the log names becomes stronger, the others stay as launched."""
    placement = settle(launch(), [(3, "node-1.example.com")])

    assert where(placement, 3) == ("node-1", "log")
    assert where(placement, 2) == ("node-1", "launch")
    assert not placement.disagreements


def test_the_log_wins_and_the_result_says_so() -> None:
    """A contradicted launch is reported rank by rank, in words."""
    placement = settle(launch(), [(3, "node-2")])

    assert where(placement, 3) == ("node-2", "log")
    (disagreement,) = placement.disagreements
    assert disagreement.sentence == "rank 3: the log says node-2, the launch says node-1"


def test_a_launch_that_the_log_contradicts_is_a_guess_elsewhere() -> None:
    """One rank in another place disproves the order, so no other rank rests on it."""
    placement = settle(launch(), [(3, "node-2"), (0, "node-0")])

    assert where(placement, 0) == ("node-0", "log")
    assert where(placement, 6) == ("node-3", "guess")
    assert any("disproved" in note for note in placement.notes)


def test_a_guess_that_was_wrong_is_no_disagreement() -> None:
    """Nobody claimed it."""
    placement = settle(launch(Known.GUESS), [(3, "node-2")])

    assert where(placement, 3) == ("node-2", "log")
    assert not placement.disagreements


def test_a_log_that_contradicts_itself_places_nothing() -> None:
    """After a requeue a rank may have been on two hosts: that is said, not picked from."""
    placement = settle(launch(), [(3, "node-1"), (3, "node-2"), (3, "node-2")])

    assert where(placement, 3) == ("node-1", "launch")
    (disagreement,) = placement.disagreements
    assert disagreement.sentence == (
        "rank 3: the log says node-1, another line of the log says node-2"
    )


def test_a_rank_on_two_other_hosts_disproves_the_launch_too() -> None:
    """Whichever line is right, the launch is wrong."""
    placement = settle(launch(), [(3, "node-0"), (3, "node-2")])

    assert where(placement, 3) == ("node-1", "guess")
    assert len(placement.disagreements) == 2


def test_a_large_job_is_settled_at_once() -> None:
    """8,192 ranks that the log spells with domains are not compared with every host each."""
    hosts = [f"node-{number}" for number in range(1024)]
    order = [node for node in range(1024) for _ in range(8)]
    large = laid_out(hosts, order, known=Known.LAUNCH, because="as launched")
    told = [(rank, f"{hosts[order[rank]]}.example.com") for rank in range(8192)]

    start = time.perf_counter()
    placement = settle(large, told * 4)

    assert placement.weakest is Known.LOG
    assert time.perf_counter() - start < 5


def test_an_address_is_the_host_that_the_scheduler_gives_it_to() -> None:
    """Logs print addresses and pods; the scheduler's map turns them into its own names."""
    names = {"10.0.0.12": "node-1", "job-worker-0": "node-2"}

    placement = settle(launch(), [(3, "10.0.0.12"), (4, "job-worker-0")], names=names)

    assert where(placement, 3) == ("node-1", "log")
    assert where(placement, 4) == ("node-2", "log")
    assert not placement.disagreements


def test_an_unknown_address_contradicts_no_name() -> None:
    """An address outside every list says nothing for or against the launch."""
    placement = settle(launch(), [(3, "10.9.9.9"), (99, "10.9.9.8")])

    assert where(placement, 3) == ("node-1", "launch")
    assert where(placement, 99) == ("10.9.9.8", "log")
    assert not placement.disagreements


def test_a_log_alone_places_what_it_names() -> None:
    """Without any launch the stated ranks are all there is."""
    placement = settle(Placement(), [(5, "node-b"), (1, "node-a")])

    assert [(placed.rank, placed.host) for placed in placement.ranks] == [
        (1, "node-a"),
        (5, "node-b"),
    ]
    assert placement.weakest is Known.LOG
    assert where(placement, 0) is None


def test_one_stated_rank_places_its_block_under_an_elastic_rendezvous() -> None:
    """A torchrun agent has consecutive ranks, so ranks 4 and 5 share a host whatever the order."""
    placement = settle(launch(Known.GUESS), [(4, "node-0")], ranks_together=2)

    assert where(placement, 4) == ("node-0", "log")
    assert where(placement, 5) == ("node-0", "launch")
    # node-0 has one block, so nothing is left of the guess that put ranks 0 and 1 there
    assert where(placement, 0) is None
    assert where(placement, 2) == ("node-1", "guess")


def test_the_last_host_has_the_last_block() -> None:
    """With every other block placed, elimination leaves no choice."""
    told = [(0, "node-3"), (3, "node-0"), (5, "node-1")]

    placement = settle(launch(Known.GUESS), told, ranks_together=2)

    assert where(placement, 6) == ("node-2", "launch")
    assert where(placement, 7) == ("node-2", "launch")
    assert where(placement, 1) == ("node-3", "launch")
    assert len(placement.ranks) == 8


def test_a_block_with_two_hosts_places_only_what_is_stated() -> None:
    """Two hosts inside one block mean that the ranks do not lie together after all."""
    placement = settle(launch(Known.GUESS), [(4, "node-0"), (5, "node-1")], ranks_together=2)

    assert where(placement, 4) == ("node-0", "log")
    assert where(placement, 5) == ("node-1", "log")
    assert where(placement, 6) == ("node-3", "guess")


def test_hosts_are_asked_by_short_name() -> None:
    """Whoever asks need not know whether the list has domains."""
    placement = launch()

    assert [placed.rank for placed in placement.on("NODE-2.example.com")] == [4, 5]
    assert placement.on("10.0.0.1") == ()
