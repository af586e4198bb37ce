"""Write messages, channels and files as Slack's answers and events do.

Source: docs.slack.dev/reference/objects.
"""

from __future__ import annotations

from playground.slack.kit.rules import Json
from playground.slack.model import Channel, File, Message
from playground.slack.workspace import APP_ID, BOT_ID, BOT_USER, DOMAIN, TEAM, Workspace

#: Characters of a snippet that its object shows.
_PREVIEW = 500


def message_json(world: Workspace, message: Message, *, metadata: bool = False) -> Json:
    """Return a message object; its metadata only to whoever asks for it."""
    shown: Json = {
        "type": "message",
        "user": message.user,
        "ts": message.ts,
        "text": message.text,
        "team": world.people[message.user].team,
    }
    if message.subtype:
        shown["subtype"] = message.subtype
    if message.bot_id:
        shown |= {"bot_id": message.bot_id, "app_id": message.app_id}
    if message.bot_id == BOT_ID:
        shown["bot_profile"] = bot_json(world)
    if message.files:
        shown |= {"files": [_attached(world, world.files[one]) for one in message.files]}
        shown |= {"upload": False, "display_as_bot": False}
    for name in ("blocks", "attachments", "edited"):
        if value := getattr(message, name):
            shown[name] = value
    if message.reactions:
        shown["reactions"] = [
            {"name": name, "users": list(users), "count": len(users)}
            for name, users in message.reactions.items()
        ]
    if message.metadata and metadata:
        shown["metadata"] = message.metadata
    return shown | _thread(world, message)


def _attached(world: Workspace, file: File) -> Json:
    """Return a file as a message has it: another workspace's is to be asked for (`files.info`)."""
    if file.user and world.people[file.user].team != TEAM:
        about = {"id": file.id, "created": file.created, "timestamp": file.created}
        return {**about, "mode": "file_access", "file_access": "check_file_info"}
    return file_json(world, file)


def _thread(world: Workspace, message: Message) -> Json:
    if not message.thread_ts:
        return {}
    channel = world.channels[message.channel]
    shown: Json = {"thread_ts": message.thread_ts}
    parent = channel.messages.get(message.thread_ts)
    if message.ts != message.thread_ts:
        return shown | ({"parent_user_id": parent.user} if parent else {})
    replies = channel.replies(message.ts)
    if replies:
        users = list(dict.fromkeys(reply.user for reply in replies))
        shown |= {
            "reply_count": len(replies),
            "reply_users_count": len(users),
            "latest_reply": replies[-1].ts,
            "reply_users": users,
            "is_locked": False,
            "subscribed": False,
        }
    return shown


def bot_json(world: Workspace) -> Json:
    """Return the app's bot object."""
    return {
        "id": BOT_ID,
        "deleted": False,
        "name": world.bot.real_name,
        "updated": 0,
        "app_id": APP_ID,
        "user_id": BOT_USER,
        "icons": {},
        "team_id": TEAM,
    }


def channel_json(world: Workspace, channel: Channel) -> Json:
    """Return a conversation object as the bot sees it."""
    shown: Json = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.archived,
        "is_im": channel.kind == "im",
        "is_org_shared": False,
    }
    if channel.kind == "im":
        user = next(one for one in channel.members if one != BOT_USER)
        return shown | {"user": user, "is_user_deleted": world.people[user].deleted}
    return shown | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_mpim": False,
        "is_private": channel.kind == "private",
        "is_general": channel.name == "general",
        "is_shared": bool(channel.shared_with),
        "is_ext_shared": bool(channel.shared_with),
        "is_member": BOT_USER in channel.members,
        "context_team_id": TEAM,
        "shared_team_ids": [TEAM, *channel.shared_with],
        "connected_team_ids": list(channel.shared_with),
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "num_members": len(channel.members),
    }


def file_json(world: Workspace, file: File, *, shares: bool = True) -> Json:
    """Return a file object; its private URLs want a token that may read files."""
    if file.deleted:
        return {"id": file.id, "mode": "tombstone"}
    private = f"{world.base_url}/files-pri/{TEAM}-{file.id}"
    shown: Json = {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": file.title,
        "mimetype": file.mimetype,
        "filetype": file.filetype,
        "pretty_type": file.filetype,
        "user": file.user,
        "user_team": world.people[file.user].team if file.user else TEAM,
        "editable": file.snippet,
        "size": file.size,
        "mode": "snippet" if file.snippet else "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": any(world.channels[one].kind == "public" for one in file.shares),
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": f"{private}/{file.name}",
        "url_private_download": f"{private}/download/{file.name}",
        "permalink": f"https://{DOMAIN}.slack.com/files/{file.user}/{file.id}/{file.name}",
        "has_rich_preview": False,
        "file_access": "visible",
        "comments_count": 0,
        **_shared(world, file, shares=shares),
    }
    if file.snippet:
        shown["preview"] = file.data[:_PREVIEW].decode(errors="replace")
        shown["lines"] = file.data.count(b"\n") + 1
    if file.alt_text:
        shown["alt_txt"] = file.alt_text
    return shown


def _shared(world: Workspace, file: File, *, shares: bool) -> Json:
    """Say where a file is; Slack fills this in a little after the upload was completed."""
    lists: Json = {"channels": [], "groups": [], "ims": []}
    by_kind: Json = {}
    for channel, messages in file.shares.items() if shares else ():
        kind = world.channels[channel].kind
        lists[{"public": "channels", "private": "groups", "im": "ims"}[kind]].append(channel)
        where = by_kind.setdefault("public" if kind == "public" else "private", {})
        where[channel] = [_share(world, message) for message in messages]
    return lists | {"shares": by_kind}


def _share(world: Workspace, message: Message) -> Json:
    channel = world.channels[message.channel]
    share: Json = {
        "ts": message.ts,
        "channel_name": channel.name,
        "team_id": TEAM,
        "share_user_id": message.user,
        "source": "UNKNOWN",
    }
    if message.thread_ts and message.thread_ts != message.ts:
        share["thread_ts"] = message.thread_ts
    return share


def permalink(channel: str, message: Message) -> str:
    """Return the address of a message in Slack's client."""
    path = f"https://{DOMAIN}.slack.com/archives/{channel}/p{message.ts.replace('.', '')}"
    if message.thread_ts and message.thread_ts != message.ts:
        return f"{path}?thread_ts={message.thread_ts}&cid={channel}"
    return path
