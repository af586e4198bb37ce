"""A table of what goes wrong while the bot runs: who is told what.

After each nothing is lost, nothing is half done, and the bot answers as before. What goes wrong at
the start is in test_failures.py, with requests over HTTP in test_http.py, and for minutes in
test_outage.py.
"""

from __future__ import annotations

import gzip
import io
import logging
import os
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from playground.slack.acting import Acting
from playground.slack.seed import BOT_TOKEN
from playground.slack.server import SlackServer
from tests.scenario.logs import PASTE, example
from tests.scenario.stage import Stage

pytestmark = pytest.mark.anyio
HERE = "training-oncall"

Brings = Callable[[SlackServer, Acting], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One row."""

    name: str
    #: makes it go wrong while somebody asks
    brings: Brings
    #: what they alone are told
    told: tuple[str, ...] = ()
    #: where they asked
    where: str = HERE
    #: what stands in the channel for everybody
    said: tuple[str, ...] = ()
    #: what stands in the log, for whoever runs it
    logged: str = ""
    #: makes it right again
    mends: Callable[[SlackServer], None] = lambda _: None
    #: incidents that are open after it
    opened: int = 0


async def revoked(slack: SlackServer, ada: Acting) -> None:
    """Revoke the token, and ask."""
    slack.revoke()
    await ada.commands(HERE, f"/nccl-dns {PASTE}")


def restored(slack: SlackServer) -> None:
    """Take the token as good again."""
    slack.world.tokens[BOT_TOKEN].revoked = False


async def narrowed(slack: SlackServer, ada: Acting) -> None:
    """Take a scope away, and ask about a file."""
    slack.narrow("files:read")
    asked = ada.shares(HERE, "job.log", example())
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)


def widened(slack: SlackServer) -> None:
    """Give the scope back."""
    slack.world.tokens[BOT_TOKEN].scopes |= {"files:read"}


async def archived(slack: SlackServer, ada: Acting) -> None:
    """Archive the channel while somebody asks in it."""
    asked = ada.says(HERE, PASTE)
    slack.channel(HERE).archived = True
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)


def taken_out(slack: SlackServer) -> None:
    """Take the channel out of the archive."""
    slack.channel(HERE).archived = False


async def not_invited(slack: SlackServer, ada: Acting) -> None:
    """Ask where the bot is no member."""
    del slack
    await ada.commands("general", f"/nccl-dns {PASTE}")


def shared(name: str, data: Callable[[], bytes]) -> Brings:
    """Return what shares a file and asks about it."""

    async def brings(slack: SlackServer, ada: Acting) -> None:
        del slack
        asked = ada.shares(HERE, name, data())
        await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)

    return brings


def large() -> bytes:
    """Return 40 MB with the failure at their end."""
    filler = b"7: step 100 loss 2.01 grad norm 0.98 tokens per second 41210.4 lr 0.0003\n"
    return filler * (40_000_000 // len(filler)) + example()


def zip_bomb() -> bytes:
    """Return what unpacks to a thousand times its size."""
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rank-0.log", _zeros())
    return room.getvalue()


def gzip_bomb() -> bytes:
    """Return the same, packed otherwise."""
    return gzip.compress(_zeros())


def _zeros() -> bytes:
    return b"nothing at all happened here\n" * (100 * (1 << 20) // 29)


FAULTS = (
    Fault(
        name="revoked token", brings=revoked, mends=restored,
        told=("The token was revoked", "Whoever runs me"), logged="The token was revoked",
    ),
    Fault(
        name="missing scope", brings=narrowed, mends=widened,
        told=("files:read", "install the app again"), logged="lacks the scope files:read",
    ),
    Fault(
        name="channel the bot is not in", brings=not_invited, where="general",
        told=("/invite @nccl-dns", "Nothing was started"),
    ),
    Fault(name="archived channel", brings=archived, mends=taken_out, told=("is archived",)),
    Fault(
        name="40 MB", brings=shared("job.log", large), opened=1,
        said=("Lines that bear it out", f"{len(large()):,} bytes"),
    ),
    Fault(
        name="empty file", brings=shared("job.log", bytes),
        told=("job.log", "is empty"),
    ),
    Fault(
        name="PNG", brings=shared("shot.png", lambda: b"\x89PNG\r\n\x1a\n" + bytes(100)),
        told=("shot.png", "a picture", "paste the text"),
    ),
    Fault(
        name="noise", brings=shared("noise.log", lambda: os.urandom(100_000)),
        told=("noise.log", "is no log"),
    ),
    Fault(
        name="zip bomb", brings=shared("bomb.zip", zip_bomb),
        told=("bomb.zip", "unpacks to more than"),
    ),
    Fault(
        name="gzip bomb", brings=shared("bomb.gz", gzip_bomb),
        told=("bomb.gz", "unpacks to more than"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=[one.name for one in FAULTS])
async def test_what_goes_wrong(
    stage: Stage, slack: SlackServer, ada: Acting, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told to whom it concerns, loses nothing, and the bot goes on."""
    with caplog.at_level(logging.INFO):
        await fault.brings(slack, ada)
        if fault.told:
            await stage.whispered(fault.where, "ada", *fault.told)
        if fault.said:
            await stage.said(fault.where, *fault.said)
        await stage.idle()
    assert fault.logged in caplog.text
    opened = await stage.bot.desk.store.incidents.still_open()
    assert len(opened) == fault.opened
    fault.mends(slack)
    await goes_on(stage, ada)


async def goes_on(stage: Stage, ada: Acting) -> None:
    """Ask for help and for a report as anybody would, and count what was left undone."""
    await ada.commands(HERE, "/nccl-dns help")
    await stage.whispered(HERE, "ada", "Which rank, which VM, and why")
    await ada.commands("incident-room", f"/nccl-dns {PASTE}\nafter it")
    await stage.report("incident-room")
    await stage.idle()
    assert stage.bot.intake.counts["failed"] == 0
    assert await stage.bot.desk.store.deliveries.undone() == 0
