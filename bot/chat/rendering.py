"""From rows of the store to the messages that show them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.chat import telling
from bot.chat.mapping import (
    approval_shown,
    checked_of,
    incident_shown,
    proof_shown,
    switch_shown,
    vms_of,
)
from bot.chat.progress import Progress
from bot.chat.rules import Rules
from bot.errors import BotError
from bot.incidents.incident import Entry, Incident, IncidentState
from bot.incidents.message import PARENT, Message
from bot.incidents.store import Store
from bot.reports.slack import approvals, message, updates, values
from bot.reports.slack.escalated import escalated
from bot.reports.slack.glass import glass
from bot.reports.slack.notices import linked
from bot.reports.slack.placeholder import placeholder
from bot.reports.slack.preflights import asking, preflighted
from bot.reports.slack.proofs import proof
from bot.reports.slack.replies import evidence, probes, summary
from bot.reports.slack.report import report
from bot.reports.slack.switched import switched

EVIDENCE, PROBES, LINK, SUMMARY = "evidence", "probes", "link", "summary"
DRY_RUN, ASKED, REVISED, PROOF = "dry_run:", "asked:", "revised:", "proof:"
SWITCHED, ESCALATED, GLASS = "switched:", "escalated:", "glass:"
_OF_APPROVAL = frozenset({"dry_run", "asked", "escalated", "glass"})
#: With its number among those of the incident.
PREFLIGHT = "pre-flight:"

WHY_DRY = (
    "Actions are off in the settings: this is what would have been run, step by step. A person can "
    "run it by hand."
)


@dataclass(kw_only=True)
class Rendered:
    """A message to be sent and the revision that it shows."""

    message: message.Message
    revision: int


@dataclass(kw_only=True)
class Renderer:
    """Makes each message anew from what the store holds now."""

    store: Store
    rules: Rules
    #: incident → how far its sources are, while they are read here
    progress: dict[str, Progress] = field(default_factory=dict)
    #: incident → how far the pre-flight is that is asked here
    asking: dict[str, values.Asking] = field(default_factory=dict)
    #: returns a message's address
    address: Callable[[str, str], Awaitable[str]]
    _permalinks: dict[str, str] = field(default_factory=dict)

    async def render(self, row: Message, now: datetime) -> Rendered:
        """Return a row's message as it should stand now; raises BotError where it is none."""
        incident = await self.store.incidents.get(row.incident_id)
        if incident is None:
            raise BotError(f"The message {row.id} is of no incident.")
        kind, _, about = row.purpose.partition(":")
        approval_id = row.approval_id or (about if kind in _OF_APPROVAL else None)
        if approval_id is not None:
            return await self._of_approval(kind, approval_id.partition(":")[0], about, now)
        if kind == "proof":
            return await self._proof(about, incident, now)
        if kind == "switched":
            return await self._switched(about, incident, now)
        made = await self._of_incident(row.purpose, incident, now)
        return Rendered(message=made, revision=incident.revision)

    async def permalink(self, incident_id: str) -> str:
        """Return the address of an incident's thread; empty where it is not known now."""
        if incident_id not in self._permalinks:
            rows = await self.store.messages.of(incident_id)
            parent = next((one for one in rows if one.purpose == PARENT and one.ts), None)
            found = await self._address_of(parent) if parent else ""
            if not found:
                return ""
            self._permalinks[incident_id] = found
        return self._permalinks[incident_id]

    async def _address_of(self, parent: Message) -> str:
        try:
            return await self.address(parent.channel, parent.ts or "")
        except BotError:
            return ""

    async def _of_approval(
        self, kind: str, approval_id: str, about: str, now: datetime
    ) -> Rendered:
        approval = await self.store.approvals.get(approval_id)
        if approval is None:
            raise BotError(f"There is no approval {approval_id}.")
        incident = await self.store.incidents.get(approval.incident_id)
        runs = await self.store.step_runs.of(approval.id)
        stopped = await self.store.switches.on()
        shown = approval_shown(approval, checked_of(incident), self.rules, runs, stopped)
        if kind == "dry_run":
            made = approvals.dry_run(shown, why=WHY_DRY, now=now)
        elif kind == "glass":
            made = await self._glass(shown, now)
        elif kind == "escalated":
            made = self._escalated(shown, int(about.partition(":")[2]), now)
        elif kind == "asked":
            made = approvals.asked(shown, about.partition(":")[2], now=now)
        else:
            made = approvals.card(shown, now=now)
        return Rendered(message=made, revision=approval.revision)

    async def _glass(self, shown: values.Approval, now: datetime) -> message.Message:
        entries = await self.store.incidents.timeline(shown.incident)
        told = [one for one in entries if one.kind == "glass_broken" and one.about == shown.id]
        if not told:
            raise BotError(f"Nobody has broken the glass of approval {shown.id}.")
        where = await self.permalink(shown.incident)
        last = told[-1]
        return glass(shown, by=last.who or "", why=last.text, at=last.at, permalink=where, now=now)

    def _escalated(self, shown: values.Approval, number: int, now: datetime) -> message.Message:
        """Return the call: the first to those who may decide alone, later ones to others, too."""
        others = self.rules.escalate_to if number else ()
        called = tuple(dict.fromkeys((*shown.may_decide, *others)))
        return escalated(shown, called=called, number=number, now=now)

    async def _proof(self, run_id: str, incident: Incident, now: datetime) -> Rendered:
        run = await self.store.step_runs.get(run_id)
        if run is None:
            raise BotError(f"There is no run {run_id}.")
        made = proof(proof_shown(run), mentioned=self.rules.may_decide, now=now)
        return Rendered(message=made, revision=incident.revision)

    async def _switched(self, about: str, incident: Incident, now: datetime) -> Rendered:
        """Return what a reply says of a switch; where it was put again since, of the newer time."""
        name = about.partition(":")[0]
        switch = next((one for one in await self.store.switches.all() if one.name == name), None)
        if switch is None:
            raise BotError(f"There is no switch {name}.")
        made = switched(
            incident_shown(incident), switch_shown(switch), may_resume=self.rules.may_decide,
            command=self.rules.command, now=now,
        )  # fmt: skip
        return Rendered(message=made, revision=incident.revision)

    async def _of_incident(
        self, purpose: str, incident: Incident, now: datetime
    ) -> message.Message:
        # a timeline is read where something of it is shown: a report of an open incident has none
        told = purpose == SUMMARY or purpose.startswith((PREFLIGHT, REVISED))
        over = incident.state is not IncidentState.OPEN
        entries = await self.store.incidents.timeline(incident.id) if told or over else ()
        ended = telling.closing(incident, entries)
        parent = purpose == PARENT
        shown = incident_shown(
            incident,
            permalink=await self.permalink(incident.id) if purpose == LINK else "",
            because=ended.text if ended else "",
            runs=await self.store.step_runs.of_incident(incident.id) if parent else (),
            said=await self.store.statements.of(incident.id) if parent else (),
        )
        if purpose == LINK:
            return linked(shown)
        if purpose == SUMMARY:
            said = telling.outcome(incident, entries)
            return summary(shown, telling.timeline(entries), outcome=said, now=now)
        if purpose.startswith(PREFLIGHT):
            return self._preflight(purpose, shown, telling.preflights(entries), now)
        if purpose.startswith(REVISED):
            return _revised(purpose, shown, entries)
        return self._of_check(purpose, incident, shown, now)

    def _preflight(
        self, purpose: str, shown: values.Incident, ended: Sequence[Entry], now: datetime
    ) -> message.Message:
        number = int(purpose.removeprefix(PREFLIGHT))
        if number <= len(ended):
            return preflighted(shown, telling.told(ended[number - 1]), now=now)
        return asking(shown, self.asking.get(shown.id), now=now)

    def _of_check(
        self, purpose: str, incident: Incident, shown: values.Incident, now: datetime
    ) -> message.Message:
        checked = checked_of(incident)
        if checked is None:
            return self._without_check(incident, shown, now)
        if purpose == PARENT:
            links = self.rules.links_of(checked)
            again = self.progress.get(incident.id)
            return report(
                checked, shown, now=now, links=links, vms=vms_of(checked),
                again=again.sources if again else (),
            )  # fmt: skip
        probed = purpose == PROBES
        return probes(checked, shown, now=now) if probed else evidence(checked, shown)

    def _without_check(
        self, incident: Incident, shown: values.Incident, now: datetime
    ) -> message.Message:
        if incident.state is not IncidentState.OPEN:
            return updates.unread(shown, shown.closed_because or "It was dismissed.")
        sources = self.progress.get(incident.id, Progress()).sources
        return placeholder(shown, sources, now=now)


def _revised(purpose: str, shown: values.Incident, entries: Sequence[Entry]) -> message.Message:
    wanted = int(purpose.removeprefix(REVISED))
    told = [one for one in entries if one.kind in {"checked", "revised"}]
    now = next(one for one in told if one.revision == wanted)
    before = [one.text for one in told if one.revision < wanted]
    return updates.revised(
        shown, by=now.who or "", added=now.about or "a log",
        before=before[-1] if before else "nothing was known", after=now.text,
    )  # fmt: skip
