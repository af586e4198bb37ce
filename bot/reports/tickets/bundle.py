"""The bundle of an incident's evidence: a `.tar.gz` that is the same whenever it is made. Pure.

Everything in it is redacted, no name in it leaves its folder, and it is no larger than support's
mail takes: what is too long is cut, and says so.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from bot.incidents.incident import Entry, Incident
from bot.incidents.run import Run
from bot.incidents.statement import Statement
from bot.incidents.ticket import Capture
from bot.reports.slack.escaping import clean, file_name, markdown
from bot.reports.tickets.ticket import Ticket
from bot.reports.tickets.wording import as_markdown, at

#: Bytes of one file, and of all together, before they are packed.
MOST_FILE, MOST = 512 << 10, 6 << 20
_CUT = b"\n(cut: the rest did not fit)\n"
_LEFT_OUT = b"(left out: the bundle is full)\n"


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a bundle is made of, as the store keeps it."""

    incident: Incident
    entries: Sequence[Entry] = ()
    said: Sequence[Statement] = ()
    runs: Sequence[Run] = ()
    captures: Sequence[Capture] = ()
    #: the newest version; None where there is none
    ticket: Ticket | None = None
    #: what wrote it
    version: str = field(default="nccl-dns")


def bundle(contents: Contents) -> bytes:
    """Return the packed bundle: incident, timeline, ticket, answers of machines, log."""
    folder = file_name(f"evidence-{contents.incident.id}")
    packed = io.BytesIO()
    # neither the packer's clock nor its user is in it
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        stamp = int(contents.incident.opened_at.timestamp())
        for name, content in _bounded(files(contents)):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size, member.mtime, member.mode = len(content), stamp, 0o600
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def files(contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield each file's name and content, in the order of the bundle."""
    yield "incident.json", _incident(contents)
    yield "timeline.md", _timeline(contents)
    if contents.ticket is not None:
        yield "ticket.md", as_markdown(contents.ticket).encode()
    taken: set[str] = set()
    for capture in contents.captures:
        folder = f"{capture.at:%Y%m%dT%H%M%SZ}-{file_name(capture.why)}"
        for name, text in (capture.outputs or {}).items():
            parts = [file_name(part) for part in name.split("/") if part.strip(" .")]
            yield _free(f"{folder}/{'/'.join(parts[:6])}.txt", taken), clean(text).encode()


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other file has, whatever the foreign names come to."""
    stem = name.removesuffix(".txt")
    tried = (f"{stem}{f'-{n}' if n else ''}.txt" for n in range(len(taken) + 1))
    found = next(one for one in tried if one not in taken)
    taken.add(found)
    return found


def _bounded(given: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    left = MOST
    for name, content in given:
        most = min(MOST_FILE, left)
        if most <= len(_LEFT_OUT):
            yield name, _LEFT_OUT
            continue
        short = content if len(content) <= most else content[: most - len(_CUT)] + _CUT
        left -= len(short)
        yield name, short


def _incident(contents: Contents) -> bytes:
    told = {
        "written_by": contents.version,
        "incident": _plain(asdict(contents.incident)),
        "statements": [_plain(asdict(one)) for one in contents.said],
        "steps": [_plain(asdict(one)) for one in contents.runs],
    }
    return (json.dumps(told, indent=1, sort_keys=True) + "\n").encode("ascii")


def _plain(node: object) -> object:
    """Return JSON values whose texts are without secrets."""
    if isinstance(node, Mapping):
        return {str(name): _plain(value) for name, value in node.items()}
    if isinstance(node, list | tuple):
        return [_plain(one) for one in node]
    if isinstance(node, datetime):
        return f"{node:%Y-%m-%dT%H:%M:%SZ}"
    return clean(node) if isinstance(node, str) else node


def _timeline(contents: Contents) -> bytes:
    rows = [f"# Incident {markdown(contents.incident.id)}", ""]
    for one in contents.entries:
        by = f" by {markdown(one.who)}" if one.who else ""
        said = f": {markdown(one.text)}" if one.text.strip() else ""
        rows.append(f"- {at(one.at)} {markdown(one.kind)}{by}{said}")
    return ("\n".join(rows) + "\n").encode()
