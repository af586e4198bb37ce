"""The manifest asks for exactly what the app uses."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from bot.chat.scopes import SCOPES
from bot.reports.slack.values import Callback
from bot.settings import SlackSettings
from handlers.shortcuts.diagnose import CALLBACK
from playground.slack.api.table import METHODS
from playground.slack.app import EVENT_SCOPES
from tests.scenario.stage import ROOT

#: Scopes of methods whose scope depends on the kind of channel (docs.slack.dev, each method).
_BY_CHANNEL = {
    "conversations.history": {"channels:history", "groups:history", "im:history"},
    "conversations.replies": {"channels:history", "groups:history", "im:history"},
    "conversations.open": {"im:write"},
}
#: What `files_upload_v2` of Slack's library calls.
_UPLOAD = {"files.getUploadURLExternal", "files.completeUploadExternal"}


def _methods() -> set[str]:
    """Return the Web API methods that the adapter names."""
    source = (ROOT / "bot/chat/slack.py").read_text(encoding="utf-8")
    named = set(re.findall(r'"([a-z]+(?:\.[A-Za-z]+)+)"', source))
    return {one for one in named if one in METHODS} | _UPLOAD


@pytest.mark.parametrize("name", ["manifest.yml", "manifest-channels.yml"])
def test_the_scopes_are_those_of_the_methods_and_events(name: str) -> None:
    """No scope is missing and none is asked for in vain."""
    manifest = _manifest(name)
    asked = set(manifest["oauth_config"]["scopes"]["bot"])
    events = manifest["settings"]["event_subscriptions"]["bot_events"]
    needed = {"commands"} | {EVENT_SCOPES[one] for one in events if one in EVENT_SCOPES}
    for method in _methods():
        needed |= _BY_CHANNEL.get(method) or set(METHODS[method].scopes)
    assert asked == needed == set(SCOPES)


def test_the_second_manifest_adds_messages_of_channels_alone() -> None:
    """Whoever wants less to be seen loses nothing else."""
    one, other = _manifest("manifest.yml"), _manifest("manifest-channels.yml")
    events = [each["settings"]["event_subscriptions"].pop("bot_events") for each in (one, other)]
    assert set(events[1]) - set(events[0]) == {"message.channels", "message.groups"}
    assert set(events[0]) <= set(events[1])
    assert one == other


def _manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return found


def test_the_names_are_those_of_the_listeners() -> None:
    """Command and shortcut of the manifest have a listener, and interactivity is on."""
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    features = manifest["features"]
    assert [one["command"] for one in features["slash_commands"]] == [SlackSettings().command]
    assert [one["callback_id"] for one in features["shortcuts"]] == [CALLBACK]
    assert manifest["settings"]["interactivity"]["is_enabled"]
    assert CALLBACK not in set(Callback)
