"""`nccl-dns healthy`: ask the bot that serves here whether it is alive; a container has no curl."""

from __future__ import annotations

import http.client
import ipaddress
from pathlib import Path

from bot.settings import SettingsError, load

_TIMEOUT_S = 4.0
_OK = 200


def problem(config: Path | None) -> str:
    """Say why the bot is not healthy; empty where it is. Raises SettingsError.

    It is alive, not necessarily ready: while Slack is away a new process would not help.
    """
    slack = load(config).slack
    if slack is None:
        raise SettingsError("[slack] is not set, so nothing is served here.")
    host = _reached_at(slack.host)
    connection = http.client.HTTPConnection(host, slack.port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"Nothing answers at {host}:{slack.port}: {error}."
    finally:
        connection.close()
    return "" if status == _OK else f"{host}:{slack.port} answers with status {status}."


def _reached_at(host: str) -> str:
    """Return where a server that listens at an address is reached from here."""
    try:
        anywhere = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host
    if not anywhere:
        return host
    return "127.0.0.1" if "." in host else "::1"
