"""How the world outside is reached, and who is told that the bot lives."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator, SecretStr

from bot.settings.part import FilePath, Part


def _addresses(found: dict[str, str]) -> dict[str, str]:
    for host, address in found.items():
        try:
            ip_address(address)
        except ValueError:
            message = f"{address!r}, given for {host}, is no IP address"
            raise ValueError(message) from None
    return {host.lower(): address for host, address in found.items()}


Addresses = Annotated[dict[str, str], AfterValidator(_addresses)]


class NetworkSettings(Part):
    """How Slack, the cloud and the schedulers' APIs are reached: certificates, proxy, addresses."""

    ca_file: FilePath | None = None
    """Certificates (PEM) of further authorities, such as the one of a proxy that looks inside."""
    proxy: SecretStr = SecretStr("")
    """http://host:port for https addresses; empty: HTTPS_PROXY. One with a password had better
    stand in NCCL_DNS_NETWORK__PROXY."""
    no_proxy: tuple[str, ...] = ()
    """Reached directly, beside those of NO_PROXY: hosts, domains, networks ("10.0.0.0/8")."""
    addresses: Addresses = {}  # noqa: RUF012 - pydantic copies it
    """Host → IP address to connect to; certificates are still checked for the host."""


class HeartbeatSettings(Part):
    """Tell a watchdog that the bot hears Slack and its store answers; it raises the alarm."""

    url: SecretStr = SecretStr("")
    """Fetched again and again, and not while the bot is deaf; empty: none."""
    every: timedelta = timedelta(minutes=1)
