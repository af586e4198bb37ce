"""Write a ticket as plain text and as Markdown: the status of the data first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from bot.reports.slack.escaping import markdown, one_line, preformatted
from bot.reports.tickets.ticket import LABELS, Ticket, TicketVm, contact_of

_TICKS = re.compile(r"`{3,}")


def as_text(ticket: Ticket) -> str:
    """Return a ticket as text, for a mail and for a form of the support's."""
    rows = [f"DATA STATUS: {ticket.power}"]
    rows += [f"- {one_line(one.name)}: {data(one)} - {one.power}" for one in ticket.vms]
    rows += ["", f"Title: {one_line(ticket.title)}", f"Priority: {LABELS[ticket.priority]}"]
    rows += [f"First seen: {at(ticket.first_seen)}"]
    rows += [f"Job: {one_line(ticket.job)}"] if ticket.job else []
    rows += ["", "VMs:"]
    for one in ticket.vms:
        rows += [f"- {one_line(one.name)}"]
        rows += [f"  {label}: {value}" for label, value in facts(one)]
    for title, text in texts(ticket):
        rows += ["", f"{title}:", *(f"  {row}" for row in text.split("\n"))]
    return "\n".join(rows) + "\n"


def as_markdown(ticket: Ticket) -> str:
    """Return a ticket as Markdown in which nothing foreign has any meaning."""
    rows = [f"# {markdown(ticket.title)}", "", f"**Data status: {ticket.power}**", ""]
    rows += [f"- {markdown(one.name)}: {markdown(data(one))}: {one.power}" for one in ticket.vms]
    rows += ["", f"- Priority: {markdown(LABELS[ticket.priority])}"]
    rows += [f"- First seen: {at(ticket.first_seen)}"]
    rows += [f"- Job: {markdown(ticket.job)}"] if ticket.job else []
    for one in ticket.vms:
        rows += ["", f"## {markdown(one.name)}", ""]
        rows += [f"- {label}: {markdown(value)}" for label, value in facts(one)]
    for title, text in texts(ticket):
        rows += ["", f"## {title}", "", *fenced(text)]
    return "\n".join(rows) + "\n"


def data(one: TicketVm) -> str:
    """Return the status of a VM's data with the words for it."""
    said = one_line(one.data_said) if one.data_said else ""
    return f"{one.data} ({said})" if said else one.data


def facts(one: TicketVm) -> Iterator[tuple[str, str]]:
    """Yield what support asks for about a VM, each on one line."""
    known = {
        "VM id": one.id,
        "Project": one.project,
        "Type": one.type,
        "Location": one.location,
        "Node": one.host if one.host != one.name else "",
        "Addresses": ", ".join(one.addresses),
    }
    for label, value in known.items():
        if value:
            yield label, one_line(value)
    if one.state and one.read_at:
        yield "API state", f"{one_line(one.state)}, read {at(one.read_at)}"
    for told in one.operations:
        yield "API operation", one_line(told)
    for told in one.found:
        yield "Found", one_line(told)


def texts(ticket: Ticket) -> Iterator[tuple[str, str]]:
    """Yield the texts that people edit, each with its title, clean."""
    yield "What happened", preformatted(ticket.what)
    yield "Exact lines", preformatted(ticket.lines)
    yield "What was tried", preformatted(ticket.tried)
    yield "Impact", preformatted(ticket.impact)
    yield "Contact", contact_of(ticket.contact) or "(to be filled in)"


def at(when: datetime) -> str:
    """Return a time in UTC."""
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"


def fenced(text: str) -> list[str]:
    """Return clean lines as a block of code that they cannot end.

    https://spec.commonmark.org/0.31.2/#fenced-code-blocks: only a fence as long ends it.
    """
    shown = text.strip("\n") or "–"
    longest = max((len(each) for each in _TICKS.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}text", *shown.split("\n"), fence]
