"""Say in words what systemd says of a unit that does not run. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bot.hosts.readings import Unit

#: systemd's `Result` → what ended the unit (systemd.service(5), `SERVICE_RESULT`).
_ENDED: Mapping[str, str] = {
    "signal": "killed by a signal",
    "core-dump": "it crashed and left a core dump",
    "exit-code": "it ended with an error",
    "watchdog": "it hung, and systemd's watchdog killed it",
    "start-limit-hit": "it crashed too often, and systemd has given up starting it",
    "oom-kill": "killed because memory ran out",
    "timeout": "it did not start or stop in time",
    "resources": "it lacked what it needs to start",
    "protocol": "it did not say that it had started",
    "exec-condition": "a condition to start it was not met",
}
#: systemd's `ActiveState` → what that says of the unit.
_STANDS: Mapping[str, str] = {
    "failed": "has failed",
    "inactive": "is stopped",
    "deactivating": "is being stopped",
    "activating": "is being started",
    "maintenance": "is under maintenance",
}
_LONGEST = 40


def stands(unit: Unit) -> str:
    """Return what a unit does instead of running: `has failed: killed by a signal`."""
    standing = _STANDS.get(unit.active) or f"is {_short(unit.active)}"
    if unit.sub == "auto-restart":
        standing = "ends again and again, and systemd starts it anew"
    if not unit.result or unit.result == "success":
        return standing
    return f"{standing}: {_ENDED.get(unit.result) or _short(unit.result)}"


def _short(word: str) -> str:
    """Cut a word that a machine sent: it may be anything."""
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
