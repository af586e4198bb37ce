"""Say where an incident's thread is: to one person, or by a card in another channel."""

from __future__ import annotations

from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import NotMemberError
from bot.chat.mapping import incident_shown
from bot.chat.rendering import LINK
from bot.incidents.incident import Incident
from bot.reports.slack.notices import linked


async def link(desk: Desk, asker: Asker, incident: Incident) -> None:
    """Put a card that links to the thread into another channel.

    Where there is one, or the bot is no member, the asker alone is told where the thread is.
    """
    address = await desk.permalink(incident)
    row = desk.row(incident, LINK, channel=asker.channel, thread=asker.thread)
    try:
        posted = await desk.outbox.say(row)
    except NotMemberError:
        return await say_where(desk, asker, incident)
    if posted.id != row.id or not address:
        await say_where(desk, asker, incident)
    return None


async def say_where(desk: Desk, asker: Asker, incident: Incident) -> None:
    """Tell one person where an incident's thread is."""
    shown = incident_shown(incident, permalink=await desk.permalink(incident))
    await desk.tell(asker, linked(shown))
