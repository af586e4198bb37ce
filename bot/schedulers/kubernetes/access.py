"""Reach an API server: by a kubeconfig, by URL and token, or from inside a pod."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bot.network.way import Network
from bot.schedulers.errors import AccessError, NeedsWayError
from bot.schedulers.kubernetes.server import ApiServer

if TYPE_CHECKING:
    from kubernetes_asyncio.client import ApiClient, Configuration


_MOST_EVENT_BYTES = 2 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """How to reach an API server: a kubeconfig, or a URL and a token, or from inside a pod."""

    #: file and context of a kubeconfig
    kubeconfig: Path | None = None
    context: str | None = None
    #: without a kubeconfig; without both, the pod's own service account is used
    url: str = ""
    #: file with the token, read anew for each request: it is replaced while we run
    token_file: Path | None = None
    ca_file: Path | None = None
    timeout: timedelta = timedelta(seconds=30)
    #: what an API server given by address is called in its certificate
    tls_name: str = ""
    network: Network = field(default_factory=Network)


@asynccontextmanager
async def connected(access: Access, *, cluster: str) -> AsyncIterator[ApiServer]:
    """Give a connection to an API server.

    Raises NeedsWayError where the library is not installed, AccessError where what is configured
    cannot be read.
    """
    client = await _client(access, cluster)
    try:
        yield ApiServer(client, cluster=cluster, timeout=access.timeout)
    finally:
        await client.close()


async def _client(access: Access, cluster: str) -> ApiClient:
    try:
        from kubernetes_asyncio import config
        from kubernetes_asyncio.client import ApiClient, Configuration
    except ImportError:
        raise NeedsWayError(
            f"Cluster {cluster} was not asked: it needs the extra for Kubernetes. "
            "Install nccl-dns-bot[kubernetes]."
        ) from None
    settings = Configuration()
    try:
        if access.kubeconfig is not None:
            await config.load_kube_config(
                config_file=str(access.kubeconfig),
                context=access.context,
                client_configuration=settings,
                persist_config=False,
            )
        elif access.url:
            _by_token(settings, access)
        else:
            config.load_incluster_config(  # type: ignore[no-untyped-call]
                client_configuration=settings
            )
        client = ApiClient(configuration=settings)
        await _on(access, client, settings)
        return client  # noqa: TRY300 - what it opens may fail
    except (config.ConfigException, OSError, ValueError, KeyError, TypeError) as error:
        message = (
            f"Cluster {cluster} was not asked: what is configured for it cannot be read "
            f"({type(error).__name__}: {str(error)[:200]})."
        )
        raise AccessError(message) from error


async def _on(access: Access, client: ApiClient, settings: Configuration) -> None:
    """Put the product's network below the library's client; what a kubeconfig names goes first."""
    from bot.network.with_aiohttp import session

    rest = client.rest_client
    await rest.pool_manager.close()
    # an event of a watch may be as large as what etcd takes
    rest.pool_manager = session(
        access.network, trust=_trust(access, settings), read_bufsize=_MOST_EVENT_BYTES
    )
    rest.proxy = settings.proxy or access.network.proxy_for(settings.host or "") or ""
    rest.server_hostname = settings.tls_server_name or access.tls_name


def _trust(access: Access, settings: Configuration) -> ssl.SSLContext:
    """Return what checks the API server: its own authority where one is named, and only that."""
    own = settings.ssl_ca_cert or settings.cert_file or not settings.verify_ssl
    if not own:
        return access.network.trust
    made = ssl.create_default_context(cafile=settings.ssl_ca_cert)
    if settings.cert_file:
        made.load_cert_chain(settings.cert_file, keyfile=settings.key_file)
    if not settings.verify_ssl:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def _by_token(settings: Configuration, access: Access) -> None:
    settings.host = access.url.rstrip("/")
    if access.ca_file is not None:
        settings.ssl_ca_cert = str(access.ca_file)
    if access.token_file is None:
        return
    path = access.token_file

    async def fresh(configuration: Configuration) -> None:
        token = await asyncio.to_thread(path.read_text, encoding="utf-8")
        configuration.api_key["BearerToken"] = f"Bearer {token.strip()}"

    settings.api_key["BearerToken"] = f"Bearer {path.read_text(encoding='utf-8').strip()}"
    settings.refresh_api_key_hook = fresh
