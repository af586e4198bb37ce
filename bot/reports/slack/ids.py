"""The grammar of Slack's ids: nothing else may become a mention."""

from __future__ import annotations

import re

_USER = re.compile(r"[UW][A-Z0-9]{2,30}")
_GROUP = re.compile(r"S[A-Z0-9]{2,30}")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{2,30}")


def is_user(text: str) -> bool:
    """Tell whether a text is a person's id."""
    return _USER.fullmatch(text) is not None


def is_group(text: str) -> bool:
    """Tell whether a text is a user group's id."""
    return _GROUP.fullmatch(text) is not None


def is_channel(text: str) -> bool:
    """Tell whether a text is a channel's id."""
    return _CHANNEL.fullmatch(text) is not None
