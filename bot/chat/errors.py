"""Errors of the chat: each says what failed and what mends it.

ChatError
├── AwayError         Slack is not reached, or has trouble of its own: later it works
├── TokenError        the token is none, or no more
├── ScopeError        the token lacks a scope, which the message names
├── NotMemberError    the bot is not in the channel
├── ClosedChannelError  nobody, or not the bot, may write in the channel
├── GoneError         the message, thread or answer address is no more
├── TooLateError      a form cannot be opened so long after the click
├── DownloadError     a file cannot be read
└── RefusedError      anything else that Slack says no to
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.errors import BotError


class ChatError(BotError):
    """Base of everything that can go wrong between the product and Slack."""


class AwayError(ChatError):
    """Slack cannot be reached or has trouble; what was to be said is kept and said later."""


class TokenError(ChatError):
    """The token is unknown, revoked or of a deactivated app."""


class ScopeError(ChatError):
    """The token may not do this; the message names the scope."""


class NotMemberError(ChatError):
    """The bot is no member of the channel."""


class ClosedChannelError(ChatError):
    """The channel is archived, or closed to the bot."""


class GoneError(ChatError):
    """What was to be changed or answered is no more."""


class TooLateError(ChatError):
    """The trigger of a click lives three seconds, and they are over."""


class DownloadError(ChatError):
    """A shared file cannot be read; the message says why and what to do."""


class RefusedError(ChatError):
    """Slack refused for a reason that no person in Slack can mend."""


_NEW_TOKEN = "Put the app's current token into [slack] of the settings and start again."  # noqa: S105
_INVITE = "Invite the bot to it."
#: Slack's word → the error and its sentence. https://docs.slack.dev/reference/methods
_SENTENCES: Mapping[str, tuple[type[ChatError], str]] = {
    "not_authed": (TokenError, f"Slack got no token. {_NEW_TOKEN}"),
    "invalid_auth": (TokenError, f"Slack does not know the token. {_NEW_TOKEN}"),
    "token_revoked": (TokenError, f"The token was revoked. {_NEW_TOKEN}"),
    "token_expired": (TokenError, f"The token has expired. {_NEW_TOKEN}"),
    "account_inactive": (TokenError, f"The app was removed from the workspace. {_NEW_TOKEN}"),
    "not_allowed_token_type": (TokenError, f"This is another kind of token. {_NEW_TOKEN}"),
    "not_in_channel": (NotMemberError, f"The bot is not in the channel. {_INVITE}"),
    "channel_not_found": (NotMemberError, f"The bot cannot see the channel. {_INVITE}"),
    "is_archived": (ClosedChannelError, "The channel is archived: ask in another one."),
    "restricted_action": (ClosedChannelError, "Only some people may write in this channel."),
    "posting_to_channel_denied": (ClosedChannelError, "No file may be put into this channel."),
    "message_not_found": (GoneError, "The message was deleted."),
    "thread_not_found": (GoneError, "The thread was deleted."),
    "cant_update_message": (GoneError, "The message is not the bot's."),
    "edit_window_closed": (GoneError, "The workspace does not let old messages be edited."),
    "not_found": (GoneError, "It was closed."),
    "file_not_found": (GoneError, "The file was deleted: share it again."),
    "file_deleted": (GoneError, "The file was deleted: share it again."),
    "expired_trigger_id": (TooLateError, "That took too long to open a form: press again."),
    "exchanged_trigger_id": (TooLateError, "The form was opened before: press again."),
    "trigger_expired": (TooLateError, "That took too long to open a form: press again."),
    "ratelimited": (AwayError, "Slack asks for fewer calls; it is tried again."),
    "internal_error": (AwayError, "Slack has trouble of its own; it is tried again."),
    "fatal_error": (AwayError, "Slack has trouble of its own; it is tried again."),
    "service_unavailable": (AwayError, "Slack has trouble of its own; it is tried again."),
}


def of_slack(method: str, word: str, *, needed: str = "", more: str = "") -> ChatError:
    """Return the error for one of Slack's words; `needed` is the scope that it asks for."""
    if word == "missing_scope":
        return ScopeError(
            f"The app lacks the scope {needed or 'that it needs'} ({method}). Add it to the app "
            "(see manifest.yml) and install the app again."
        )
    kind, sentence = _SENTENCES.get(word, (RefusedError, ""))
    return kind(sentence or f"Slack refused {method}: {word}{f' ({more})' if more else ''}.")
