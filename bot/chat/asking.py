"""What somebody wrote, wherever they wrote it: help, status, a job, lines, a link or a form."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import timedelta

from bot.chat import pausing
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import TooLateError
from bot.chat.glass import break_glass
from bot.chat.looking import Wanted, key_of, look
from bot.chat.mapping import incident_shown, switch_shown
from bot.chat.placing import link, say_where
from bot.chat.port import SharedFile
from bot.chat.preflighting import ask_for
from bot.chat.words import Kind, sort_out
from bot.errors import BotError
from bot.incidents.incident import Incident, job_key
from bot.reports.slack.modals import paste
from bot.reports.slack.notices import help_text
from bot.reports.slack.updates import status as status_view
from bot.reports.slack.values import Choice
from bot.schedulers.model import FAILED_STATES

#: Jobs that failed longer ago are not offered in the form.
_LATELY = timedelta(days=1)
_MOST_OFFERED = 25
_PERMALINK = re.compile(r"/archives/(?P<channel>[CGD][A-Z0-9]+)/p(?P<seconds>\d+)(?P<micros>\d{6})")
_LEVELS = ("0 of 3 (paste)", "1 of 3 (look)", "2 of 3 (probe)", "3 of 3 (act)")
_SWITCHING = {
    Kind.PAUSE: pausing.pause,
    Kind.RESUME: pausing.resume,
    Kind.BREAK_GLASS: break_glass,
}


async def answer(
    desk: Desk, asker: Asker, text: str, *, files: tuple[SharedFile, ...] = (), written_by: str = ""
) -> None:
    """Do what somebody's words ask for; `text` is plain, without Slack's markup.

    `written_by` is whose words they are, where that is not whoever asks.
    """
    words = sort_out(text, desk.services.known_clusters)
    match words.kind:
        case Kind.HELP:
            await desk.tell(asker, help_text(desk.rules.command, desk.identity.name))
        case Kind.STATUS:
            await _status(desk, asker)
        case Kind.LINK:
            await _link(desk, asker, words.text)
        case Kind.PREFLIGHT:
            await ask_for(desk, asker, words.text)
        case Kind.PAUSE | Kind.RESUME | Kind.BREAK_GLASS:
            await _SWITCHING[words.kind](desk, asker, words.text)
        case Kind.JOB:
            await look(desk, asker, Wanted(job=words.text, files=files))
        case Kind.LINES:
            await look(desk, asker, Wanted(text=words.text, files=files, written_by=written_by))
        case Kind.NOTHING | Kind.UNKNOWN if files:
            await look(desk, asker, Wanted(files=files))
        case Kind.NOTHING if asker.trigger:
            await open_form(desk, asker)
        case Kind.NOTHING:
            await desk.tell(asker, help_text(desk.rules.command, desk.identity.name))
        case Kind.UNKNOWN:
            await desk.explain(asker, words.text)


async def open_form(desk: Desk, asker: Asker, *, problem: str = "") -> None:
    """Open the form; somebody whose click is too old is told to press again."""
    form = paste(back_to=asker.channel, recent=await _failed_lately(desk), problem=problem)
    try:
        await desk.chat.open_view(asker.trigger, form)
    except TooLateError as error:
        await desk.explain(asker, error, not_done="The form was not opened.")


async def _failed_lately(desk: Desk) -> tuple[Choice, ...]:
    seen = await desk.store.seen_since(desk.now() - _LATELY)
    failed = [one for one in seen if (one.state or "").split("+")[0].upper() in FAILED_STATES]
    return tuple(
        Choice(id=f"{one.cluster}:{one.job_id}", label=f"{one.job_id} {one.name or ''}".strip(),
               note=f"{one.state} on {one.cluster}")
        for one in failed[:_MOST_OFFERED]
    )  # fmt: skip


async def _status(desk: Desk, asker: Asker) -> None:
    opened = await desk.store.incidents.still_open(team=desk.identity.team, limit=10)
    shown = [incident_shown(one, permalink=await desk.permalink(one)) for one in opened]
    said = status_view(
        shown,
        level=_LEVELS[desk.services.level],
        missing=desk.services.notes,
        stopped=tuple(map(switch_shown, await desk.store.switches.on())),
        now=desk.now(),
    )
    await desk.tell(asker, said)


async def _link(desk: Desk, asker: Asker, wanted: str) -> None:
    """Put the card of an incident into this channel: by its ID, its job, or its thread's address.

    Where it is open already in this channel, the asker alone is told where.
    """
    incident = await _meant(desk, wanted)
    if incident is None or incident.team not in {None, desk.identity.team}:
        return await desk.explain(
            asker,
            "That is no incident of mine: not its ID, nor its job, nor the address of its report.",
            next_step=f"Copy the link of the report: {desk.rules.command} link https://…, or see "
            f"{desk.rules.command} status.",
        )
    if incident.channel == asker.channel:
        return await say_where(desk, asker, incident)
    return await link(desk, asker, incident)


async def _meant(desk: Desk, wanted: str) -> Incident | None:
    """Return the incident that a person means; of a job the one that is open."""
    if found := await _at(desk, wanted):
        return found
    if known := await desk.store.incidents.get(wanted.strip("<>` ")):
        return known
    with suppress(BotError):
        cluster, job_id = key_of(desk, wanted)
        return await desk.store.incidents.open_of(job_key(cluster, job_id))
    return None


async def _at(desk: Desk, address: str) -> Incident | None:
    found = _PERMALINK.search(address)
    if found is None:
        return None
    ts = f"{found['seconds']}.{found['micros']}"
    rows = await desk.store.messages.in_thread(found["channel"], ts)
    return await desk.store.incidents.get(rows[0].incident_id) if rows else None
