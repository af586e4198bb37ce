"""Carry out an approved chain: each step is checked against the world, done, and proven.

Everything here may run again after a crash, on another replica: what was kept is not done again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from bot.errors import BotError
from bot.hosts.model import Rung
from bot.incidents.approval import Approval, ApprovalState
from bot.incidents.run import Run, RunState, cut, run_id
from bot.recovery.breaker import closed_at, common_cause, opened, stale
from bot.recovery.doing import Doing, Tools
from bot.recovery.engine.port import Durable
from bot.recovery.errors import (
    ActionError,
    OutcomeUnknownStepError,
    RefusedStepError,
    StepFailedError,
)
from bot.recovery.facts import Limits
from bot.recovery.ladder import offers
from bot.recovery.limits import Blast, breaks, too_much
from bot.recovery.steps.step import Ended, Step
from bot.recovery.steps.table import STEPS
from bot.recovery.world import (
    MEANT_TO_CHANGE,
    Scene,
    Seen,
    Shown,
    Verdict,
    differences,
    parts,
)

_LATELY = timedelta(hours=1)
_ENDS: Mapping[type[ActionError], RunState] = {
    RefusedStepError: RunState.REFUSED,
    StepFailedError: RunState.FAILED,
    OutcomeUnknownStepError: RunState.UNKNOWN,
}
_VERDICTS = {
    Verdict.PASSED: RunState.PASSED,
    Verdict.FAILED: RunState.FAILED,
    Verdict.UNKNOWN: RunState.UNKNOWN,
}


@dataclass(frozen=True, kw_only=True)
class Carrier:
    """Carries out chains with the tools, steps and limits that it was given."""

    tools: Tools
    steps: Mapping[str, Step] = field(default_factory=lambda: STEPS)
    limits: Limits = field(default_factory=Limits)
    blast: Blast = field(default_factory=Blast)

    async def carry(self, durable: Durable, approval_id: str) -> None:
        """Carry out the chain of an approval, to a stated outcome of each of its steps."""
        chain = await durable.once("chain", lambda: self._chain(approval_id))
        last: Doing | None = None
        stopped = False
        for number, name in enumerate(chain):
            if stopped:
                part = partial(self._leave_out, approval_id, number)
                await durable.once(f"{number}.left_out", part)
                continue
            last = await self._one(durable, approval_id, number, name)
            stopped = last is None
        if last is not None and self.steps[chain[-1]].mutates:
            await self._watch(last)

    async def _watch(self, doing: Doing) -> None:
        """Prove a repair again some times after it passed: what was mended may fail again."""
        before = timedelta()
        for number, after in enumerate(self.tools.waits.again):
            await doing.durable.sleep(after - before)
            before = after
            part = partial(self._proven_again, doing, after)
            await doing.durable.once(f"{doing.number}.again.{number}", part)

    async def _proven_again(self, doing: Doing, after: timedelta) -> str:
        try:
            shown = await self.tools.world.prove(doing.scene)
        except BotError as error:
            shown = Shown(verdict=Verdict.UNKNOWN, why=str(error))
        minutes = after.total_seconds() / 60
        words = {Verdict.PASSED: "still well", Verdict.FAILED: "it FAILS AGAIN"}
        said = f"After {minutes:g} min: {words.get(shown.verdict, 'not known')}. {shown.why}"
        store, now = self.tools.store, self.tools.now()
        await store.step_runs.add(doing.run, said, at=now)
        if shown.verdict is Verdict.FAILED:
            why = f"{doing.scene.vm_name} failed again after it was repaired."
            await opened(store, why, now)
        return said

    async def _chain(self, approval_id: str) -> list[str]:
        """Return the steps of an approval that stands, each with its run; none of any other."""
        approval = await self.tools.store.approvals.get(approval_id)
        if approval is None or approval.state is not ApprovalState.APPROVED:
            return []
        for number, name in enumerate(approval.chain):
            await self.tools.store.step_runs.begin(_run(approval, number, name))
        return list(approval.chain)

    async def _leave_out(self, approval_id: str, number: int) -> None:
        why = "A step before it did not pass, and no step follows another by itself."
        await self._move(approval_id, number, RunState.LEFT_OUT, sentence=why)

    async def _one(
        self, durable: Durable, approval_id: str, number: int, name: str
    ) -> Doing | None:
        """Carry out one step; None where it did not pass."""
        step = self.steps[name]
        checked = await durable.once(
            f"{number}.check", lambda: self._checked(approval_id, number, step)
        )
        if checked.get("refused"):
            return None
        scene = Scene(**{**checked["scene"], "public_ips": tuple(checked["scene"]["public_ips"])})
        doing = Doing(
            tools=self.tools, durable=durable, approval_id=approval_id, number=number, scene=scene
        )
        ended, state = await self._ended(doing, step)
        await durable.once(f"{number}.end", lambda: self._end(doing, step, state, ended))
        return doing if state is RunState.PASSED else None

    async def _ended(self, doing: Doing, step: Step) -> tuple[Ended, RunState]:
        try:
            acted = await step.act(doing)
            await doing.once("verifying", lambda: self._verifying(doing))
            ended = await step.verify(doing, acted)
        except ActionError as error:
            state = _ENDS.get(type(error), RunState.FAILED)
            return Ended(verdict=Verdict.UNKNOWN, why=str(error)), state
        return ended, _VERDICTS[ended.verdict]

    async def _verifying(self, doing: Doing) -> None:
        await self._move(doing.approval_id, doing.number, RunState.VERIFYING)

    # -- before

    async def _checked(self, approval_id: str, number: int, step: Step) -> dict[str, Any]:
        """Read the world again and return the scene, or keep why nothing is done."""
        await self._move(approval_id, number, RunState.CHECKING, sentence="Looking again first.")
        try:
            scene = await self._scene(approval_id, number, step)
        except BotError as error:
            why = f"{error} Nothing was done."
            await self._move(approval_id, number, RunState.REFUSED, sentence=cut(why))
            return {"refused": why}
        await self._move(approval_id, number, RunState.ACTING, sentence="Begun.")
        return {"scene": asdict(scene)}

    async def _scene(self, approval_id: str, number: int, step: Step) -> Scene:
        store, now = self.tools.store, self.tools.now()
        approval = await store.approvals.get(approval_id)
        run = await store.step_runs.get(run_id(approval_id, number))
        if approval is None or run is None or approval.state is not ApprovalState.APPROVED:
            raise RefusedStepError("It is not approved any more.")
        if step.mutates:
            if why := await self.tools.shut():
                raise RefusedStepError(why)
            lately = await store.step_runs.since(now - _LATELY)
            others = {one.id: one for one in (*lately, *await store.step_runs.under_way())}
            mutating = [one for one in others.values() if self._mutates(one)]
            if why := too_much(run, mutating, self.blast, now):
                raise RefusedStepError(why)
            await self._refuse_broken(await common_cause(store, self.blast, now))
        if why := await self._busy(run):
            raise RefusedStepError(why)
        seen = await self.tools.world.look(approval.incident_id, approval.vm_name)
        if step.mutates:
            why = await stale(store, self.tools.world, seen.scene, self.blast, self.tools.now())
            await self._refuse_broken(why)
        self._refuse_changed(approval, number, step, seen)
        return seen.scene

    async def _refuse_broken(self, why: str) -> None:
        """Open the breaker where something speaks against any step at all."""
        if why:
            await opened(self.tools.store, why, self.tools.now())
            raise RefusedStepError(f"{why} The breaker is open now.")

    async def _busy(self, run: Run) -> str:
        """Say which other chain is at work on the VM: a restart would end a backup."""
        for one in await self.tools.store.step_runs.under_way():
            if one.vm_name == run.vm_name and one.approval_id != run.approval_id:
                title = self.steps[one.step].title if one.step in self.steps else one.step
                return f"{title} is under way on {run.vm_name}; wait for it, or stop it first."
        return ""

    def _refuse_changed(self, approval: Approval, number: int, step: Step, seen: Seen) -> None:
        """Hold what is seen now against what was approved, and ask the ladder anew."""
        left_out = (MEANT_TO_CHANGE if number else frozenset()) | step.unbound
        changed = differences(approval.seen, parts(seen, step.name), left_out=left_out | {"step"})
        if changed:
            raise RefusedStepError(f"The world has changed since it was asked for: {changed[0]}.")
        if not step.mutates or step.name not in set(Rung):
            return
        offer = offers(seen.facts, self.limits)[Rung(step.name)]
        if not offer.offered:
            raise RefusedStepError(" ".join(offer.why))

    def _mutates(self, run: Run) -> bool:
        step = self.steps.get(run.step)
        return step is None or step.mutates

    # -- after

    async def _end(self, doing: Doing, step: Step, state: RunState, ended: Ended) -> str:
        run = await self._move(
            doing.approval_id, doing.number, state,
            sentence=cut(ended.why), proof=ended.proof, result=ended.result,
        )  # fmt: skip
        if step.mutates:
            await self._break(run)
        return run.state

    async def _break(self, run: Run) -> None:
        store, now = self.tools.store, self.tools.now()
        since = max(filter(None, (now - _LATELY, await closed_at(store))))
        lately = [one for one in await store.step_runs.since(since) if self._mutates(one)]
        if why := breaks(run, lately, self.blast):
            await opened(store, why, now)

    async def _move(self, approval_id: str, number: int, state: RunState, **changes: object) -> Run:
        return await self.tools.store.step_runs.move(
            run_id(approval_id, number), state, at=self.tools.now(), **changes
        )


def _run(approval: Approval, number: int, name: str) -> Run:
    return Run(
        id=run_id(approval.id, number),
        approval_id=approval.id,
        incident_id=approval.incident_id,
        number=number,
        step=name,
        vm_id=approval.vm_id,
        vm_name=approval.vm_name,
    )


def dry(scene: Scene, chain: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a chain would do, call by call; runs nothing."""
    return tuple(line for name in chain for line in STEPS[name].plan(scene))
