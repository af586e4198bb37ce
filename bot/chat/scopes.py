"""Which scopes the app needs, and for what: the manifest's list, as a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping

#: Scope → what does not work without it.
SCOPES: Mapping[str, str] = {
    "app_mentions:read": "mentions are not seen",
    "channels:history": "threads of public channels cannot be read, nor our own messages found",
    "chat:write": "nothing can be said",
    "commands": "the slash command and the shortcut do not work",
    "files:read": "shared logs cannot be read",
    "files:write": "long outputs and pictures cannot be attached",
    "groups:history": "threads of private channels cannot be read",
    "im:history": "direct messages are not seen",
    "im:write": "nobody can be told anything in a direct message",
    "usergroups:read": "user groups of approvers cannot be looked up",
    "users:read": "guests and strangers cannot be told from members",
}
