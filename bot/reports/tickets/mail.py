"""A ticket as a mail: headers that nothing foreign can end, the bundle attached. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256

from bot.reports.slack.escaping import mail_header
from bot.reports.slack.message import Attachment
from bot.reports.tickets.ticket import Ticket
from bot.reports.tickets.wording import as_text

_TYPES = {"gz": ("application", "gzip"), "md": ("text", "markdown")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Addressed:
    """Whom a mail is from and to; from the settings, which know the grammar."""

    to: str
    sender: str = ""
    #: comes back with the answer, so that a thread can be told apart
    number: str = ""


def message(
    ticket: Ticket,
    where: Addressed,
    attachments: Sequence[Attachment],
    *,
    version: str,
    at: datetime | None = None,
) -> EmailMessage:
    """Return the mail; without a time it is a draft that a mail program opens to be sent.

    Made twice of the same it is the same: its id and its boundary come from `version`.
    """
    made = EmailMessage(policy=SMTP)
    number = f"[{ticket_number(where.number)}] " if where.number else ""
    made["Subject"] = mail_header(f"{number}{ticket.title}")
    # ours, of a setting that knows the grammar; escaped as foreign they would be redacted
    made["To"] = where.to
    if where.sender:
        made["From"] = where.sender
    mark = sha256(version.encode()).hexdigest()[:32]
    if at is None:
        made["X-Unsent"] = "1"
    else:
        made["Date"] = format_datetime(at)
        made["Message-ID"] = f"<{mark}@{where.sender.rpartition('@')[2] or 'nccl-dns.invalid'}>"
    made.set_content(as_text(ticket), cte="quoted-printable")
    for one in attachments:
        kind = _TYPES.get(one.name.rpartition(".")[2], ("text", "plain"))
        made.add_attachment(one.content, maintype=kind[0], subtype=kind[1], filename=one.name)
    if made.is_multipart():
        made.set_boundary(f"=_{mark}")
    return made


def ticket_number(told: str) -> str:
    """Return a ticket's number as a subject holds it."""
    return mail_header(told).replace("[", "").replace("]", "")
