"""A message and a view as they are sent: plain JSON within Slack's limits, and what goes along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Json = dict[str, Any]

#: Name under which our messages are found again (`conversations.history` with metadata).
EVENT_TYPE = "nccl_dns_message"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    """A file that goes with a message: a text that was cut, whole, or a picture."""

    name: str
    content: bytes
    #: what stands above it; its name where there is none
    title: str = ""
    #: what a picture says, for who does not see it
    alt: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message: what `chat.postMessage`, `chat.update` and `chat.postEphemeral` are given."""

    blocks: tuple[Json, ...]
    #: for notifications and screen readers; never empty
    text: str
    #: incident, purpose and revision; the row's id is added by whoever stores the row
    about: Mapping[str, str | int] = field(default_factory=dict)
    #: goes into the thread as files; empty where nothing was cut
    attachments: tuple[Attachment, ...] = ()

    def of_row(self, row: str) -> Message:
        """Return the message with the id of the row it is stored as."""
        return replace(self, about={**self.about, "row": row})

    @property
    def metadata(self) -> Json:
        """Return the message's metadata."""
        return {"event_type": EVENT_TYPE, "event_payload": dict(self.about)}

    def to_post(self) -> Json:
        """Return the arguments of `chat.postMessage`; nothing is linked, expanded or parsed."""
        return {**self.to_update(), "unfurl_links": False, "unfurl_media": False}

    def to_update(self) -> Json:
        """Return the arguments of `chat.update`."""
        return {**self.to_ephemeral(), "metadata": self.metadata}

    def to_ephemeral(self) -> Json:
        """Return the arguments of `chat.postEphemeral` and of a response URL."""
        return {
            "blocks": list(self.blocks),
            "text": self.text,
            "parse": "none",
            "link_names": False,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A modal or a Home tab: what `views.open`, `views.update` and `views.publish` are given."""

    type: Literal["modal", "home"]
    blocks: tuple[Json, ...]
    #: modal only, like the three that follow
    title: str = ""
    submit: str = ""
    close: str = ""
    callback_id: str = ""
    #: comes back with the submission
    private_metadata: str = ""
    #: what was cut, whole; a view itself takes no files
    attachments: tuple[Attachment, ...] = ()

    def to_view(self) -> Json:
        """Return the view's JSON."""
        labels = {"title": self.title, "submit": self.submit, "close": self.close}
        texts = {"callback_id": self.callback_id, "private_metadata": self.private_metadata}
        return {
            "type": self.type,
            **{name: _plain(label) for name, label in labels.items() if label},
            "blocks": list(self.blocks),
            **{name: text for name, text in texts.items() if text},
        }


def _plain(label: str) -> Json:
    return {"type": "plain_text", "text": label, "emoji": False}
