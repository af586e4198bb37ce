"""What a pre-flight says: the matrix in lines, what else is known, and what goes into a thread."""

from __future__ import annotations

from dataclasses import dataclass

from bot.hosts.matrix import Matrix
from bot.hosts.remarks import headline
from bot.reports import matrix as lines
from bot.reports.picture import alt, png
from bot.triage.preflight import Preflight
from bot.triage.services import ACTIONS_OFF


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """Who resolves whom, ready to be posted."""

    #: the worst of it, in a sentence
    headline: str
    #: everything, a line each
    text: str
    #: the picture, and what it says in words
    png: bytes
    alt: str


def drawn(matrix: Matrix, beside: str = "") -> Drawn:
    """Return who resolves whom in words and as a picture; takes up to seconds for 1,000 machines.

    `beside` is what else is known of the machines, a line each.
    """
    return Drawn(
        headline=headline(matrix),
        text=lines.text(matrix) + beside,
        png=png(matrix),
        alt=alt(matrix),
    )


def beside(found: Preflight) -> str:
    """Return what is to be said beside the matrix, a line each; nothing is acted on here."""
    said = [f"{host} is {word} at the cloud" for host, word in found.states.items()]
    said += [f"note: {one}" for one in found.notes]
    said += [f"missing: {one}" for one in found.missing if one != ACTIONS_OFF]
    return "".join(f"– {line}\n" for line in said)
