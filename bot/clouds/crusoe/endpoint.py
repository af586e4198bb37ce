"""The one place that requests go to: scheme, host, port and version prefix."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

import httpx

from bot.clouds.errors import CloudSetupError

DEFAULT = "https://api.cloud.crusoe.ai/v1"

#: What older configurations name; Crusoe's Terraform provider moves exactly these.
LEGACY = frozenset({"https://api.crusoecloud.com/v1alpha5", "https://api.crusoecloud.com/v1"})

PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A base URL that was checked; make one with `endpoint`."""

    scheme: str
    host: str
    port: int
    #: begins with `/` and does not end with one; it is part of what is signed
    prefix: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    @property
    def is_loopback(self) -> bool:
        """Say whether it is this machine: an emulator, reached without a proxy."""
        return _is_loopback(self.host)

    def owns(self, url: httpx.URL) -> bool:
        """Say whether a URL lies here, so that a signature may be sent to it."""
        here = (self.scheme, self.host, self.port)
        there = (url.scheme, url.host, url.port or PORTS.get(url.scheme))
        return there == here and url.path.startswith(f"{self.prefix}/")


def endpoint(base_url: str = "") -> Endpoint:
    """Read a base URL; empty is the public one, and legacy ones are moved to it.

    Raises CloudSetupError for anything but https (http only to this machine) with a version
    prefix, and for credentials, a query or a fragment in it.
    """
    text = base_url.strip().rstrip("/") or DEFAULT
    text = DEFAULT if text in LEGACY else text
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        raise CloudSetupError(
            f"The Crusoe base URL is not a URL. Leave it out, or give one such as {DEFAULT}."
        ) from None
    if url.userinfo:
        raise CloudSetupError("The Crusoe base URL must not hold a user or password.")
    if url.scheme not in PORTS or not url.host or url.query or url.fragment:
        raise CloudSetupError(f"The Crusoe base URL {text!r} is not of the form {DEFAULT}.")
    if url.scheme == "http" and not _is_loopback(url.host):
        raise CloudSetupError(
            f"The Crusoe base URL {text!r} is not encrypted. Use https; http is for an emulator on "
            "this machine alone."
        )
    if url.path.strip("/") == "":
        raise CloudSetupError(
            f"The Crusoe base URL {text!r} has no version. It is signed, so give it: {text}/v1."
        )
    return Endpoint(
        scheme=url.scheme, host=url.host, port=url.port or PORTS[url.scheme], prefix=url.path
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
