"""What a key is worth: whether it works, whose it is, how far the clock is off, which projects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.clouds.crusoe.answers import read_object, unreadable
from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.session import Session
from bot.clouds.crusoe.wire import ShapeError, read_page
from bot.clouds.errors import CloudSetupError

IDENTITY = Call(method="GET", path="/users/identities", what="show whose key this is")


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyCheck:
    """A key that the API took."""

    #: the user that the key acts as, by e-mail address or else by name
    user: str
    #: such as `Admin`; empty where the API does not say
    role: str
    #: how far our clock is ahead of the API's, to a second; None where its answer had no date
    skew: timedelta | None


async def check_key(session: Session) -> KeyCheck:
    """Ask the cheapest question there is, once; raises CredentialsError or ClockSkewError."""
    answer = await session.answer(IDENTITY)
    identity = read_object(answer, session.credentials).get("identity")
    told = (
        {key: str(value) for key, value in identity.items()} if isinstance(identity, dict) else {}
    )
    return KeyCheck(
        user=told.get("email") or told.get("name", ""),
        role=told.get("role", ""),
        skew=answer.skew,
    )


async def project_id(session: Session, name_or_id: str) -> str:
    """Return the id of the project with this exact name or id.

    Raises CloudSetupError where there is none or more than one: nothing is ever picked.
    """
    call = Call(method="GET", path="/organizations/projects", what="list the projects of the key")
    try:
        items, _ = read_page(await session.read(call))
    except ShapeError as error:
        raise unreadable(call, f"it is of another shape ({error})") from None
    there = [
        (str(item["id"]), str(item.get("name", "")))
        for item in items
        if isinstance(item, dict) and item.get("id")
    ]
    found = {i for i, name in there if name == name_or_id or i.casefold() == name_or_id.casefold()}
    if len(found) == 1:
        return found.pop()
    if found:
        raise CloudSetupError(
            f"{len(found)} Crusoe projects fit {name_or_id!r} ({', '.join(sorted(found))}). None "
            "was picked: give the id."
        )
    names = ", ".join(sorted(name for _, name in there)) or "none"
    raise CloudSetupError(
        f"{session.credentials.label} sees no Crusoe project {name_or_id!r}. It sees: {names}."
    )
