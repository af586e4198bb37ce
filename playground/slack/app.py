"""The app under test as Slack knows it: what its manifest says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playground.slack.kit.rules import Json

#: Which scope lets an app have which event (the page of each event on
#: docs.slack.dev/reference/events); events that are not here need none.
EVENT_SCOPES = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "file_shared": "files:read",
    "reaction_added": "reactions:read",
    "member_joined_channel": "channels:read",
}

BOT_SCOPES = (
    "app_mentions:read", "channels:history", "channels:join", "channels:read", "chat:write",
    "commands", "files:read", "files:write", "groups:history", "groups:read", "im:history",
    "im:read", "im:write", "reactions:read", "reactions:write", "usergroups:read", "users:read",
    "users:read.email",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AppConfig:
    """What an app may do and is told of."""

    name: str = "nccl-dns"
    bot_name: str = "nccl-dns"
    scopes: frozenset[str] = frozenset(BOT_SCOPES)
    app_scopes: frozenset[str] = frozenset({"connections:write"})
    #: `message.channels` and the like, as a manifest has them
    events: frozenset[str] = frozenset(
        {"app_mention", "message.im", "file_shared", "app_home_opened"}
    )
    commands: tuple[str, ...] = ("/nccl-dns",)
    #: callback id → `message` or `global`
    shortcuts: tuple[tuple[str, str], ...] = (("diagnose_log", "message"),)
    #: callback id → what the client's menu says
    shortcut_names: tuple[tuple[str, str], ...] = (("diagnose_log", "Diagnose this log"),)
    interactivity: bool = True
    home_tab: bool = True
    messages_tab: bool = True
    socket_mode: bool = True

    def shortcut_name(self, callback_id: str) -> str:
        """Return what the client's menu calls a shortcut."""
        return dict(self.shortcut_names).get(callback_id, callback_id)

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, object]) -> AppConfig:
        """Read a manifest (docs.slack.dev/reference/app-manifest), given as an object."""
        features, settings = _part(manifest, "features"), _part(manifest, "settings")
        home = _part(features, "app_home")
        scopes = _part(_part(manifest, "oauth_config"), "scopes")
        name = str(_part(manifest, "display_information").get("name", "app"))
        return cls(
            name=name,
            bot_name=str(_part(features, "bot_user").get("display_name", name)),
            scopes=frozenset(scopes.get("bot", ())),
            events=frozenset(_part(settings, "event_subscriptions").get("bot_events", ())),
            commands=tuple(one["command"] for one in features.get("slash_commands", ())),
            shortcuts=tuple(
                (one["callback_id"], one["type"]) for one in features.get("shortcuts", ())
            ),
            shortcut_names=tuple(
                (one["callback_id"], one["name"]) for one in features.get("shortcuts", ())
            ),
            interactivity=bool(_part(settings, "interactivity").get("is_enabled", False)),
            home_tab=bool(home.get("home_tab_enabled", False)),
            messages_tab=bool(home.get("messages_tab_enabled", False)),
            socket_mode=bool(settings.get("socket_mode_enabled", False)),
        )


def _part(whole: Mapping[str, object], name: str) -> Json:
    part = whole.get(name)
    return part if isinstance(part, dict) else {}
