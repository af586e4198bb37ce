"""Put who resolves whom into a thread, as a picture that says the same in words."""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256

from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ChatError
from bot.chat.telling import PICTURED
from bot.hosts.matrix import Matrix
from bot.incidents.incident import Entry, Incident
from bot.incidents.message import Message
from bot.reports.preflights import Drawn, drawn
from bot.reports.slack.message import Attachment

_LOG = logging.getLogger(__name__)


async def of_check(desk: Desk, incident: Incident, parent: Message, matrix: Matrix) -> None:
    """Post the picture of what a check has asked, unless the thread has the same already."""
    told = [(one.name, one.cells.hex()) for one in matrix.observers]
    seen = sha256(repr((matrix.names, told)).encode()).hexdigest()[:16]
    entries = await desk.store.incidents.timeline(incident.id)
    if any(one.kind == PICTURED and one.about == seen for one in entries):
        return
    made = await asyncio.to_thread(drawn, matrix)
    entry = Entry(at=desk.now(), kind=PICTURED, about=seen, text=made.headline[:500])
    await desk.store.incidents.record(incident.id, entry)
    await posted(desk, parent, made)
    await desk.outbox.refresh(incident.id)


async def posted(desk: Desk, parent: Message, made: Drawn, *more: Attachment) -> bool:
    """Upload the picture, and what goes with it; raises AwayError, and says False for less."""
    picture = Attachment(
        name="who-resolves-whom.png", content=made.png, title=made.headline[:150], alt=made.alt
    )
    try:
        await desk.outbox.attach(parent, (picture, *more))
    except AwayError:
        raise
    except ChatError as error:
        _LOG.warning("who resolves whom is not shown as a picture: %s", error)
        return False
    return True
