"""From the store's rows to the values that views are made of. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from bot.chat.rules import Rules
from bot.diagnosis.redact import redact
from bot.hosts import repairs
from bot.hosts.model import Rung
from bot.incidents.approval import Approval, ApprovalState
from bot.incidents.incident import Incident, IncidentState
from bot.incidents.run import Run, RunState
from bot.incidents.statement import Kind, Statement
from bot.incidents.statements import latest
from bot.incidents.switches import Name, Switch
from bot.recovery.facts import MAY_GO
from bot.recovery.ladder import LADDER, Row
from bot.recovery.service import plan_of
from bot.recovery.steps.table import STEPS
from bot.recovery.told import data_status
from bot.reports.slack import values
from bot.reports.slack.standing import RESTARTS, finding_words, shown_state, standing
from bot.reports.slack.values import Choice, Consent, Decision, Stage
from bot.reports.times import has_zone, log_time
from bot.triage.contract import CheckV1, to_json
from bot.triage.model import Checked, Machine, OfferFacts

_STAGES = {
    IncidentState.OPEN: Stage.OPEN,
    IncidentState.CLOSED: Stage.RESOLVED,
    IncidentState.DISMISSED: Stage.DISMISSED,
}
_DECISIONS = {
    ApprovalState.OPEN: Decision.WAITING,
    ApprovalState.APPROVED: Decision.APPROVED,
    ApprovalState.DECLINED: Decision.DECLINED,
    ApprovalState.EXPIRED: Decision.EXPIRED,
    ApprovalState.VOIDED: Decision.VOIDED,
}
#: Characters of a text that is worth remembering.
_SHORT = 300
_NEVER = datetime.max.replace(tzinfo=UTC)


def kept(checked: Checked) -> Mapping[str, Any]:
    """Return a check as the store keeps it: the contract's JSON, without secrets."""
    return dict(_clean(json.loads(to_json(checked))))


def _clean(node: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    if isinstance(node, str):
        return _redacted(node) if len(node) <= _SHORT else redact(node).text
    if isinstance(node, list):
        return [_clean(one) for one in node]
    if isinstance(node, dict):
        return {name: _clean(value) for name, value in node.items()}
    return node


@lru_cache(maxsize=4096)
def _redacted(text: str) -> str:
    # machines and sentences about them come again with each check
    return redact(text).text


def checked_of(incident: Incident | None) -> Checked | None:
    """Return an incident's check; None where none was made, or it was forgotten for its age."""
    if incident is None or incident.check is None:
        return None
    return CheckV1.model_validate(incident.check).root


def incident_shown(
    incident: Incident, *, permalink: str = "", because: str = "", runs: Sequence[Run] = (),
    said: Sequence[Statement] = (),
) -> values.Incident:  # fmt: skip
    """Return an incident as views take it."""
    carried = [one for one in runs if one.state not in {RunState.WAITING, RunState.LEFT_OUT}]
    known = incident.cluster and incident.job_id
    headline = str(incident.check.get("headline", "")) if incident.check else ""
    reading = incident.check is None and incident.state is IncidentState.OPEN
    return values.Incident(
        id=incident.id,
        revision=incident.revision,
        stage=Stage.READING if reading else _STAGES[incident.state],
        job=f"{incident.cluster}:{incident.job_id}" if known else "",
        asked_by=incident.asked_by or "",
        asked_at=incident.opened_at,
        closed_by=incident.closed_by or "",
        closed_at=incident.closed_at,
        closed_because=because,
        headline=headline,
        channel=incident.channel or "",
        permalink=permalink,
        newest_line_at=_newest_line(incident),
        steps=tuple(map(_step, carried)),
        mended=_mended(incident, carried),
        data=_data(said),
        data_safe=data_status(said) in MAY_GO,
    )


_DATA = {
    Kind.BACKED_UP: "backed up in",
    Kind.NOTHING_TO_KEEP: "nothing to keep, in their words:",
    Kind.AT_RISK: "at risk:",
}


def _data(said: Sequence[Statement]) -> str:
    """Return the last word on the data of a VM; empty where none was said."""
    last = latest(said, *_DATA)
    if last is None:
        return ""
    return f"{last.vm_name}: {_DATA[last.kind]} {last.text or '(forgotten for its age)'}"


def _mended(incident: Incident, runs: Sequence[Run]) -> str:
    """Return the machine that the last step has mended, unless it was looked at since."""
    last = runs[-1] if runs else None
    if last is None or last.state is not RunState.PASSED or not STEPS[last.step].mutates:
        return ""
    looked_since = incident.checked_at and last.ended_at and incident.checked_at > last.ended_at
    return "" if looked_since else last.vm_name


def _newest_line(incident: Incident) -> datetime | None:
    """Return when the newest line of the log was written; None where its zone is not known."""
    found = (incident.check or {}).get("diagnosis") or {}
    told = str((found.get("log") or {}).get("last_time") or "")
    at = incident.checked_at
    return log_time(told, at) if at and has_zone(told) else None


def vms_of(checked: Checked) -> tuple[Choice, ...]:
    """Return the machines of a job, for a person to pick from."""
    nodes = checked.job.nodes if checked.job else tuple(one.host for one in checked.machines)
    ranks = {one.host: one.ranks for one in checked.machines}
    return tuple(
        Choice(id=host, label=host, note=f"ranks {', '.join(map(str, held))}")
        if (held := ranks.get(host))
        else Choice(id=host, label=host)
        for host in nodes
    )


def accused(checked: Checked) -> Machine | None:
    """Return the machine that a report is about, if there is one."""
    stands = standing(checked)
    return next(iter(stands.accused), None)


def mildest(one: Machine) -> OfferFacts | None:
    """Return the mildest restart that the evidence allows."""
    offered = {each.rung: each for each in one.offers if each.offered}
    return next((offered[rung] for rung in RESTARTS if rung in offered), None)


def switch_shown(switch: Switch) -> values.Stopped:
    """Return a switch as views take it."""
    what = "Paused" if switch.name is Name.PAUSE else "The breaker is open"
    return values.Stopped(
        what=what, by=switch.who or "", at=switch.at, why=switch.reason, over=not switch.on
    )


def approval_shown(
    approval: Approval,
    checked: Checked | None,
    rules: Rules,
    runs: Sequence[Run] = (),
    stopped: Sequence[Switch] = (),
) -> values.Approval:
    """Return an approval as its card takes it."""
    approved = approval.state is ApprovalState.APPROVED and approval.decided_by
    return values.Approval(
        id=approval.id,
        revision=approval.revision,
        incident=approval.incident_id,
        what=" Then: ".join(map(_what, approval.chain)),
        vm=approval.vm_name,
        vm_id=approval.vm_id,
        loses=tuple(filter(None, map(_loses, approval.chain))),
        plan=plan_of(approval) or plan(approval),
        rests_on=_rests_on(approval, checked),
        asked_by=approval.proposed_by or "",
        asked_at=approval.proposed_at,
        may_decide=rules.policy.deciders(approval.chain),
        needed=approval.needs,
        consents=tuple(
            Consent(by=by, at=at)
            for by, at in (
                (approval.first_by, approval.first_at),
                (approval.decided_by if approved else None, approval.decided_at),
            )
            if by and at
        ),
        expires_at=approval.expires_at or _NEVER,
        decision=_DECISIONS[approval.state],
        decided_by=approval.decided_by or "",
        decided_at=approval.decided_at,
        because=approval.reason or "",
        steps=tuple(map(_step, runs)),
        stopped=tuple(map(switch_shown, stopped)),
    )


def _row(step: str) -> Row | None:
    return next((one for one in LADDER if one.rung == step), None)


def _what(step: str) -> str:
    row = _row(step)
    return row.what if row else f"{STEPS[step].title}."


def _loses(step: str) -> str:
    row = _row(step)
    return row.loses if row and not row.loses.startswith("nothing") else ""


def _step(run: Run) -> values.Step:
    return values.Step(
        what=STEPS[run.step].title,
        state=values.Standing(run.state.value),
        said=run.sentence,
        done=run.done,
        total=run.total,
        unit=run.unit,
        began_at=run.started_at,
        ended_at=run.ended_at,
    )


def proof_shown(run: Run) -> values.Proven:
    """Return how a step ended, as its reply takes it."""
    return values.Proven(
        id=run.id, incident=run.incident_id, revision=run.revision, vm=run.vm_name,
        step=_step(run), outputs=dict(run.proof),
    )  # fmt: skip


def plan(approval: Approval) -> tuple[str, ...]:
    """Return what a step does, command by command, in order."""
    if approval.step in {Rung.RESTART_RESOLVER, Rung.REBOOT}:
        repair = next(one for one in repairs.REPAIRS if one.rung == approval.step)
        return (
            f"Prove that {approval.vm_name} is VM {approval.vm_id or 'of that name'}, or stop.",
            *(f"On {approval.vm_name}: {' '.join(one.argv)}" for one in repair.commands),
            f"Probe again: {', '.join(one.name for one in repair.shown_by)}.",
        )
    row = next(one for one in LADDER if one.rung == approval.step)
    return (row.what, "Probe again.")


def _rests_on(approval: Approval, checked: Checked | None) -> tuple[str, ...]:
    one = next(
        (each for each in (checked.machines if checked else ()) if _name(each) == approval.vm_name),
        None,
    )
    if one is None:
        return ()
    found = tuple(f"{finding_words(each.finding)}: {each.why}" for each in one.findings)
    if one.vm is None:
        return found
    state = f"API state {shown_state(one.vm.raw_state)}, read {one.vm.read_at:%H:%M:%S} UTC"
    return (*found, state)


def _name(one: Machine) -> str:
    return one.vm.name if one.vm else one.host
