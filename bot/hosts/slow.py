"""Where the time went on the way into machines that were slow to let us in. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Literal

from bot.fleet.folding import folded
from bot.hosts.model import Delays

#: What nobody would call slow, and how many times its peers' a slow machine takes.
_QUICK = timedelta(seconds=1.5)
_TIMES = 3
#: Fewer machines than this have no peers to be compared with.
_PEERS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of the way in: who takes the time there, and what usually makes it slow."""

    name: Literal["login", "shell", "helper"]
    who: str
    look_at: str


PARTS = (
    Part(
        name="shell",
        who="the login shell",
        look_at="its start-up files (/etc/profile.d, ~/.bashrc) and the home directory's server",
    ),
    Part(
        name="login",
        who="sshd",
        look_at="what it asks at a login (UseDNS, PAM) and how busy the machine is",
    ),
    Part(
        name="helper",
        who="sudo or Python",
        look_at="sudo, which looks up the machine's own name, and how busy the machine is",
    ),
)


def slow(
    delays: Iterable[tuple[str, Delays]],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield sentences about slow machines, each with their names.

    A machine is slow when a part of the way takes 1.5 s or more and three times what it takes on
    the machine in the middle; where that one is slow itself, all are, and we may be the cause.
    """
    known = list(delays)
    for part in PARTS:
        taken = {
            name: found for name, one in known if (found := getattr(one, part.name)) is not None
        }
        if not taken:
            continue
        usual = median(taken.values())
        if usual >= _QUICK and len(taken) >= _PEERS:
            yield _everywhere(part, usual), tuple(taken)
            continue
        least = max(_QUICK, usual * _TIMES) if len(taken) >= _PEERS else _QUICK
        late = {name: found for name, found in taken.items() if found >= least}
        if late:
            yield _somewhere(part, late, usual if len(taken) >= _PEERS else None), tuple(late)


def _everywhere(part: Part, usual: timedelta) -> str:
    return (
        f"On half of the machines {part.who} takes {_seconds(usual)} or more: look at "
        f"{part.look_at}, or at how busy this machine is."
    )


def _somewhere(part: Part, late: dict[str, timedelta], usual: timedelta | None) -> str:
    beside = f", {_seconds(usual)} elsewhere" if usual is not None else ""
    longest = max(late.values())
    upto = "up to " if len(late) > 1 else ""
    return (
        f"{part.who[0].upper()}{part.who[1:]} of {folded(late)} takes {upto}{_seconds(longest)}"
        f"{beside}: look at {part.look_at}."
    )


def _seconds(duration: timedelta) -> str:
    return f"{duration.total_seconds():.1f} s"
