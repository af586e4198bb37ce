"""What the settings say of Slack, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from string import Formatter
from urllib.parse import quote

from bot.recovery.policy import Policy
from bot.reports.slack.standing import standing
from bot.reports.slack.values import Link, Links
from bot.triage.model import Checked


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """How the bot is called, who decides, where reports point to."""

    command: str = "/nccl-dns"
    #: who may do what
    policy: Policy = field(default_factory=Policy)
    #: how long a step waits for a decision
    approval: timedelta = timedelta(minutes=30)
    #: steps that two people have to approve
    two_people: frozenset[str] = frozenset()
    #: templates, see the settings
    console: str = ""
    job: str = ""
    resources: Mapping[str, str] = field(default_factory=dict)
    home_channel: str = ""
    #: when those who may decide are called again, and who else from the second time on
    escalate: tuple[timedelta, ...] = ()
    escalate_to: tuple[str, ...] = ()
    #: where each broken glass is posted
    audit_channel: str = ""

    @property
    def may_decide(self) -> tuple[str, ...]:
        """Return who is mentioned where a decision is needed: groups first."""
        return self.policy.deciders(())

    def links_of(self, checked: Checked) -> Links:
        """Return where the report of a check points to."""
        accused = standing(checked).accused or checked.machines
        vm = next((one.vm for one in accused if one.vm is not None), None)
        return Links(
            console=_filled(self.console, vm_id=vm.id, vm_name=vm.name, project=vm.project)
            if vm
            else "",
            job=_filled(self.job, job=checked.job.id, cluster=checked.job.cluster)
            if checked.job
            else "",
            resources=tuple(Link(label=label, url=url) for label, url in self.resources.items()),
        )


def _filled(template: str, **values: str) -> str:
    """Fill in a template; empty where it asks for what is not known."""
    names = {name for _, name, _, _ in Formatter().parse(template) if name}
    if not names <= set(values):
        return ""
    return template.format(**{name: quote(value, safe="") for name, value in values.items()})
