"""Hostfiles and rankfiles are read as their launchers read them."""

from __future__ import annotations

import pytest

from bot.errors import PlacementError
from bot.fleet import deepspeed
from bot.fleet.hostfiles import Dialect, MapBy, Slots, parse_hostfile, place_mpi, place_rankfile
from bot.fleet.placement import Known, Placement

HOSTFILE = """\
# two racks
worker-0 slots=4
worker-1 slots=4   # the second

worker-2 slots=2
"""


def hosts(placement: Placement) -> str:
    """Return the last character of each rank's host, in rank order."""
    assert [placed.rank for placed in placement.ranks] == list(range(len(placement.ranks)))
    return "".join(placed.host[-1] for placed in placement.ranks)


@pytest.mark.parametrize(
    ("dialect", "line", "host", "slots"),
    [
        (Dialect.OPENMPI, "worker-0 slots=8", "worker-0", 8),
        (Dialect.OPENMPI, "worker-0 slots = 8 max_slots=16", "worker-0", 8),
        (Dialect.OPENMPI, "worker-0 slots=8 max-slots=8", "worker-0", 8),
        (Dialect.OPENMPI, "ubuntu@worker-0 slots=8", "worker-0", 8),
        (Dialect.OPENMPI, "worker-0", "worker-0", None),
        (Dialect.OPENMPI, "10.0.0.4 slots=8", "10.0.0.4", 8),
        (Dialect.HYDRA, "worker-0:8", "worker-0", 8),
        (Dialect.HYDRA, "worker-0:8 ifname=ib0", "worker-0", 8),
        (Dialect.HYDRA, "worker-0:8 user=ubuntu", "worker-0", 8),
        (Dialect.HYDRA, "ubuntu@worker-0:8", "worker-0", 8),
        (Dialect.HYDRA, "worker-0", "worker-0", 1),
        (Dialect.DEEPSPEED, "worker-0 slots=8", "worker-0", 8),
    ],
)
def test_each_form_of_a_line(dialect: Dialect, line: str, host: str, slots: int | None) -> None:
    """Open MPI writes `slots=`, MPICH and Intel MPI a colon; comments and blanks say nothing."""
    text = f"# comment\n\n{line}  # trailing\n"

    assert parse_hostfile(text, dialect) == (Slots(host=host, slots=slots),)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (Dialect.OPENMPI, "worker-0 slots=many"),
        (Dialect.OPENMPI, "worker-0:8"),
        (Dialect.HYDRA, "worker-0:many"),
        (Dialect.HYDRA, "worker-0 slots=8"),
        (Dialect.DEEPSPEED, "worker-0"),
        (Dialect.DEEPSPEED, "worker-0:8"),
        (Dialect.DEEPSPEED, "worker-0 slots=1\nworker-0 slots=1"),
        (Dialect.OPENMPI, "# nothing\n"),
        (Dialect.OPENMPI, "worker-0 slots=1\nworker-0 slots=1"),
        (Dialect.HYDRA, "worker-0:99999999"),
    ],
)
def test_what_its_launcher_refuses_is_refused(dialect: Dialect, text: str) -> None:
    """Another dialect's form is an error, never a host with a strange name."""
    with pytest.raises(PlacementError):
        parse_hostfile(text, dialect)


def test_repeated_hosts_differ_between_launchers() -> None:
    """Open MPI adds a repeated host's slots; Hydra comes back to it later."""
    text = "a0\nb1\na0\n"

    assert hosts(place_mpi(parse_hostfile("a0\na0\nb1 slots=1\n", Dialect.OPENMPI))) == "001"
    assert hosts(place_mpi(parse_hostfile(text, Dialect.HYDRA))) == "010"


def test_ranks_fill_a_host_or_go_round() -> None:
    """`--map-by slot` is the default; `node` deals one each and passes over a full host."""
    slots = parse_hostfile(HOSTFILE, Dialect.OPENMPI)

    assert hosts(place_mpi(slots)) == "0000111122"
    assert hosts(place_mpi(slots, by=MapBy.NODE)) == "0120120101"
    assert hosts(place_mpi(slots, 5)) == "00001"
    assert hosts(place_mpi(slots, per_host=1)) == "012"
    assert place_mpi(slots).weakest is Known.LAUNCH


def test_more_ranks_than_slots_is_a_guess_with_open_mpi() -> None:
    """It refuses by default; where it may oversubscribe it spreads what is left over (4.1.4)."""
    slots = parse_hostfile(HOSTFILE, Dialect.OPENMPI)

    by_slot = place_mpi(slots, 12)

    assert hosts(by_slot) == "000001111122"
    assert by_slot.weakest is Known.GUESS
    assert hosts(place_mpi(slots, 12, by=MapBy.NODE)) == "012012012012"


def test_more_ranks_than_slots_go_round_again_with_hydra() -> None:
    """MPICH 4.0.2 starts again at the first host without a word."""
    slots = parse_hostfile("a0:2\nb1:3\nc2\n", Dialect.HYDRA)

    placement = place_mpi(slots, 8, dialect=Dialect.HYDRA)

    assert hosts(placement) == "00111200"
    assert placement.weakest is Known.LAUNCH


@pytest.mark.parametrize(
    ("slots", "ranks"), [((None,), 8), ((0,), None), ((2,), 0), ((2, None), None)]
)
def test_ranks_without_a_bound_are_refused(
    slots: tuple[int | None, ...], ranks: int | None
) -> None:
    """How many cores a host has is not in the file."""
    listed = [Slots(host=f"h{index}", slots=count) for index, count in enumerate(slots)]

    with pytest.raises(PlacementError):
        place_mpi(listed, ranks)


def test_a_host_with_no_slots_gets_no_rank() -> None:
    """`slots=0` takes a host out."""
    listed = [Slots(host="a0", slots=0), Slots(host="b1", slots=2)]

    assert hosts(place_mpi(listed)) == "11"


def test_a_rankfile_says_every_rank() -> None:
    """Absolute and relative hosts, with the slots that do not matter here."""
    text = "rank 1=b1 slot=0:0-3\n# c\nrank 0=user@a0 slot=1\nrank 2=+n1 slot=p0\n"

    placement = place_rankfile(text, ["a0", "b1"])

    assert hosts(placement) == "011"
    assert [placed.local_rank for placed in placement.ranks] == [0, 0, 1]
    assert placement.weakest is Known.LAUNCH
    assert place_rankfile("rank 0=c3 slot=0").hosts == ("c3",)


@pytest.mark.parametrize("text", ["rank x=a0", "rank 0=a0\nrank 0=b1", "rank 0=+n5 slot=0", "0=a0"])
def test_a_broken_rankfile_is_refused(text: str) -> None:
    """A rank on two hosts, or a host that was not allocated, places nothing."""
    with pytest.raises(PlacementError):
        place_rankfile(text, ["a0", "b1"])


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "0000111122"),
        ({"include": "worker-2@worker-0:1,3"}, "0022"),
        ({"exclude": "worker-1"}, "000022"),
        ({"exclude": "worker-0:0@worker-1:0,1,2,3"}, "00022"),
        ({"num_nodes": 2}, "00001111"),
        ({"num_nodes": 2, "num_gpus": 1}, "01"),
    ],
)
def test_deepspeed_filters_and_keeps_the_order_of_the_hostfile(
    filters: dict[str, str], expected: str
) -> None:
    """Hosts and slots left out get no rank; the order in the filter does not count."""
    placement = deepspeed.place(HOSTFILE, **filters)  # type: ignore[arg-type]

    assert hosts(placement) == expected
    assert placement.weakest is Known.LAUNCH


@pytest.mark.parametrize(
    "filters",
    [
        {"include": "worker-0", "exclude": "worker-1"},
        {"include": "worker-0", "num_nodes": 1},
        {"include": "worker-9"},
        {"exclude": "worker-0:7"},
        {"exclude": "worker-0@worker-1@worker-2"},
        {"include": "worker-0:x"},
    ],
)
def test_deepspeed_refuses_what_it_refuses(filters: dict[str, str]) -> None:
    """A launch that cannot have happened is not placed."""
    with pytest.raises(PlacementError):
        deepspeed.place(HOSTFILE, **filters)  # type: ignore[arg-type]
