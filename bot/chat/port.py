"""What the flows ask of a chat. Nothing here knows Slack's library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.reports.slack.message import Attachment, Message, View


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who the bot is."""

    team: str
    user: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody who asks."""

    id: str
    team: str
    #: of one channel or of several
    guest: bool = False
    #: of another workspace, met in a shared channel
    stranger: bool = False
    bot: bool = False
    deactivated: bool = False
    #: an admin or owner of the workspace
    admin: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedFile:
    """A file as Slack describes it."""

    id: str
    name: str
    size_bytes: int
    url: str
    mimetype: str = ""
    user: str = ""
    #: channel → `ts` of the threads in which it was shared
    threads: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A message of anybody's."""

    ts: str
    user: str
    text: str
    files: tuple[str, ...] = ()
    bot: bool = False


class Chat(ABC):
    """A workspace; every method raises ChatError where it does not work."""

    @abstractmethod
    async def identity(self) -> Identity:
        """Return who the bot is."""

    # -- speaking

    @abstractmethod
    async def post(self, channel: str, message: Message, *, thread: str = "") -> str:
        """Post a message, into a thread if one is named, and return its `ts`."""

    @abstractmethod
    async def update(self, channel: str, ts: str, message: Message) -> None:
        """Put a message into the place of one of ours."""

    @abstractmethod
    async def delete(self, channel: str, ts: str) -> None:
        """Take one of our messages away."""

    @abstractmethod
    async def whisper(self, channel: str, user: str, message: Message, *, thread: str = "") -> None:
        """Say something that one person sees."""

    @abstractmethod
    async def respond(self, url: str, message: Message) -> None:
        """Answer a click or a command privately, also where the bot is no member."""

    @abstractmethod
    async def upload(self, channel: str, thread: str, attachments: Sequence[Attachment]) -> None:
        """Put files into a thread."""

    @abstractmethod
    async def find(self, channel: str, row: str, *, since: datetime, thread: str = "") -> str:
        """Return the `ts` of our message of a row, by its metadata; empty where there is none."""

    @abstractmethod
    async def permalink(self, channel: str, ts: str) -> str:
        """Return a message's address."""

    @abstractmethod
    async def open_view(self, trigger: str, view: View) -> str:
        """Open a form and return its id; raises TooLateError three seconds after the click."""

    @abstractmethod
    async def update_view(self, view_id: str, view: View) -> None:
        """Put a form into the place of one that is open; does nothing where it was closed."""

    @abstractmethod
    async def publish_home(self, user: str, view: View) -> None:
        """Put a view on somebody's Home tab."""

    # -- reading

    @abstractmethod
    async def person(self, user: str) -> Person:
        """Return somebody."""

    @abstractmethod
    async def members_of(self, group: str) -> frozenset[str]:
        """Return the people of a user group."""

    @abstractmethod
    async def direct(self, user: str) -> str:
        """Return the channel of direct messages with somebody."""

    @abstractmethod
    async def thread(self, channel: str, ts: str) -> tuple[Said, ...]:
        """Return the messages of a thread, its parent first."""

    @abstractmethod
    async def file(self, file_id: str) -> SharedFile:
        """Return what is known of a file."""

    @abstractmethod
    def download(self, file: SharedFile) -> AsyncIterator[bytes]:
        """Read a file part by part; raises DownloadError with a sentence."""
