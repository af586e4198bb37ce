"""Short-lived certificates beside our keys: say what is wrong with one that was refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import asyncssh
from asyncssh.public_key import CERT_TYPE_USER, SSHOpenSSHCertificate

from bot.hosts.ssh.options import Keys

#: What asyncssh says of a certificate, in our words.
_WORDS = {
    "Certificate expired": "is expired by our clock; sign the key again",
    "Certificate not yet valid": "is not yet valid by our clock; compare the clocks",
    "Invalid certificate type": "is a host's certificate and not a user's",
}


def faults(keys: Keys, user: str) -> Iterator[str]:
    """Yield a sentence for each certificate that cannot let this user in."""
    for path in keys.files:
        beside = path.with_name(f"{path.name}-cert.pub")
        if beside.exists() and (fault := _fault(beside, user)):
            yield f"{beside} {fault}."


def _fault(path: Path, user: str) -> str:
    try:
        certificate = asyncssh.read_certificate(path)
        if not isinstance(certificate, SSHOpenSSHCertificate):
            return "is no certificate of OpenSSH"
        certificate.validate(CERT_TYPE_USER, None)
    except (OSError, asyncssh.KeyImportError) as error:
        return f"cannot be used: {error}"
    except ValueError as error:
        return _WORDS.get(str(error), f"is not valid: {error}")
    if user not in certificate.principals:
        named = ", ".join(certificate.principals) or "nobody by name"
        return f"is not for {user} but for {named}"
    return ""
