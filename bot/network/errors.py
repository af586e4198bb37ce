"""Errors of the network's settings."""

from __future__ import annotations

from bot.errors import InputError


class NetworkSetupError(InputError):
    """A setting of [network] cannot be used; the message names it."""
