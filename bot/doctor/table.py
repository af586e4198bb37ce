"""The table of checks: what each needs, who makes it, what mends it. A new check is a new row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from bot.doctor import (
    accounts,
    clouds,
    guarding,
    keeping,
    machines,
    matching,
    naming,
    pinning,
    schedulers,
    slack,
)
from bot.doctor.look import Look
from bot.doctor.model import Answer
from bot.settings import Level


class Need(Enum):
    """What has to be set for a check to make sense; the value says what is not."""

    CLOUD = "No cloud is set ([cloud] kind)."
    CLUSTER = "No cluster is set ([clusters.NAME])."
    SSH = "No SSH account is set ([ssh])."
    SLACK = "No Slack app is set ([slack])."
    ACTING = "Nothing is ever changed at this level (it needs level 3, act)."

    def met(self, look: Look) -> bool:
        """Say whether it is set."""
        settings = look.settings
        return {
            Need.CLOUD: settings.cloud.kind != "none",
            Need.CLUSTER: bool(settings.clusters),
            Need.SSH: settings.ssh is not None,
            Need.SLACK: settings.slack is not None,
            Need.ACTING: settings.level is Level.ACT,
        }[self]


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One row."""

    name: str
    ask: Callable[[Look], Awaitable[Sequence[Answer]]]
    #: what mends it where the answer that was asked for does not come at all
    mend: str
    needs: tuple[Need, ...] = ()
    within: timedelta = timedelta(seconds=20)


_CLOUD = "Look at [cloud] in the settings, and whether this machine reaches the cloud's API."
_SCHEDULER = "Look at the cluster in the settings, and whether this machine reaches its scheduler."
_BOTH = "Mend what fails of scheduler and cloud first: nodes come from one, VMs from the other."
_SSH = "Look at [ssh] in the settings, and log in by hand with the same account and key."
_SLACK = "Look at [slack] in the settings, and whether this machine reaches Slack."
_SLOW = timedelta(seconds=45)

CHECKS: tuple[Check, ...] = (
    Check(name="settings", ask=keeping.settings_file, mend="Make a file: `nccl-dns init`."),
    Check(name="secrets and keys", ask=keeping.files, mend="Look at the files that are named."),
    Check(name="state folder", ask=keeping.state_folder, mend="Set state_dir to a folder of ours."),
    Check(name="store", ask=keeping.store, mend="Look at [store] url and at the database."),
    Check(name="cloud key", ask=clouds.key, mend=_CLOUD, needs=(Need.CLOUD,)),
    Check(name="clock", ask=clouds.clock, mend=_CLOUD, needs=(Need.CLOUD,)),
    Check(name="project", ask=clouds.projects, mend=_CLOUD, needs=(Need.CLOUD,)),
    Check(name="names", ask=naming.own_names, mend="Repair this machine's resolver."),
    Check(name="own resolver", ask=naming.resolver, mend=_CLOUD, within=_SLOW),
    Check(name="scheduler", ask=schedulers.ways, mend=_SCHEDULER, needs=(Need.CLUSTER,)),
    Check(name="token", ask=schedulers.tokens, mend=_SCHEDULER, needs=(Need.CLUSTER,)),
    Check(name="accounting", ask=schedulers.accounting, mend=_SCHEDULER, needs=(Need.CLUSTER,)),
    Check(name="job age", ask=schedulers.job_age, mend=_SCHEDULER, needs=(Need.CLUSTER,)),
    Check(name="job logs", ask=schedulers.logs, mend=_SCHEDULER, needs=(Need.CLUSTER,)),
    Check(name="nodes and VMs", ask=matching.nodes_and_vms, mend=_BOTH, needs=(Need.CLUSTER,)),
    Check(name="host keys", ask=pinning.host_keys, mend=_SSH, needs=(Need.SSH,)),
    Check(name="logins", ask=machines.logins, mend=_SSH, needs=(Need.SSH,), within=_SLOW),
    Check(name="sudo", ask=accounts.sudo, mend=_SSH, needs=(Need.SSH,), within=_SLOW),
    Check(name="repair account", ask=accounts.repair_account, mend=_SSH,
          needs=(Need.SSH, Need.ACTING), within=_SLOW),
    Check(name="drain and requeue", ask=schedulers.rights, mend=_SCHEDULER,
          needs=(Need.CLUSTER, Need.ACTING)),
    Check(name="Slack token", ask=slack.token, mend=_SLACK, needs=(Need.SLACK,)),
    Check(name="Slack scopes", ask=slack.scopes, mend=_SLACK, needs=(Need.SLACK,)),
    Check(name="Slack events", ask=slack.way_in, mend=_SLACK, needs=(Need.SLACK,)),
    Check(name="Slack clock", ask=slack.clock, mend=_SLACK, needs=(Need.SLACK,)),
    Check(name="approvers", ask=slack.approvers, mend=_SLACK, needs=(Need.SLACK,)),
    Check(name="home channel", ask=slack.home_channel, mend=_SLACK, needs=(Need.SLACK,)),
    Check(name="protected", ask=guarding.protected, mend=_CLOUD, needs=(Need.CLUSTER,)),
    Check(name="may be touched", ask=guarding.touchable, mend=_SCHEDULER,
          needs=(Need.CLUSTER, Need.ACTING)),
    Check(name="level", ask=guarding.level, mend="See the README."),
)  # fmt: skip
