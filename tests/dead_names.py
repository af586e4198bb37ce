"""Names below `.test` that nobody answers for, as on a machine whose resolver has died."""

from __future__ import annotations

import socket
from typing import Any

import pytest


def break_names(monkeypatch: pytest.MonkeyPatch, known: dict[str, str] | None = None) -> None:
    """Let every lookup below `.test` fail with EAI_AGAIN, but for the known names."""
    real, answers = socket.getaddrinfo, known or {}

    def broken(host: Any, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - the library's own
        if isinstance(host, str) and host.endswith(".test"):
            if host not in answers:
                raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
            host = answers[host]
        return real(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", broken)
