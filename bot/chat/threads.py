"""What is written or shared in a thread: evidence where the thread is ours, else a question."""

from __future__ import annotations

from bot.chat.asker import Asker
from bot.chat.asking import answer
from bot.chat.desk import Desk
from bot.chat.errors import ChatError
from bot.chat.looking import Wanted, add
from bot.chat.port import SharedFile
from bot.chat.words import Kind, sort_out, written
from bot.incidents.incident import Incident

_FEW = 3


async def said(desk: Desk, asker: Asker, text: str, file_ids: tuple[str, ...]) -> None:
    """Answer what somebody wrote to the bot, with files; `text` is as Slack marked it up."""
    plain = written(text)
    incident = await desk.incident_in(asker.channel, asker.thread) if asker.thread else None
    kind = sort_out(plain, desk.services.known_clusters).kind
    if incident is not None and kind in {Kind.LINES, Kind.NOTHING} and (plain or file_ids):
        if kind is Kind.LINES:
            await add(desk, asker, incident, _with_job(incident, text=plain), added="lines")
        # files in a thread of ours come as events of their own
        return
    files = await files_of(desk, file_ids)
    if not plain and not files and asker.thread:
        plain, files = await whole_thread(desk, asker)
    await answer(desk, asker, plain, files=files)


async def overheard(desk: Desk, asker: Asker, text: str) -> None:
    """Take pasted lines in a thread of ours as evidence; whatever else people say is theirs."""
    plain = written(text)
    if sort_out(plain, desk.services.known_clusters).kind is not Kind.LINES or "\n" not in plain:
        return
    incident = await desk.incident_in(asker.channel, asker.thread)
    if incident is not None:
        await add(desk, asker, incident, _with_job(incident, text=plain), added="lines")


async def was_shared_with_us(desk: Desk, asker: Asker, file_id: str) -> bool:
    """Tell whether a file was shared in a thread of ours."""
    file = await desk.chat.file(file_id)
    for thread in file.threads.get(asker.channel, ()):
        if await desk.incident_in(asker.channel, thread) is not None:
            return True
    return False


async def shared(desk: Desk, asker: Asker, file_id: str) -> None:
    """Take a file that was shared in a thread of ours as evidence; any other is not ours."""
    file = await desk.chat.file(file_id)
    for thread in file.threads.get(asker.channel, ()):
        incident = await desk.incident_in(asker.channel, thread)
        if incident is not None and file.user != desk.identity.user:
            await add(desk, asker, incident, _with_job(incident, files=(file,)), added=file.name)


def _with_job(incident: Incident, *, text: str = "", files: tuple[SharedFile, ...] = ()) -> Wanted:
    job = f"{incident.cluster}:{incident.job_id}" if incident.job_id else None
    return Wanted(job=job, text=text, files=files)


async def files_of(desk: Desk, file_ids: tuple[str, ...]) -> tuple[SharedFile, ...]:
    """Return what is known of files."""
    return tuple([await desk.chat.file(one) for one in file_ids])


async def whole_thread(desk: Desk, asker: Asker) -> tuple[str, tuple[SharedFile, ...]]:
    """Return what people wrote and shared in a thread, the bot's own left out."""
    try:
        told = await desk.chat.thread(asker.channel, asker.thread)
    except ChatError:
        return "", ()
    people = [one for one in told if not one.bot and one.user != desk.identity.user]
    ids = [file for one in people for file in one.files][:_FEW]
    text = "\n".join(filter(None, (written(one.text) for one in people)))
    return text, await files_of(desk, tuple(ids))
