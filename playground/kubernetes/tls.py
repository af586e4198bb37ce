"""A certificate authority for one server on loopback, made anew each time."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


def server_context(folder: Path, names: Sequence[str] = ()) -> ssl.SSLContext:
    """Write `ca.crt`, `tls.crt` and `tls.key` to a folder; return a server's context of them.

    The certificate is for 127.0.0.1, or for names where some are given.
    """
    authority, own = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    root = _certificate("kubernetes", "kubernetes", authority, authority, is_root=True)
    leaf = _certificate("kube-apiserver", "kubernetes", own, authority, is_root=False, names=names)
    (folder / "ca.crt").write_bytes(root.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.crt").write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.key").write_bytes(
        own.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


def _certificate(
    subject: str,
    issuer: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_root: bool,
    names: Sequence[str] = (),
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(x509.BasicConstraints(ca=is_root, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .add_extension(_usage(is_root=is_root), critical=True)
    )
    if not is_root:
        here = [x509.IPAddress(ip_address("127.0.0.1"))]
        called = x509.SubjectAlternativeName([x509.DNSName(one) for one in names] or here)
        builder = builder.add_extension(called, critical=False)
    return builder.sign(signer, hashes.SHA256())


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, is_root: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_root,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_root,
        crl_sign=is_root,
        encipher_only=False,
        decipher_only=False,
    )
