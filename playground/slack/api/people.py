"""`auth.*`, `apps.*`, `users.*`, `usergroups.*` and `bots.*`."""

from __future__ import annotations

from playground.slack.api.call import Call
from playground.slack.errors import SlackRefusal
from playground.slack.kit.rules import Json
from playground.slack.model import Person, UserGroup
from playground.slack.show import bot_json
from playground.slack.workspace import APP_ID, BOT_ID, BOT_USER, DOMAIN, TEAM


def auth_test(call: Call) -> Json:
    """Say whose token this is."""
    if call.token.kind == "app":
        return {"app_id": APP_ID, "app_name": call.world.app.name}
    return {
        "url": f"https://{DOMAIN}.slack.com/",
        "team": "Playground",
        "user": call.world.bot.name,
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def users_info(call: Call) -> Json:
    """Return one person."""
    person = call.world.people.get(call.need("user"))
    if person is None:
        raise SlackRefusal("user_not_found")
    return {"user": _shown(call, person)}


def users_list(call: Call) -> Json:
    """Return everybody of this workspace."""
    own = [one for one in call.world.people.values() if one.team == TEAM]
    return {
        "members": [_shown(call, one) for one in own],
        "cache_ts": call.world.seconds(),
        "response_metadata": {"next_cursor": ""},
    }


def lookup_by_email(call: Call) -> Json:
    """Return the person of an address."""
    wanted = call.need("email").lower()
    for person in call.world.people.values():
        if person.email.lower() == wanted and not person.deleted and person.team == TEAM:
            return {"user": _shown(call, person)}
    raise SlackRefusal("users_not_found")


def _shown(call: Call, person: Person) -> Json:
    return person.shown(email="users:read.email" in call.token.scopes)


def groups_list(call: Call) -> Json:
    """Return the user groups."""
    groups = [
        _group(call, one)
        for one in call.world.groups.values()
        if not one.disabled or call.flag("include_disabled")
    ]
    return {"usergroups": groups}


def _group(call: Call, group: UserGroup) -> Json:
    shown: Json = {
        "id": group.id,
        "team_id": TEAM,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "description": "",
        "is_external": False,
        "date_delete": 1 if group.disabled else 0,
        "created_by": group.updated_by,
        "updated_by": group.updated_by,
    }
    if call.flag("include_users"):
        shown["users"] = group.users
    if call.flag("include_count"):
        shown["user_count"] = len(group.users)
    return shown


def group_users(call: Call) -> Json:
    """Return the ids of a group's people."""
    group = call.world.groups.get(call.need("usergroup"))
    if group is None or (group.disabled and not call.flag("include_disabled")):
        raise SlackRefusal("no_such_subteam")
    return {"users": group.users}


def bots_info(call: Call) -> Json:
    """Return the app's bot; of another app's bot no more than its names."""
    wanted = call.need("bot")
    if wanted == BOT_ID:
        return {"bot": bot_json(call.world)}
    for person in call.world.people.values():
        if person.bot_id == wanted:
            shown = {"id": wanted, "name": person.real_name, "app_id": person.app_id}
            return {"bot": {**shown, "deleted": False, "user_id": person.id, "icons": {}}}
    raise SlackRefusal("bot_not_found")
