"""What can be set. A new setting is a new field; its description goes into the file of `init`."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import PlacementError
from bot.fleet.nodes import node_list
from bot.settings.network import HeartbeatSettings, NetworkSettings
from bot.settings.part import FilePath, Part
from bot.settings.policy import STEP_NAMES, Accounts, PolicySettings, StepName
from bot.settings.secrets import secret
from bot.settings.slack import SlackSettings

_NAME = r"^[A-Za-z][A-Za-z0-9_-]{0,62}$"


def _node_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    try:
        for pattern in patterns:
            node_list(pattern)
    except PlacementError as error:
        raise ValueError(str(error)) from None
    return patterns


NodePatterns = Annotated[tuple[str, ...], AfterValidator(_node_patterns)]


class Level(IntEnum):
    """How much the settings let the product do."""

    PASTE = 0
    LOOK = 1
    PROBE = 2
    ACT = 3


class StoreSettings(Part):
    """Where the product keeps what it has seen."""

    url: str = ""
    """sqlite:///path or postgresql://host/name; empty: bot.db in the state folder."""
    url_file: FilePath | None = None
    """A file that holds the URL, since a password stands in it."""
    keep: timedelta = timedelta(days=30)
    """How long texts are kept; IDs, times and who decided stay."""


class CloudSettings(Part):
    """The cloud that runs the VMs."""

    kind: Literal["none", "crusoe"] = "none"
    """none: diagnose, probe, repair inside the guest; no VM states."""
    base_url: str = ""
    """Empty: Crusoe's public API."""
    project: str = ""
    """Name or id; a cluster may name another one."""
    access_key_id: str = ""
    """With the secret key; both empty: a profile of ~/.crusoe/config and CRUSOE_… variables."""
    secret_key: SecretStr = SecretStr("")
    secret_key_file: FilePath | None = None
    """Holds the secret key and nothing else."""
    profile: str = ""
    """Profile of ~/.crusoe/config; empty: the file's own choice."""
    requests_per_minute: Annotated[int, Field(gt=0, le=600)] = 60


class JumpSettings(Part):
    """A machine on the way."""

    host: str
    user: str
    port: Annotated[int, Field(gt=0, lt=65536)] = 22


class AccountSettings(Part):
    """An account on the machines and how it proves itself."""

    user: str
    keys: tuple[FilePath, ...] = ()
    """Private keys; a certificate beside one (`…-cert.pub`) is used with it."""


class SshSettings(AccountSettings):
    """How machines are reached, and the account that looks at them and can do nothing else."""

    agent: FilePath | None = None
    """Socket of an agent; it signs and is never forwarded."""
    known_hosts: FilePath | None = None
    """Host keys by VM id (by node name without a cloud), or @cert-authority lines."""
    trust_on_first_use: bool = False
    """Take the first key that a machine shows; every report says so."""
    jumps: tuple[JumpSettings, ...] = ()
    """In order from here."""
    port: Annotated[int, Field(gt=0, lt=65536)] = 22
    sudo: bool = False
    """Run the probe helper with `sudo -n`."""
    helper: str = ""
    """Path of the helper that root installed (see `nccl-dns init`); empty sends it along."""
    proof: Literal["product_uuid", "host_name"] = "product_uuid"
    """How a machine proves that it is the VM: product_uuid is the VM's id on Crusoe.

    host_name is for containers and labs, beside the pinned host key.
    """
    at_once: Annotated[int, Field(gt=0, le=512)] = 64
    """Machines that are asked at one time."""
    repair: AccountSettings | None = None
    """The account that may restart the resolver and reboot; without it nothing is repaired."""
    backup: AccountSettings | None = None
    """The account that copies what a VM's own disks hold; without it nothing is backed up."""


class RestSettings(Part):
    """A slurmrestd."""

    url: str
    user: str
    token: SecretStr = SecretStr("")
    token_file: FilePath | None = None
    """Read anew for each request: tokens are short-lived."""
    version: Annotated[int, Field(ge=38, le=43)] = 40
    """The 40 of v0.0.40."""
    tls_name: str = ""
    """The name in its certificate, where the URL gives an IP address."""


class LoginSettings(Part):
    """A machine where Slurm's commands work; without a host, this one."""

    host: str = ""
    user: str = ""
    port: Annotated[int, Field(gt=0, lt=65536)] = 22
    keys: tuple[FilePath, ...] = ()
    """Empty: those of [ssh]."""


class ClusterSettings(Part):
    """One scheduler and the machines that it lists."""

    kind: Literal["slurm", "kubernetes"] = "slurm"
    project: str = ""
    """The cloud project that its machines are in; empty: that of [cloud]."""
    nodes: NodePatterns = ()
    """Machines that may be touched, such as "gpu-[0-31]"; none are unless named here."""
    hosts: tuple[str, ...] = ()
    """Host names of its web pages, so that a pasted link tells the cluster."""
    domain: str = ""
    """Domain of the machines' full names; empty: taken from the log or from a machine."""
    rest: RestSettings | None = None
    login: LoginSettings | None = None
    log_patterns: tuple[str, ...] = ()
    """Further places of logs, with Slurm's letters: "/shared/logs/%j/rank-*.log"."""
    kubeconfig: FilePath | None = None
    context: str = ""
    namespaces: tuple[str, ...] = ()
    tls_name: str = ""
    """The name in the API server's certificate, where the kubeconfig gives an IP address."""


class ActionSettings(Part):
    """What may be changed; off by default."""

    enabled: bool = False
    protected: NodePatterns = ()
    """Never touched: controllers, login, storage, jump hosts, the machine of this bot."""
    at_once: Annotated[int, Field(ge=1)] = 1
    """VMs under change at one moment."""
    an_hour: Annotated[int, Field(ge=1)] = 4
    """VMs changed within an hour."""
    two_people: bool | tuple[StepName, ...] = False
    """Whether every step needs two approvers, or which: ["reset", "stop_start"]."""
    cli: Accounts = {}  # noqa: RUF012 - pydantic copies it
    """Account on this machine → who that is in Slack, for the command line: {ada = "U024BE7LH"}."""
    policy: PolicySettings = PolicySettings()

    @property
    def by_two(self) -> frozenset[str]:
        """Return the steps that two people have to approve."""
        told = self.two_people
        return frozenset(STEP_NAMES if told is True else told or ())


class WaitSettings(Part):
    """How long things take before they count."""

    reading: timedelta = timedelta(minutes=2)
    """How old a reading may be for a step to rest on it."""
    error_reads: timedelta = timedelta(minutes=1)
    """How far apart two readings outside ERROR must be."""
    connect: timedelta = timedelta(seconds=3)
    login: timedelta = timedelta(seconds=5)
    probe: timedelta = timedelta(seconds=10)
    """A whole probe of a machine, the login included."""
    approval: timedelta = timedelta(minutes=30)
    """How long a step waits for a decision once it could run; then nothing is done."""
    escalate: tuple[timedelta, ...] = (timedelta(minutes=5), timedelta(minutes=10))
    """When those who may decide are called again, and from the second time on others, too."""
    operation: timedelta = timedelta(minutes=15)
    """How long an operation of the cloud may take before it counts as unknown."""
    boot: timedelta = timedelta(minutes=15)
    """How long a machine may take to come back and let us in."""
    settle: timedelta = timedelta(minutes=1)
    """How long names may take to resolve after a repair."""
    look: timedelta = timedelta(seconds=5)
    """Between two looks at something that is awaited."""
    verify_again: tuple[timedelta, ...] = (timedelta(minutes=2), timedelta(minutes=10))
    """How long after it passed a repair is verified again."""


def is_cluster_name(text: str) -> bool:
    """Say whether a cluster may be named so."""
    return re.fullmatch(_NAME.removeprefix("^").removesuffix("$"), text) is not None


def state_folder() -> Path:
    """Return where the product keeps its state: `$XDG_STATE_HOME/nccl-dns`."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "nccl-dns"


class Settings(BaseSettings):
    """Everything that can be set; `NCCL_DNS_CLOUD__PROJECT` and the like win over the file."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="NCCL_DNS_",
        env_nested_delimiter="__",
        use_attribute_docstrings=True,
    )

    state_dir: FilePath = Field(default_factory=state_folder)
    store: StoreSettings = StoreSettings()
    cloud: CloudSettings = CloudSettings()
    network: NetworkSettings = NetworkSettings()
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    ssh: SshSettings | None = None
    clusters: Annotated[
        dict[Annotated[str, Field(pattern=_NAME)], ClusterSettings], Field(default_factory=dict)
    ]
    actions: ActionSettings = ActionSettings()
    waits: WaitSettings = WaitSettings()
    slack: SlackSettings | None = None
    """Without it there is the command line alone."""

    @property
    def store_url(self) -> str:
        """Return the database URL that is used; raises SettingsError for an unreadable file."""
        url = secret(SecretStr(self.store.url), self.store.url_file, "store.url_file")
        return url or f"sqlite:///{self.state_dir / 'bot.db'}"

    @property
    def engine_url(self) -> str:
        """Return the database of the durable engine: beside our own on SQLite, else the same."""
        if self.store_url.startswith("sqlite"):
            return f"sqlite:///{self.state_dir / 'engine.db'}"
        return self.store_url

    @property
    def level(self) -> Level:
        """Return how much the settings let the product do."""
        if self.ssh is None:
            return Level.LOOK if self.clusters or self.cloud.kind != "none" else Level.PASTE
        return Level.ACT if self.actions.enabled and self.ssh.repair else Level.PROBE

    def project_of(self, cluster: str) -> str:
        """Return the cloud project of a cluster's machines, by name or id."""
        return self.clusters[cluster].project or self.cloud.project
