"""The only place that builds and opens things: from settings to services, closed at the end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from bot.clouds.crusoe.account import KeyCheck, check_key
from bot.clouds.crusoe.cloud import open_session
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import Endpoint, endpoint
from bot.clouds.crusoe.pace import Pace
from bot.clouds.crusoe.profiles import CONFIG, read_profile
from bot.clouds.crusoe.project import NamedProject
from bot.clouds.crusoe.session import Session
from bot.clouds.port import Cloud
from bot.clouds.timing import Timing
from bot.errors import BotError
from bot.fleet.nodes import node_list
from bot.hosts.port import Hosts
from bot.hosts.ssh.connect import Place
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.ssh.options import Jump, Keys, Limits, SshOptions
from bot.incidents.store import Store, open_store
from bot.network.way import Network
from bot.network.way import network as network_as
from bot.network.with_httpx import Transport
from bot.recovery.facts import Limits as LadderLimits
from bot.schedulers.ids import Cluster
from bot.schedulers.kubernetes.access import Access, connected
from bot.schedulers.kubernetes.adapter import KubernetesScheduler
from bot.schedulers.model import Kind
from bot.schedulers.port import Scheduler
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.rest import RestWay
from bot.schedulers.slurm.runner import LocalRunner, Runner
from bot.schedulers.slurm.ssh_runner import SshRunner
from bot.schedulers.slurm.way import Way
from bot.settings import (
    ClusterSettings,
    Level,
    LoginSettings,
    RestSettings,
    Settings,
    SettingsError,
    SshSettings,
)
from bot.settings.secrets import secret
from bot.triage.services import ACTIONS_OFF, Services, Watched


@dataclass(kw_only=True)
class _Building:
    """What is open so far, and what could not be opened."""

    settings: Settings
    stack: AsyncExitStack
    environ: Mapping[str, str]
    network: Network
    missing: list[str] = field(default_factory=list)
    session: Session | None = None
    projects: dict[str, Cloud] = field(default_factory=dict)


def network_of(settings: Settings, environ: Mapping[str, str] | None = None) -> Network:
    """Return how clients reach the world; raises NetworkSetupError for a setting of no use."""
    told = settings.network
    return network_as(
        ca_file=told.ca_file,
        proxy=told.proxy.get_secret_value(),
        no_proxy=told.no_proxy,
        addresses=told.addresses,
        memory=settings.state_dir / "addresses.json",
        environ=os.environ if environ is None else environ,
    )


@asynccontextmanager
async def build(
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    network: Network | None = None,
) -> AsyncIterator[Services]:
    """Open everything that the settings name, and close it at the end; `network` is used if given.

    What cannot be opened is left out and stands in `Services.missing` with the reason: a broken key
    must not keep the rest from working. Nothing is asked of anybody here.
    """
    async with AsyncExitStack() as stack:
        told = os.environ if environ is None else environ
        way = network or network_of(settings, told)
        at = _Building(settings=settings, stack=stack, environ=told, network=way)
        store = await _store(at)
        at.session = await _session(at)
        hosts = await _hosts(at)
        clusters = {name: await _watched(at, name) for name in settings.clusters}
        cloud = _project(at, settings.cloud.project)
        yield Services(
            clusters=clusters,
            cloud=cloud,
            hosts=hosts,
            store=store,
            proof=settings.ssh.proof if settings.ssh else "product_uuid",
            protected=_nodes(settings.actions.protected),
            limits=LadderLimits(
                reading=settings.waits.reading, error_reads=settings.waits.error_reads
            ),
            accounts=_accounts(settings),
            level=settings.level,
            missing=(*at.missing, *_lacks(settings)),
            reached=way.names.notes,
        )


async def whose_key(settings: Settings, environ: Mapping[str, str] | None = None) -> KeyCheck:
    """Ask the cloud whose key it is; raises a CloudError, also where no cloud is set."""
    from bot.clouds.errors import CloudSetupError

    async with AsyncExitStack() as stack:
        told = os.environ if environ is None else environ
        way = network_of(settings, told)
        at = _Building(settings=settings, stack=stack, environ=told, network=way)
        session = await _session(at)
        if session is None:
            raise CloudSetupError(at.missing[0] if at.missing else "No cloud is set.")
        return await check_key(session)


def _lacks(settings: Settings) -> tuple[str, ...]:
    """Say what a higher level would need."""
    level = settings.level
    found = []
    if settings.cloud.kind == "none":
        found.append("No cloud is set ([cloud]), so the state of VMs is not known.")
    if not settings.clusters:
        found.append("No cluster is set ([clusters.NAME]), so job IDs cannot be looked up.")
    if level < Level.PROBE:
        found.append("No SSH account is set ([ssh]), so machines are not asked why names fail.")
    elif level < Level.ACT:
        found.append(ACTIONS_OFF)
    return tuple(found)


async def _store(at: _Building) -> Store | None:
    try:
        return await at.stack.enter_async_context(open_store(at.settings.store_url))
    except BotError as error:
        at.missing.append(f"Nothing is kept: {error}")
        return None


async def _session(at: _Building) -> Session | None:
    if at.settings.cloud.kind == "none":
        return None
    try:
        where, credentials = _key(at)
        return await at.stack.enter_async_context(
            open_session(
                where,
                credentials,
                pace=Pace(timing=Timing(), requests=at.settings.cloud.requests_per_minute),
                transport=Transport(at.network),
            )
        )
    except BotError as error:
        at.missing.append(f"The cloud is not asked: {error}")
        return None


def _key(at: _Building) -> tuple[Endpoint, Credentials]:
    cloud = at.settings.cloud
    held = secret(cloud.secret_key, cloud.secret_key_file, "cloud.secret_key_file")
    if cloud.access_key_id or held:
        return endpoint(cloud.base_url), Credentials(
            access_key_id=cloud.access_key_id, secret_key=held
        )
    home = Path(at.environ.get("HOME") or "~").expanduser()
    profile = read_profile(home / CONFIG, environ=at.environ, profile=cloud.profile or None)
    where = endpoint(cloud.base_url) if cloud.base_url else profile.endpoint
    return where, profile.credentials


def _project(at: _Building, name: str) -> Cloud | None:
    if at.session is None or not name:
        return None
    if name not in at.projects:
        at.projects[name] = NamedProject(at.session, name)
    return at.projects[name]


async def _hosts(at: _Building) -> Hosts | None:
    if at.settings.ssh is None:
        return None
    try:
        options = ssh_options(at.settings, at.settings.ssh)
        return await at.stack.enter_async_context(ssh_hosts(options))
    except BotError as error:
        at.missing.append(f"Machines are not asked: {error}")
        return None


def ssh_options(settings: Settings, ssh: SshSettings) -> SshOptions:
    """Return how machines are reached by the account that only looks."""
    waits = settings.waits
    return SshOptions(
        user=ssh.user,
        keys=Keys(files=ssh.keys, agent=ssh.agent),
        known_hosts=ssh.known_hosts,
        trust_on_first_use=ssh.trust_on_first_use,
        jumps=tuple(Jump(host=one.host, user=one.user, port=one.port) for one in ssh.jumps),
        sudo=ssh.sudo,
        helper=ssh.helper,
        port=ssh.port,
        limits=Limits(
            connect=waits.connect,
            login=waits.login,
            total=waits.probe,
            keepalive=timedelta(seconds=5),
            at_once=ssh.at_once,
        ),
    )


async def _watched(at: _Building, name: str) -> Watched:
    cluster = at.settings.clusters[name]
    kind = Kind.SLURM if cluster.kind == "slurm" else Kind.KUBERNETES
    try:
        scheduler = await _scheduler(at, name, cluster)
    except BotError as error:
        at.missing.append(f"The scheduler of cluster {name} is not asked: {error}")
        scheduler = None
    return Watched(
        name=name,
        known_as=Cluster(name=name, kind=kind, hosts=_hosts_of(cluster)),
        scheduler=scheduler,
        cloud=_project(at, at.settings.project_of(name)),
        nodes=_nodes(cluster.nodes),
        domain=cluster.domain.strip("."),
    )


def _hosts_of(cluster: ClusterSettings) -> tuple[str, ...]:
    rest = urlsplit(cluster.rest.url).netloc if cluster.rest else ""
    return (*cluster.hosts, *([rest] if rest else []))


async def _scheduler(at: _Building, name: str, cluster: ClusterSettings) -> Scheduler | None:
    if cluster.kind == "kubernetes":
        return await _kubernetes(at, name, cluster)
    ways: list[Way] = []
    if cluster.rest is not None:
        way = _rest(at, name, cluster.rest)
        at.stack.push_async_callback(way.aclose)
        ways.append(way)
    if cluster.login is not None:
        ways.append(LoginWay(cluster=name, runner=_runner(at, cluster.login)))
    if not ways:
        return None
    return SlurmScheduler(name, ways, log_patterns=cluster.log_patterns)


async def _kubernetes(at: _Building, name: str, cluster: ClusterSettings) -> Scheduler:
    """Return the cluster as its reading account sees it; nothing is changed with that."""
    access = Access(
        kubeconfig=cluster.kubeconfig,
        context=cluster.context or None,
        tls_name=cluster.tls_name,
        network=at.network,
    )
    server = await at.stack.enter_async_context(connected(access, cluster=name))
    return KubernetesScheduler(name, server, namespaces=cluster.namespaces)


def _rest(at: _Building, name: str, rest: RestSettings) -> RestWay:
    place = f"clusters.{name}.rest.token_file"
    return RestWay(
        cluster=name,
        base_url=rest.url,
        user=rest.user,
        token=lambda: secret(rest.token, rest.token_file, place),
        version=rest.version,
        transport=Transport(at.network, tls_name=rest.tls_name),
    )


def _runner(at: _Building, login: LoginSettings) -> Runner:
    """Return where Slurm's commands run: here, or on a login node with the accounts of [ssh]."""
    if not login.host:
        return LocalRunner()
    ssh = at.settings.ssh
    if ssh is None:
        raise SettingsError("A login node is reached with the keys and known hosts of [ssh].")
    options = ssh_options(at.settings, ssh)
    if login.keys:
        options = replace(options, keys=Keys(files=login.keys))
    node = Jump(host=login.host, user=login.user or ssh.user, port=login.port)

    def other(host: str) -> Place | None:
        return Place(name=host, alias=host, address=host, port=ssh.port, user=ssh.user)

    runner = SshRunner(node, options, machines=other)
    at.stack.push_async_callback(runner.aclose)
    return runner


def _accounts(settings: Settings) -> frozenset[str]:
    ssh = settings.ssh
    if ssh is None:
        return frozenset()
    further = [one.user for one in (ssh.repair, ssh.backup) if one]
    return frozenset({ssh.user, *further})


def _nodes(patterns: tuple[str, ...]) -> frozenset[str]:
    return frozenset(node for pattern in patterns for node in node_list(pattern))
