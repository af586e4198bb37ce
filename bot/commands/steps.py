"""What the buttons do, from the command line: the same policy, the same rows.

Nothing is carried out here: the bot that serves starts what is approved, for one engine alone may
work on a store. So a decision made here counts at once, and is acted on while a bot runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.acting import carried_out
from bot.app import build, network_of
from bot.chat import glass
from bot.chat.mapping import accused, checked_of
from bot.chat.ruling import matter, proposal
from bot.commands.person import person_of
from bot.diagnosis.redact import redact
from bot.errors import InputError, StoreError
from bot.incidents.approval import Answer, Approval, ApprovalState, Verdict
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident
from bot.incidents.message import PARENT, Message, card
from bot.incidents.statement import Kind, Statement
from bot.incidents.store import Store
from bot.incidents.switches import Name, Switch
from bot.recovery.policy import Act, Matter, Person, Policy, ruling
from bot.recovery.proposing import Proposer
from bot.recovery.service import plan_of
from bot.recovery.steps.table import STEPS
from bot.settings import Level, Settings
from bot.settings.policy import policy_of
from bot.triage.services import Services
from bot.triage.world import FleetWorld

#: Where whoever is at the command line has their say: at home, wherever an incident's report is.
_HERE = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What came of a command, a sentence each."""

    lines: tuple[str, ...]
    #: it counted
    done: bool = True


@dataclass(frozen=True, kw_only=True)
class Counter:
    """Somebody at the command line, and what they may ask."""

    settings: Settings
    services: Services
    store: Store
    policy: Policy
    person: Person
    #: why user groups count for nothing here; empty where they count
    note: str = ""

    # -- steps

    async def propose(self, incident_id: str, step: str, vm: str) -> Said:
        """Put a step before those who may decide, on a VM as it is now; raises a BotError."""
        incident = await self._incident(incident_id)
        if step and step not in STEPS:
            raise InputError(f"There is no step {step}; there are {', '.join(STEPS)}.")
        world = FleetWorld(services=self.services, store=self.store)
        waits, actions = self.settings.waits, self.settings.actions
        proposer = Proposer(
            store=self.store, world=world, limits=self.services.limits, waits=waits.approval,
            two_people=actions.by_two,
        )  # fmt: skip
        seen = await world.look(incident.id, await self._vm(incident, vm))
        offer = None if step else proposer.mildest(seen)
        chain = (step,) if step else ((offer.rung.value,) if offer else ())
        if not chain:
            return self._not("No restart is offered for it now: show the incident for the reasons.")
        scene = seen.scene
        about = proposal(
            self.services, incident, chain, vm=scene.vm_name, host=scene.host, channel=_HERE
        )
        if why := self._why_not(Act.PROPOSE, about):
            return self._not(why)
        made = await proposer.propose(seen, chain, by=self.person.user)
        await self._card(incident, made.approval)
        first = "Proposed" if made.made else "It is proposed already"
        return Said(
            lines=(
                f"{first}: {STEPS[chain[0]].title} on {made.approval.vm_name}.",
                f"Approval {made.approval.id}.",
                f"May approve: {', '.join(self.policy.deciders(chain)) or 'nobody'}.",
                *(f"  {number}. {line}" for number, line in enumerate(plan_of(made.approval), 1)),
            )
        )

    async def decide(self, approval_id: str, verdict: Verdict) -> Said:
        """Count a decision as a click on the card would; raises UnknownApprovalError."""
        act = Act.APPROVE if verdict is Verdict.APPROVE else Act.DECLINE
        approval = await self._approval(approval_id)
        if why := await self._why_not_about(act, approval):
            return self._not(why)
        decision = await self.store.approvals.decide(
            approval_id, verdict, by=self.person.user, at=self.services.now()
        )
        after = decision.approval
        if decision.answer is Answer.FIRST:
            return Said(lines=("Counted; one more person is needed.",))
        if decision.answer is not Answer.DECIDED:
            return self._not(f"That question is {after.state}: your decision changed nothing.")
        if after.state is not ApprovalState.APPROVED:
            return Said(lines=("Declined. Nothing was done.",))
        return Said(lines=("Approved.", *await self._what_happens(after)))

    async def break_glass(self, approval_id: str, vm: str, reason: str) -> Said:
        """Approve a step alone and at any hour; raises InputError where there is no such step."""
        approval = await self._approval(approval_id)
        incident = await self.store.incidents.get(approval.incident_id)
        now = self.services.now()
        about = matter(
            self.services, incident, approval, channel=_HERE, past=approval.past(now),
            typed_vm=vm, reason=reason,
        )  # fmt: skip
        if why := self._why_not(Act.BREAK_GLASS, about):
            return self._not(why)
        channel = self.settings.actions.policy.audit_channel
        team = (incident.team if incident else None) or ""
        await glass.noted(self.store, approval, by=self.person.user, reason=reason, at=now)
        row = glass.message_of(approval, team=team, channel=channel, at=now)
        await self.store.messages.own(row)
        decision = await glass.decided(
            self.store, approval, by=self.person.user, reason=reason, at=now
        )
        if decision.answer is not Answer.DECIDED:
            return self._not("It was decided in the meantime.")
        return Said(lines=("Approved alone.", *await self._what_happens(decision.approval)))

    async def stop(self, approval_id: str) -> Said:
        """Stop a chain at its next boundary; raises UnknownApprovalError."""
        approval = await self._approval(approval_id)
        if why := await self._why_not_about(Act.STOP, approval):
            return self._not(why)
        by = self.person.user
        await self.store.approvals.void(
            approval_id, at=self.services.now(), why=f"Stopped by <@{by}>.", by=by
        )
        return Said(lines=("Stopped at its next boundary.",))

    # -- switches

    async def pause(self, reason: str) -> Said:
        """Stop every step that changes anything, for everybody."""
        if why := self._why_not(Act.PAUSE, Matter(incident_here=True)):
            return self._not(why)
        if not await self._put(Name.PAUSE, on=True, reason=reason):
            return self._not("It is paused already.")
        return Said(lines=("Paused: no step that changes anything goes past its next boundary.",))

    async def resume(self, reason: str) -> Said:
        """Let steps go on: end the pause and close the breaker."""
        if why := self._why_not(Act.RESUME, Matter()):
            return self._not(why)
        ended = [
            one.name.value
            for one in await self.store.switches.on()
            if await self._put(one.name, on=False, reason=reason)
        ]
        if not ended:
            return self._not("Nothing is paused, and the breaker is closed.")
        return Said(lines=(f"Steps may go on (it was: {', '.join(ended)}).",))

    # -- parts

    async def _put(self, name: Name, *, on: bool, reason: str) -> bool:
        words = redact(" ".join(reason.split())).text[:500]
        at = self.services.now()
        switch = Switch(name=name, on=on, reason=words, who=self.person.user, at=at)
        return await self.store.switches.put(switch)

    def _why_not(self, act: Act, about: Matter) -> str:
        return ruling(self.policy, act, self.person, about, self.services.now()).why

    async def _why_not_about(self, act: Act, approval: Approval) -> str:
        incident = await self.store.incidents.get(approval.incident_id)
        past = approval.past(self.services.now())
        about = matter(self.services, incident, approval, channel=_HERE, past=past)
        return self._why_not(act, about)

    def _not(self, why: str) -> Said:
        note = (self.note,) if self.note else ()
        return Said(lines=(why, "Nothing was done.", *note), done=False)

    async def _incident(self, incident_id: str) -> Incident:
        found = await self.store.incidents.get(incident_id)
        if found is None:
            raise InputError(f"There is no incident {incident_id}; nccl-dns incidents lists them.")
        return found

    async def _approval(self, approval_id: str) -> Approval:
        found = await self.store.approvals.get(approval_id)
        if found is None:
            raise InputError(f"There is no approval {approval_id}; nccl-dns show lists them.")
        return found

    async def _vm(self, incident: Incident, vm: str) -> str:
        """Return the VM that is meant; one that the newest look does not accuse was picked."""
        checked = checked_of(incident)
        one = accused(checked) if checked else None
        name = (one.vm.name if one.vm else one.host) if one else ""
        if not (vm or name):
            raise InputError("The newest look accuses no VM: name one with --vm.")
        if vm and vm != name:
            picked = Statement(
                id=new_id(LONG), incident_id=incident.id, kind=Kind.PICKED, vm_name=vm, vm_id="",
                who=self.person.user, at=self.services.now(),
            )  # fmt: skip
            await self.store.statements.say(picked)
        return vm or name

    async def _card(self, incident: Incident, approval: Approval) -> None:
        """Have the card posted in the incident's thread, by the bot that serves."""
        rows = await self.store.messages.of(incident.id)
        parent = next((one for one in rows if one.purpose == PARENT and one.ts), None)
        if parent is not None:
            await self.store.messages.own(
                Message(
                    id=new_id(LONG),
                    incident_id=incident.id,
                    purpose=card(approval.id),
                    team=parent.team,
                    channel=parent.channel,
                    thread=parent.thread or parent.ts,
                    created_at=self.services.now(),
                )
            )

    async def _what_happens(self, approval: Approval) -> tuple[str, ...]:
        """Say who carries it out, or that nobody does."""
        plan = tuple(f"  {number}. {line}" for number, line in enumerate(plan_of(approval), 1))
        if self.settings.level < Level.ACT:
            return "Actions are off in the settings, so nothing is run. It would have:", *plan
        if await carried_out(self.settings, self.store):
            return "The bot that serves carries it out; nccl-dns show tells how it goes.", *plan
        return (
            "No bot serves now, so nothing is run yet: start nccl-dns serve, which carries it out.",
            *plan,
        )


@asynccontextmanager
async def at_counter(settings: Settings) -> AsyncIterator[Counter]:
    """Open what a command needs; raises UsageError for an account that nobody has mapped."""
    network = network_of(settings)
    policy = policy_of(settings)
    person, note = await person_of(settings, policy, network)
    async with build(settings, network=network) as services:
        if services.store is None:
            raise StoreError(" ".join(one for one in services.missing if "kept" in one))
        yield Counter(
            settings=settings, services=services, store=services.store, policy=policy,
            person=person, note=note,
        )  # fmt: skip
