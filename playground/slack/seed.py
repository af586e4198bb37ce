"""Who and what is in the workspace when it opens."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from playground.slack.model import Channel, Person, Token, UserGroup
from playground.slack.workspace import APP_ID, BOT_ID, BOT_USER, TEAM, Workspace

#: Good in this workspace alone, which no other server knows.
BOT_TOKEN = "xoxb-playground-bot"  # noqa: S105
APP_TOKEN = "xapp-playground-app"  # noqa: S105

OTHER_TEAM = "T0ELSEWHER"

#: One of each kind that a bot has to tell apart.
PEOPLE = (
    Person(
        id="U0ENGINEER", name="ada", real_name="Ada Engineer", title="ML infrastructure, on call",
        team=TEAM, email="ada@example.com",
    ),
    Person(
        id="U0APPROVER", name="grace", real_name="Grace Approver", title="Approves repairs",
        team=TEAM, email="grace@example.com", admin=True,
    ),
    Person(
        id="U0SECOND01", name="linus", real_name="Linus Approver", title="Approves repairs",
        team=TEAM, email="linus@example.com",
    ),
    Person(
        id="U0GUEST001", name="guest", real_name="Gus Guest", title="Contractor",
        team=TEAM, email="gus@contractor.example", restricted=True,
    ),
    Person(
        id="U0STRANGER", name="stranger", real_name="Sam Stranger", title="Another company",
        team=OTHER_TEAM, stranger=True,
    ),
    Person(
        id="U0OTHERBOT", name="deploybot", real_name="Deploy Bot", team=TEAM,
        bot_id="B0OTHERBOT", app_id="A0OTHERBOT",
    ),
    Person(
        id="U0GONE0001", name="gone", real_name="Gil Gone", team=TEAM, email="gil@example.com",
        deleted=True,
    ),
)  # fmt: skip

_OWN = ["U0ENGINEER", "U0APPROVER", "U0SECOND01"]
_ALL = [*_OWN, "U0GUEST001", "U0OTHERBOT", BOT_USER]

CHANNELS = (
    Channel(id="C0TRAINING", name="training-oncall", topic="Training jobs that fail", members=_ALL),
    Channel(id="C0GENERAL1", name="general", members=_OWN),
    Channel(id="C0SHARED01", name="shared-with-vendor", members=[*_ALL, "U0STRANGER"],
            shared_with=[OTHER_TEAM]),
    Channel(id="C0PRIVATE1", name="incident-room", kind="private", members=[*_OWN, BOT_USER]),
    Channel(id="C0SECRET01", name="secret", kind="private", members=["U0APPROVER"]),
    Channel(id="C0ARCHIVED", name="old-incidents", members=_ALL, archived=True),
    Channel(id="C0ANNOUNCE", name="announcements", members=_ALL, restricted=True),
)  # fmt: skip

GROUPS = (
    UserGroup(
        id="S0APPROVER", handle="approvers", name="Approvers", users=["U0APPROVER", "U0SECOND01"]
    ),
    UserGroup(id="S0ONCALL01", handle="oncall", name="On call", users=["U0ENGINEER"]),
    UserGroup(id="S0OLDTEAM1", handle="old-team", name="Old team", users=[], disabled=True),
)


def settle(world: Workspace) -> None:
    """Let everybody and everything move in; each workspace has its own copies."""
    bot = Person(
        id=BOT_USER, name=world.app.bot_name, real_name=world.app.bot_name, team=TEAM,
        bot_id=BOT_ID, app_id=APP_ID,
    )  # fmt: skip
    world.people |= {one.id: replace(one) for one in (*PEOPLE, bot)}
    for channel in deepcopy(CHANNELS):
        channel.created = world.seconds()
        world.channels[channel.id] = channel
    world.groups |= {one.id: one for one in deepcopy(GROUPS)}
    for value, kind, scopes in (
        (BOT_TOKEN, "bot", world.app.scopes),
        (APP_TOKEN, "app", world.app.app_scopes),
    ):
        world.tokens[value] = Token(value=value, kind=kind, scopes=scopes)
