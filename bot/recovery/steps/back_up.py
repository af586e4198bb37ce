"""Back up what a stop of the VM would lose: chosen by a person, copied, and read again.

It changes nothing of the VM's life, so the ladder is not asked, a pause or an open breaker does not
hold it up, and it does not count as a change: saving data is what a person wants most then. While
it runs, no other step begins on the VM.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from bot.errors import BotError
from bot.hosts.backup_ends import Why, reason
from bot.hosts.backups import Copied, Going, Item, Kept, Order, Survey
from bot.hosts.errors import LoginError
from bot.incidents.approval import ApprovalState
from bot.incidents.run import cut
from bot.incidents.statement import Kind, Statement
from bot.recovery.backup import words
from bot.recovery.backup.choice import Choice, chosen
from bot.recovery.doing import Doing
from bot.recovery.errors import RefusedStepError, StepFailedError
from bot.recovery.steps.step import Ended, Step
from bot.recovery.world import Scene, Verdict

#: Files that changed so lately are counted as recent.
RECENT = timedelta(days=1)
#: A connection that ends is opened anew so often; the copy goes on where it was.
TRIES = 5
#: Seconds between two edits of the card.
_TELL_S = 2.0
_MB = 10**6
_PHASES = {"copy": "Copying", "verify": "Reading both sides again"}


class BackUp(Step):
    """Copy what was chosen to a disk that stays, and prove it by SHA-256 of both sides."""

    name: ClassVar[str] = "back_up"
    title: ClassVar[str] = "Back up"
    mutates: ClassVar[bool] = False
    #: what changes on a VM is no reason against saving what is on it
    unbound: ClassVar[frozenset[str]] = frozenset({"boot", "state", "findings", "work", "data"})

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return what is run on the machine."""
        return (
            f"On {scene.host}: look again at what its own disks hold; refuse to copy to another "  # noqa: ISC004
            "disk that goes with the VM, or to the system's.",
            "Write, give away and take back a small file in a new folder (0700) there.",
            f"On {scene.host}: rsync -aHAX --numeric-ids --from0 --files-from=- -- / ./",
            "Read both sides again: sizes, owners, modes, SHA-256. Write the manifest beside it.",
        )

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Copy; a try that was cut off goes on where it was, also after a crash of ours."""
        await doing.tell("Looking at what the VM's own disks hold.")
        told: Mapping[str, Any] = await doing.once("copy", lambda: _copied(doing))
        return told

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Take the far side's proof: it has read both sides."""
        copied = _read(acted)
        said = words.outcome(copied)
        if copied.proven:
            where = ", ".join(one.where for one in copied.folders)
            left = str(acted.get("left_out", ""))
            await doing.once("stated", lambda: _backed_up(doing, f"{where}{left}"))
            said += left
        else:
            await doing.once("stated", lambda: _at_risk(doing, said, int(acted["bytes"])))
        return Ended(
            verdict=Verdict.PASSED if copied.proven else Verdict.FAILED,
            why=said,
            proof=words.summary(copied),
            result={"bytes": acted["bytes"], "where": [one.where for one in copied.folders]},
        )


async def _copied(doing: Doing) -> dict[str, Any]:
    """Survey, copy what was chosen, and return what came of it, JSON-able."""
    approval = await doing.tools.store.approvals.get(doing.approval_id)
    if approval is None:
        raise RefusedStepError("It is not approved any more.")
    choice, owner = Choice.of(approval.seen), str(approval.seen.get("owner", ""))
    target, backups = doing.scene.target, doing.tools.world.backups()
    try:
        found = await backups.survey(target, RECENT)
    except LoginError as error:
        raise StepFailedError(f"{error} {words.CANNOT_BE_SAVED}") from error
    place, picked = chosen(found, owner, choice)
    items = tuple(one for entry in picked for one in entry.items)
    order = Order(
        to=place.path,
        folder=_folder(doing.scene),
        run=doing.approval_id,
        items=tuple((one.path, one.what) for one in items),
    )
    try:
        copied = await _tried(doing, order)
    except BotError as error:
        await _at_risk(doing, words.at_risk(items, str(error)), _size(items))
        raise
    left = tuple(one for one in found.items if one not in items)
    return {
        "folders": [_kept(one) for one in copied.folders],
        "bytes": _size(items),
        "left_out": _left_out(left, found),
    }


def _left_out(left: tuple[Item, ...], found: Survey) -> str:
    """Say what was not chosen, by owner and size."""
    said = f" Left out by choice: {words.at_risk(left)}" if left else ""
    return said if found.whole else f"{said} The look around was not complete."


async def _tried(doing: Doing, order: Order) -> Copied:
    """Copy, again where the connection ended; raises StepFailedError where it cannot go on."""
    why = ""
    for _ in range(TRIES):
        try:
            copied = await _watched(doing, order)
        except LoginError as error:
            why = f"{error} What is copied is kept; back up again once the VM lets us in."
        else:
            if copied.why is None:
                return copied
            why = reason(copied.why, copied.detail)
            if copied.why is not Why.CUT:
                break
        await doing.tell("The connection ended; it goes on where it was.")
        await doing.tools.sleep(doing.tools.waits.look.total_seconds())
    raise StepFailedError(why)


async def _watched(doing: Doing, order: Order) -> Copied:
    """Copy, while the card tells how far it is and a click on Stop ends it."""
    progress = _Progress(doing=doing)
    copying = asyncio.ensure_future(
        doing.tools.world.backups().copy(doing.scene.target, order, progress.tell)
    )
    try:
        while not copying.done():
            await asyncio.wait([copying], timeout=_TELL_S)
            approval = await doing.tools.store.approvals.get(doing.approval_id)
            if approval is None or approval.state is not ApprovalState.APPROVED:
                why = (approval.reason if approval else "") or "It is not approved any more."
                raise StepFailedError(f"{why} What is copied is kept, and not proven.")
        return copying.result()
    finally:
        copying.cancel()
        await asyncio.wait([copying], timeout=2)


@dataclass(kw_only=True)
class _Progress:
    """Tells the card how far a copy is: bytes, rate, and how long it may still take."""

    doing: Doing
    _told: datetime | None = None
    _first: tuple[str, int, datetime] | None = None
    _rates: dict[str, float] = field(default_factory=dict)

    async def tell(self, going: Going) -> None:
        """Tell it, every two seconds at most."""
        now = self.doing.tools.now()
        if self._first is None or self._first[0] != going.phase:
            self._first = (going.phase, going.done_bytes, now)
        elif self._told and (now - self._told).total_seconds() < _TELL_S:
            return
        self._told = now
        _, began_with, since = self._first
        seconds = (now - since).total_seconds()
        rate = (going.done_bytes - began_with) / seconds if seconds > 0 else 0.0
        said = _PHASES.get(going.phase, going.phase)
        if rate > 0:
            left = timedelta(seconds=max(going.total_bytes - going.done_bytes, 0) / rate)
            said += f": {words.size(int(rate))}/s, about {words.lasting(left)} left"
        await self.doing.tell(
            f"{said}.", done=going.done_bytes // _MB, total=going.total_bytes // _MB, unit="MB"
        )


def _folder(scene: Scene) -> str:
    """Return the backup's folder: the VM and the incident, so that a person finds it."""
    vm = re.sub(r"[^A-Za-z0-9._-]", "-", scene.vm_name)[:60].lstrip("-._") or "vm"
    return f"{vm}-{scene.incident_id}"


def _size(items: tuple[Item, ...]) -> int:
    return sum(one.size_bytes for one in items)


def _kept(one: Kept) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Kept.__dataclass_fields__}


def _read(acted: Mapping[str, Any]) -> Copied:
    folders = (
        Kept(**{**one, "samples": tuple(map(tuple, one["samples"]))}) for one in acted["folders"]
    )
    return Copied(folders=tuple(folders))


async def _backed_up(doing: Doing, where: str) -> None:
    await _say(doing, Kind.BACKED_UP, doing.run, where)


async def _at_risk(doing: Doing, what: str, size: int) -> None:
    await _say(doing, Kind.AT_RISK, str(size), what)


async def _say(doing: Doing, kind: Kind, about: str, text: str) -> None:
    scene = doing.scene
    await doing.tools.store.statements.say(
        Statement(
            id=f"{doing.run}.{kind}",  # once, however often it is run
            incident_id=scene.incident_id,
            vm_name=scene.vm_name,
            vm_id=scene.vm_id,
            kind=kind,
            about=about,
            text=cut(text),
            at=doing.tools.now(),
        )
    )
