"""Where people ask: what every flow needs, and how somebody is told something privately."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from bot.chat.asker import Asker
from bot.chat.errors import GoneError, NotMemberError, RefusedError
from bot.chat.outbox import Outbox
from bot.chat.people import People
from bot.chat.port import Chat, Identity
from bot.chat.rules import Rules
from bot.chat.turns import Turns
from bot.clouds.timing import utc_now
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident
from bot.incidents.message import PARENT, Message
from bot.incidents.store import Store
from bot.recovery.service import Recovery
from bot.reports.slack import message
from bot.reports.slack.notices import Problem, error
from bot.triage.services import Services

_LOG = logging.getLogger(__name__)
NOTHING_DONE = "Nothing was done to any machine."


@dataclass(kw_only=True)
class Desk:
    """The flows' surroundings; `identity` is known once Slack was asked."""

    chat: Chat
    services: Services
    store: Store
    outbox: Outbox
    people: People
    rules: Rules
    identity: Identity
    #: carries out what is approved; None where nothing may be changed
    recovery: Recovery | None = None
    now: Callable[[], datetime] = utc_now
    #: first reports go before what can wait
    turns: Turns = field(default_factory=Turns)

    async def tell(self, asker: Asker, said: message.Message) -> None:
        """Tell one person something, by the address that their click came with if there is one."""
        try:
            await self._tell(asker, said)
        except (RefusedError, NotMemberError, GoneError) as refused:
            _LOG.warning("%s was told nothing: %s", asker.user, refused)

    async def _tell(self, asker: Asker, said: message.Message) -> None:
        if asker.response_url:
            with suppress(GoneError):
                await self.chat.respond(asker.response_url, said)
                return
        if asker.channel.startswith("D"):
            await self.chat.post(asker.channel, said, thread=asker.thread)
        else:
            await self.chat.whisper(asker.channel, asker.user, said, thread=asker.thread)

    async def whisper(self, user: str, asker: Asker, said: message.Message) -> None:
        """Tell somebody else, where the asker asks, what they alone see."""
        try:
            await self.chat.whisper(asker.channel, user, said, thread=asker.thread)
        except (RefusedError, NotMemberError, GoneError) as refused:
            _LOG.warning("%s was told nothing: %s", user, refused)

    async def explain(
        self, asker: Asker, failed: Exception | str, *, next_step: str = "", not_done: str = ""
    ) -> None:
        """Tell one person what failed, what was not done, and what to do next."""
        problem = Problem(
            failed=str(failed),
            not_done=not_done or NOTHING_DONE,
            next_step=next_step or f"{self.rules.command} help says what can be asked.",
        )
        await self.tell(asker, error(problem))

    def row(
        self, incident: Incident, purpose: str, *, parent: Message | None = None,
        channel: str = "", thread: str = "", live: bool = True,
    ) -> Message:  # fmt: skip
        """Return a new row for something to be said, as a reply where a parent is given."""
        replied_to = (parent.thread or parent.ts or "") if parent else thread
        return Message(
            id=new_id(LONG),
            incident_id=incident.id,
            purpose=purpose,
            team=incident.team or self.identity.team,
            channel=parent.channel if parent else channel or incident.channel or "",
            created_at=self.now(),
            thread=replied_to or None,
            live=live,
        )

    async def incident_in(self, channel: str, thread: str) -> Incident | None:
        """Return the newest incident whose report is in a thread; None where none is."""
        rows = await self.store.messages.in_thread(channel, thread)
        parents = [one for one in rows if one.purpose == PARENT]
        return await self.store.incidents.get(parents[-1].incident_id) if parents else None

    async def parent(self, incident: Incident) -> Message | None:
        """Return the posted message that shows an incident's state."""
        rows = await self.store.messages.of(incident.id)
        return next((one for one in rows if one.purpose == PARENT and one.ts), None)

    async def permalink(self, incident: Incident) -> str:
        """Return the address of an incident's thread; empty where it has none yet."""
        return await self.outbox.renderer.permalink(incident.id)
