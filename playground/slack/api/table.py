"""Every method that is served: what runs it, what it wants, how often.

Source of scopes, content types and tiers: the «Facts» of each method's page on
docs.slack.dev/reference/methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playground.slack.api import chat, conversations, files, people, views
from playground.slack.api.call import Call
from playground.slack.kit.rules import Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """One method."""

    run: Callable[[Call], Json]
    #: one of these is wanted; which one may depend on the channel, and then `run` asks
    scopes: tuple[str, ...] = ()
    #: see `rates.TIERS`; 5 stands for what the pages call special
    tier: int = 3
    #: takes a body of JSON; the others see none of its members
    takes_json: bool = True
    #: which tokens may call it
    tokens: tuple[str, ...] = ("bot",)


METHODS: dict[str, Method] = {
    "apps.connections.open": Method(
        run=lambda _: {}, scopes=("connections:write",), tier=1, tokens=("app",)
    ),
    "auth.test": Method(run=people.auth_test, tier=5, tokens=("bot", "app")),
    "bots.info": Method(run=people.bots_info, scopes=("users:read",), takes_json=False),
    "chat.delete": Method(run=chat.delete, scopes=("chat:write",)),
    "chat.getPermalink": Method(run=chat.get_permalink, tier=5, takes_json=False),
    "chat.postEphemeral": Method(run=chat.post_ephemeral, scopes=("chat:write",), tier=4),
    "chat.postMessage": Method(run=chat.post_message, scopes=("chat:write",), tier=5),
    "chat.update": Method(run=chat.update, scopes=("chat:write",)),
    "conversations.history": Method(run=conversations.history),
    "conversations.info": Method(run=conversations.info, takes_json=False),
    "conversations.join": Method(run=conversations.join, scopes=("channels:join",)),
    "conversations.list": Method(run=conversations.listed, tier=2, takes_json=False),
    "conversations.members": Method(run=conversations.members, tier=4, takes_json=False),
    "conversations.open": Method(run=conversations.opened),
    "conversations.replies": Method(run=conversations.replies, takes_json=False),
    "files.completeUploadExternal": Method(
        run=files.complete_upload, scopes=("files:write",), tier=4
    ),
    "files.getUploadURLExternal": Method(
        run=files.get_upload_url, scopes=("files:write",), tier=4, takes_json=False
    ),
    "files.info": Method(run=files.info, scopes=("files:read",), tier=4, takes_json=False),
    "reactions.add": Method(run=chat.add_reaction, scopes=("reactions:write",)),
    "usergroups.list": Method(run=people.groups_list, scopes=("usergroups:read",), tier=2),
    "usergroups.users.list": Method(run=people.group_users, scopes=("usergroups:read",), tier=2),
    "users.info": Method(run=people.users_info, scopes=("users:read",), tier=4, takes_json=False),
    "users.list": Method(run=people.users_list, scopes=("users:read",), tier=2, takes_json=False),
    "users.lookupByEmail": Method(
        run=people.lookup_by_email, scopes=("users:read.email",), takes_json=False
    ),
    "views.open": Method(run=views.opened, tier=4),
    "views.publish": Method(run=views.publish, tier=4),
    "views.push": Method(run=views.push, tier=4),
    "views.update": Method(run=views.update, tier=4),
}
