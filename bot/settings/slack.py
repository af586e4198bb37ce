"""How the product is reached in Slack, and who may decide there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from bot.settings.part import FilePath, Part

#: Slack's usual names of variables → our setting; ours win.
USUAL_NAMES: Mapping[str, str] = {
    "SLACK_BOT_TOKEN": "bot_token",
    "SLACK_APP_TOKEN": "app_token",
    "SLACK_SIGNING_SECRET": "signing_secret",
    "SLACK_API_URL": "base_url",
}

_ID = re.compile(r"[A-Z][A-Z0-9]{2,30}")


def _ids(found: tuple[str, ...]) -> tuple[str, ...]:
    for one in found:
        if not _ID.fullmatch(one):
            raise ValueError(f"{one!r} is no id of Slack's, such as U024BE7LH or S0614TZR7")
    return found


Ids = Annotated[tuple[str, ...], AfterValidator(_ids)]


class ApproverSettings(Part):
    """Who may decide about steps; nobody unless named here."""

    users: Ids = ()
    """Ids of people, such as "U024BE7LH"."""
    groups: Ids = ()
    """Ids of user groups, such as "S0614TZR7"."""


class LinkSettings(Part):
    """Where reports point to; an empty one is left out."""

    console: str = ""
    """Page of a VM: "https://console.example/vms/{vm_id}"; {vm_name} and {project} work, too."""
    job: str = ""
    """Page of a job: "https://slurm.example/jobs/{job}"; {cluster} works, too."""
    resources: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it
    """Label → address of what everybody should read, such as a runbook."""


class SlackSettings(Part):
    """The Slack app; its tokens may stand in SLACK_BOT_TOKEN and the like."""

    bot_token: SecretStr = SecretStr("")
    """xoxb-…"""
    bot_token_file: FilePath | None = None
    app_token: SecretStr = SecretStr("")
    """xapp-…, for Socket Mode."""
    app_token_file: FilePath | None = None
    signing_secret: SecretStr = SecretStr("")
    """For HTTP: proves that a request is Slack's."""
    signing_secret_file: FilePath | None = None
    mode: Literal["socket", "http"] = "socket"
    """socket needs no public address; http serves /slack/events."""
    base_url: str = ""
    """Empty: Slack's own Web API."""
    command: Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")] = "/nccl-dns"
    home_channel: Annotated[str, Field(pattern=r"^([CGD][A-Z0-9]{2,30})?$")] = ""
    """Where reports go that nobody asked for in a channel; empty: to the person who asked."""
    host: str = "127.0.0.1"
    """Address that health, metrics and, in http mode, Slack's requests are served at."""
    port: Annotated[int, Field(ge=0, lt=65536)] = 8080
    """0 lets the kernel choose one."""
    approvers: ApproverSettings = ApproverSettings()
    links: LinkSettings = LinkSettings()
