"""A small bot on Slack's own framework, which does what the product does with a workspace."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from slack_bolt.async_app import AsyncApp

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.apps import bolt
from tests.behaviour.slack_playground.asking import Json
from tests.browser import report

APPROVERS = ("U0APPROVER", "U0SECOND01")
USAGE = "`/nccl-dns 48213` checks a job, `/nccl-dns` alone asks what to look at."
JOBS = ("48213 llama-256", "48190 llama-64", "47001 vision-8")


@asynccontextmanager
async def answering(slack: SlackServer) -> AsyncIterator[Bot]:
    """Connect the bot to a workspace."""
    async with bolt(slack) as app:
        bot = Bot(app=app)
        app.command("/nccl-dns")(bot.command)
        app.shortcut("diagnose_log")(bot.shortcut)
        app.event("app_mention")(bot.mentioned)
        app.event("app_home_opened")(bot.home)
        app.view("paste")(bot.submitted)
        app.options("job")(bot.suggested)
        for name in ("back_up", "restart", "ticket", "more"):
            app.action(name)(bot.pressed)
        for name in ("vm", "job", "who"):
            app.action(name)(bot.chosen)
        app.action("new")(bot.asked_anew)
        app.view("fields")(bot.filled)
        app.action(re.compile("given"))(bot.changed)
        yield bot


@dataclass(kw_only=True)
class Bot:
    """What the bot does at each act."""

    app: AsyncApp
    #: the parent of the last thread
    parent: str = ""
    #: what `modal` opens
    modal: Json = field(default_factory=dict)
    #: what the last modal of fields was submitted with: block id → what its field held
    given: Json = field(default_factory=dict)
    #: what was changed in fields that tell the app at once: the value, and what the rest held
    told: list[tuple[Json, Json]] = field(default_factory=list)

    async def command(self, ack: Any, body: Json, respond: Any) -> None:  # noqa: ANN401
        """Check a job, open the modal, or say how it is used."""
        await ack()
        match body["text"]:
            case "":
                modal = report.paste_modal()
                await self.app.client.views_open(trigger_id=body["trigger_id"], view=modal)
            case "help":
                await respond(text=USAGE)
            case "fields" | "modal" as wanted:
                modal = report.fields_modal() if wanted == "fields" else self.modal
                await self.app.client.views_open(trigger_id=body["trigger_id"], view=modal)
            case "choose":
                await self.app.client.chat_postMessage(
                    channel=body["channel_id"], text="Which VM?", blocks=report.choosing()
                )
            case _:
                await self.check(body["channel_id"])

    async def check(self, channel: str, thread: str = "") -> None:
        """Post a placeholder, edit it as sources answer, and fill the thread."""
        client = self.app.client
        about: Json = {"channel": channel, "text": "node-8: its resolver has failed"}
        posted = await client.chat_postMessage(
            **about, blocks=report.reading(0), thread_ts=thread or None
        )
        ts = str(posted["ts"])
        self.parent = thread or ts
        await client.chat_update(**about, ts=ts, blocks=report.reading(2))
        await client.chat_update(**about, ts=ts, blocks=report.report())
        await self.reply(channel, report.evidence())
        await self.reply(channel, report.probes())
        if thread:
            return
        await client.files_upload_v2(
            channel=channel, thread_ts=self.parent, filename="slurm-48213.err",
            content="\n".join(report.LOG * 20), snippet_type="text",
        )  # fmt: skip
        await client.files_upload_v2(
            channel=channel, thread_ts=self.parent, filename="matrix.png",
            content=report.heat_map(), alt_txt="who can resolve whom",
        )  # fmt: skip

    async def reply(self, channel: str, blocks: list[Json]) -> None:
        """Reply in the thread."""
        await self.app.client.chat_postMessage(
            channel=channel, text="details", blocks=blocks, thread_ts=self.parent
        )

    async def pressed(self, ack: Any, body: Json, client: Any) -> None:  # noqa: ANN401
        """Do what a control says, or say why not."""
        await ack()
        action, user = body["actions"][0], body["user"]["id"]
        channel, ts = body["channel"]["id"], body["container"]["message_ts"]
        match action["action_id"]:
            case "restart" if user not in APPROVERS:
                await client.chat_postEphemeral(
                    channel=channel, user=user, text="Only approvers may restart. Ask one of them."
                )
            case "ticket":
                await self.reply(channel, report.ticket())
            case "more":
                note = f"«{action['selected_option']['value']}» by <@{user}>"
                await client.chat_update(
                    channel=channel, ts=ts, text="edited", blocks=report.report(note)
                )
            case name:
                note = f"«{name}» by <@{user}>"
                await client.chat_update(
                    channel=channel, ts=ts, text="edited", blocks=report.report(note)
                )

    async def chosen(self, ack: Any, body: Json) -> None:  # noqa: ANN401
        """Say what was chosen."""
        await ack()
        action = body["actions"][0]
        kept = ("selected_option", "selected_users")
        what = next(action[name] for name in kept if name in action)
        said = what["value"] if isinstance(what, dict) else ", ".join(what)
        channel = body["channel"]["id"]
        await self.app.client.chat_postMessage(channel=channel, text=f"chosen: {said}")

    async def suggested(self, ack: Any, body: Json) -> None:  # noqa: ANN401
        """Offer the jobs that match what was typed."""
        fits = [one for one in JOBS if body["value"] in one]
        await ack(options=[report.option(one.partition(" ")[0], one) for one in fits])

    async def shortcut(self, ack: Any, body: Json) -> None:  # noqa: ANN401
        """Look at a message."""
        await ack()
        await self.check(body["channel"]["id"], body["message_ts"])

    async def mentioned(self, event: Json, say: Any) -> None:  # noqa: ANN401
        """Answer in the thread."""
        await say(text=f"<@{event['user']}> one moment", thread_ts=event["ts"])

    async def home(self, event: Json, client: Any) -> None:  # noqa: ANN401
        """Show the Home tab."""
        await client.views_publish(user_id=event["user"], view=report.home())

    async def asked_anew(self, ack: Any, body: Json, client: Any) -> None:  # noqa: ANN401
        """Open the modal from the Home tab."""
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=report.paste_modal())

    async def filled(self, ack: Any, view: Json) -> None:  # noqa: ANN401
        """Note what a modal of fields was submitted with."""
        await ack()
        self.given = {name: held["given"] for name, held in view["state"]["values"].items()}

    async def changed(self, ack: Any, body: Json) -> None:  # noqa: ANN401
        """Note what a field told."""
        await ack()
        self.told.append((body["actions"][0], body["view"]["state"]["values"]))

    async def submitted(self, ack: Any, body: Json, view: Json) -> None:  # noqa: ANN401
        """Refuse a modal without an answer; tell the person what was given."""
        values = {name: held["given"] for name, held in view["state"]["values"].items()}
        text, job = values["text"].get("value"), values["job"].get("value")
        chosen = (values["recent"].get("selected_option") or {}).get("value")
        files = [one["name"] for one in values["file"].get("files", [])]
        if job == "nonsense":
            await ack(response_action="errors", errors={"job": "No cluster knows «nonsense»."})
        elif not (text or job or chosen or files):
            problem = "Fill in one of the fields."
            await ack(response_action="update", view=report.paste_modal(problem))
        else:
            await ack()
            said = f"given: {text or job or chosen or files[0]}"
            await self.app.client.chat_postMessage(channel=body["user"]["id"], text=said)
