"""Say which setting mends what a client met; the clients' own errors name none."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

#: OpenSSL's numbers for a certificate of another name or address (x509_vfy.h).
_OTHER_NAME = frozenset({62, 64})
#: Errors of httpx and aiohttp about a proxy, by class: neither is loaded for this.
_OF_PROXIES = frozenset({"ProxyError", "ClientHttpProxyError", "ClientProxyConnectionError"})


def why(error: BaseException) -> str:
    """Return what went wrong and which setting mends it; empty where none of [network] does."""
    for one in _causes(error):
        # aiohttp's own, which wraps the real one, has no code
        if isinstance(one, ssl.SSLCertVerificationError) and hasattr(one, "verify_code"):
            return _untrusted(one)
        if type(one).__name__ in _OF_PROXIES:
            return (
                f"the proxy of network.proxy or HTTPS_PROXY does not let us through{_status(one)}"
            )
        if isinstance(one, socket.gaierror):
            silent = one.errno == socket.EAI_AGAIN
            return "names do not resolve where the bot runs" if silent else ""
    return ""


def _untrusted(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _OTHER_NAME:
        return (
            f"the server's certificate is for another name ({error.verify_message}): give that "
            "name as tls_name, or put it into network.addresses with the IP address"
        )
    return (
        f"the server's certificate is not trusted ({error.verify_message}): name the file of its "
        "authority in network.ca_file"
    )


def _status(error: BaseException) -> str:
    found = getattr(error, "status", "") or str(error)
    return f" ({str(found)[:80]})" if found else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it came from; a library may keep that in an attribute."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = getattr(one, "os_error", None) or getattr(one, "certificate_error", None)
        left += [
            inner if isinstance(inner, BaseException) else None,
            one.__cause__,
            one.__context__,
        ]
