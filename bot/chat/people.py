"""Who may ask and who may decide: asked of Slack, and remembered for a while."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from bot.chat.port import Chat, Person
from bot.chat.rules import Rules
from bot.recovery import policy

#: Somebody who leaves an approvers' group may decide for so long after it.
_REMEMBERED_S = 60.0


@dataclass(kw_only=True)
class People:
    """What is known of people."""

    chat: Chat
    rules: Rules
    team: str
    _people: dict[str, tuple[float, Person]] = field(default_factory=dict)
    _groups: dict[str, tuple[float, frozenset[str]]] = field(default_factory=dict)

    async def refusal(self, user: str, team: str = "") -> str:
        """Say why somebody may not ask; empty for members of the workspace.

        `team` is what the payload says of them. Raises ChatError where Slack does not tell.
        """
        if team and team != self.team:
            return _OUTSIDER
        person = await self._person(user)
        if person.stranger or (person.team and person.team != self.team):
            return _OUTSIDER
        if person.guest:
            return _GUEST
        if person.bot or person.deactivated:
            return "Bots and deactivated accounts are not answered."
        return ""

    async def known(self, user: str) -> policy.Person:
        """Return somebody as the policy takes them: with those of its user groups they are in."""
        groups = [
            group
            for group in sorted(self.rules.policy.groups)
            if user in await self._members(group)
        ]
        return policy.Person(user=user, groups=frozenset(groups))

    async def _person(self, user: str) -> Person:
        at, person = self._people.get(user, (0.0, None))
        if person is None or time.monotonic() - at > _REMEMBERED_S:
            person = await self.chat.person(user)
            self._people[user] = (time.monotonic(), person)
        return person

    async def _members(self, group: str) -> frozenset[str]:
        at, members = self._groups.get(group, (0.0, None))
        if members is None or time.monotonic() - at > _REMEMBERED_S:
            members = await self.chat.members_of(group)
            self._groups[group] = (time.monotonic(), members)
        return members


_OUTSIDER = (
    "I answer members of the workspace that I was installed in, and you are of another one. "
    "Nothing was read and nothing was done; ask a member to ask me."
)
_GUEST = (
    "I answer full members of the workspace, and you are a guest here. Nothing was read and "
    "nothing was done; ask a full member to ask me."
)
