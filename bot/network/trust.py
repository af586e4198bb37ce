"""Whose certificates are believed."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

import certifi

from bot.network.errors import NetworkSetupError


def context(ca_file: Path | None, environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return what checks servers: public authorities, the system's, and those of `ca_file`.

    SSL_CERT_FILE and SSL_CERT_DIR take the place of the first two. Raises NetworkSetupError for a
    file that holds no certificate.
    """
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    try:
        if file or folder:
            made = ssl.create_default_context(cafile=file or None, capath=folder or None)
        else:
            # a slim image may have no authorities of its own
            made = ssl.create_default_context(cafile=certifi.where())
            made.load_default_certs()
    except (OSError, ssl.SSLError) as error:
        message = f"SSL_CERT_FILE or SSL_CERT_DIR names no certificates: {_reason(error)}."
        raise NetworkSetupError(message) from None
    if ca_file is not None:
        _add(made, ca_file)
    return made


def _add(made: ssl.SSLContext, ca_file: Path) -> None:
    try:
        made.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        message = f"{ca_file}, named by network.ca_file, holds no certificates: {_reason(error)}."
        raise NetworkSetupError(message) from None


def _reason(error: OSError) -> str:
    return "no PEM is in it" if isinstance(error, ssl.SSLError) else error.strerror or str(error)
