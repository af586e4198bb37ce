"""Say once, when an incident has ended, how it ended and what happened when."""

from __future__ import annotations

import logging
from datetime import timedelta

from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ChatError
from bot.chat.rendering import SUMMARY
from bot.incidents.incident import Incident

_LOG = logging.getLogger(__name__)
#: Longer ago than this an end is no news.
_ENDED_LATELY = timedelta(days=1)


async def say_ended(desk: Desk, said: set[str]) -> None:
    """Sum up each incident that ended lately, whoever ended it; `said` are those known to be."""
    for incident in await desk.store.incidents.ended_since(desk.now() - _ENDED_LATELY):
        if incident.id in said:
            continue
        try:
            await say(desk, incident)
        except AwayError:
            raise
        except ChatError as error:
            _LOG.warning("incident %s is not summed up: %s", incident.id, error)
        said.add(incident.id)


async def say(desk: Desk, incident: Incident) -> None:
    """Sum up an incident in its thread, once; one that came to no report says why in its parent."""
    parent = await desk.parent(incident)
    if parent is None or incident.checked_at is None:
        return
    await desk.outbox.say(desk.row(incident, SUMMARY, parent=parent, live=False))
