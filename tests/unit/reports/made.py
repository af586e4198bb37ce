"""Values to be shown; every foreign text of them can be replaced by another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.clouds.model import VmState
from bot.diagnosis.kinds import Cause
from bot.diagnosis.result import AffectedMachine, Diagnosis, Evidence, LogFacts
from bot.reports.slack.approvals import asked, card, decided_already, dry_run, may_not_decide
from bot.reports.slack.home import closed_to, home
from bot.reports.slack.message import Message, View
from bot.reports.slack.modals import paste, wrong_vm
from bot.reports.slack.notices import (
    Problem,
    error,
    help_text,
    invite,
    linked,
    refused,
    secret_found,
)
from bot.reports.slack.placeholder import placeholder
from bot.reports.slack.replies import evidence, probes, summary
from bot.reports.slack.report import report
from bot.reports.slack.values import (
    Action,
    Approval,
    Choice,
    Consent,
    Decision,
    Entry,
    Incident,
    Link,
    Links,
    Progress,
    Refusal,
    Source,
    Stage,
    Waiting,
)
from bot.triage.model import (
    Checked,
    FindingFacts,
    JobFacts,
    LogRead,
    Machine,
    OfferFacts,
    Probed,
    VmFacts,
)

NOW = datetime(2026, 11, 30, 3, 15, 0, tzinfo=UTC)
ASKED = NOW - timedelta(seconds=40)
ALICE, BOB, ONCALL = "U024BE7LH", "U0G9QF9C6", "S0614TZR7"
CONSOLE = "https://console.example/vms/c55f8b50"
JOB_PAGE = "https://slurm.example/jobs/48213"
RUNBOOK = "https://article.example/runbook"
THREAD = "https://team.slack.com/archives/C024BE91L/p1732936500000100"
#: Every address that a view may link to.
ADDRESSES = frozenset({CONSOLE, JOB_PAGE, RUNBOOK, THREAD})
LINKS = Links(console=CONSOLE, job=JOB_PAGE, resources=(Link(label="Runbook", url=RUNBOOK),))

#: Given a field's name and its usual text, returns the text to be shown.
Text = Callable[[str, str], str]


def usual(_field: str, text: str) -> str:
    """Return the usual text."""
    return text


def finding(
    name: str = "resolver_failed", *, fleet_wide: bool = False, text: Text = usual
) -> FindingFacts:
    """Return one finding."""
    return FindingFacts(
        finding=name,
        why=text("finding.why", "systemd-resolved has failed: killed by a signal."),
        advice=text("finding.advice", "The resolver has failed; restarting it is usually enough."),
        helps=("restart_resolver", "reboot"),
        cannot_help=("support",),
        fleet_wide=fleet_wide,
    )


def offer(rung: str, number: int | None, *, offered: bool, text: Text = usual) -> OfferFacts:
    """Return one rung as the ladder answers."""
    return OfferFacts(
        rung=rung,
        number=number,
        what=text("offer.what", "Restart systemd-resolved in the guest."),
        loses=text("offer.loses", "nothing"),
        offered=offered,
        why=(text("offer.why", "The resolver of this machine has failed."),),
    )


def machine(host: str = "gpu-8", *, text: Text = usual, **changes: Any) -> Machine:  # noqa: ANN401
    """Return one machine: eight ranks, running, its resolver failed, rung 1 offered."""
    made = Machine(
        host=text("machine.host", host),
        ranks=(64,),
        known_from="log",
        because=text("machine.because", "its look-ups fail and do not recover"),
        vm=VmFacts(
            id=text("vm.id", "c55f8b50-9587-5256-956e-a5ea712bb374"),
            name=text("vm.name", host),
            type=text("vm.type", "h100-80gb-sxm-ib.8x"),
            location=text("vm.location", "us-east1-a"),
            project="hall",
            state=VmState.RUNNING,
            raw_state=text("vm.raw_state", "STATE_RUNNING"),
            private_ips=("10.20.1.12",),
            read_at=NOW - timedelta(seconds=8),
            matched_by=("name",),
        ),
        vm_problem="",
        probed=Probed(
            at=NOW - timedelta(seconds=5),
            failure=None,
            detail=text("probed.detail", "sudo took 300 ms"),
            login_ms=120,
            shell_ms=20,
            helper_ms=10,
            host_key_on_first_use=False,
            names=(text("probed.name", "gpu-0.fleet.internal"),),
        ),
        findings=(finding(text=text),),
        untold="",
        offers=(offer("restart_resolver", 1, offered=True, text=text),),
        held="",
    )
    return replace(made, **changes)


def diagnosis(*, text: Text = usual, **changes: Any) -> Diagnosis:  # noqa: ANN401
    """Return a diagnosis: rank 64 of 256 cannot resolve its peer."""
    file = text("evidence.file", "/shared/48213.err")
    made = Diagnosis(
        cause=Cause.RESOLVER_FAILED,
        confidence="high",
        severity="failure",
        affected=(
            AffectedMachine(
                host=text("machine.host", "gpu-8"),
                ranks=(64,),
                node_rank=8,
                because="its look-ups fail",
                known_from="log",
            ),
        ),
        peers=(),
        world_size=256,
        clients_joined=248,
        timeout_seconds=None,
        silent_ranks=(),
        restart_may_help=True,
        summary=text("summary", "Name resolution has failed on gpu-8."),
        next_steps=(text("next step", "Check the state of gpu-8 in the console."),),
        evidence=(
            Evidence(file=file, line=1204, text=text("evidence.text", "gai error: -3")),
            Evidence(file=file, line=17, text="[c10d] The IPv6 network addresses of …"),
        ),
        log=LogFacts(
            lines=2000,
            bytes=90_000,
            matched=7,
            first_time=None,
            last_time="2026-11-30T03:10:07.577",
        ),
    )
    return replace(made, **changes)


def checked(*, text: Text = usual, **changes: Any) -> Checked:  # noqa: ANN401
    """Return a check of job 48213: gpu-8 is at fault, gpu-3 is healthy."""
    made = Checked(
        headline=text("headline", "gpu-8 (rank 64): resolver failed."),
        confidence="high",
        wrong=True,
        level=2,
        missing=(text("missing", "No cloud key: VM states are not read."),),
        job=JobFacts(
            id="48213",
            cluster="hall",
            state=text("job.state", "FAILED"),
            name=text("job.name", "pretrain"),
            user=text("job.user", "alice"),
            nodes=("gpu-8", "gpu-3"),
            known_from="controller",
            started_at=None,
            ended_at=None,
        ),
        logs=(
            LogRead(
                path=text("log.path", "/shared/48213.err"),
                reading="unreadable",
                because=text("log.because", "permission denied"),
                host=text("log.host", "gpu-0"),
                size_bytes=0,
                cut=False,
            ),
        ),
        diagnosis=diagnosis(text=text),
        machines=(machine(text=text),),
        compared_with=machine("gpu-3", findings=(finding("healthy_now"),), offers=()),
        notes=(),
    )
    return replace(made, **changes)


def guessed(*, text: Text = usual) -> Checked:
    """Return a check whose placement is a guess."""
    return checked(text=text, machines=(machine(text=text, known_from="guess", offers=()),))


def harmless(*, text: Text = usual) -> Checked:
    """Return a check of warnings that came to nothing."""
    found = diagnosis(text=text, cause=Cause.HARMLESS_WARNING, severity="warning")
    return checked(text=text, wrong=False, diagnosis=found, machines=(), compared_with=None)


def incident(*, text: Text = usual, **changes: Any) -> Incident:  # noqa: ANN401
    """Return an incident that Alice asked about."""
    made = Incident(
        id="inc_01JDY",
        revision=3,
        job=text("incident.job", "hall:48213"),
        asked_by=ALICE,
        asked_at=ASKED,
        headline=text("incident.headline", "gpu-8: resolver failed"),
        channel="C024BE91L",
        permalink=THREAD,
    )
    return replace(made, **changes)


def closed(*, text: Text = usual) -> Incident:
    """Return an incident that Bob dismissed."""
    return incident(
        text=text,
        stage=Stage.DISMISSED,
        closed_by=BOB,
        closed_at=NOW,
        closed_because=text("closed_because", "the job was a test"),
    )


def approval(*, text: Text = usual, **changes: Any) -> Approval:  # noqa: ANN401
    """Return an approval that waits."""
    made = Approval(
        id="apr_01JDZ",
        revision=2,
        incident="inc_01JDY",
        what=text("approval.what", "Reboot inside the guest."),
        vm=text("approval.vm", "gpu-8"),
        vm_id=text("approval.vm_id", "c55f8b50-9587-5256-956e-a5ea712bb374"),
        loses=(text("approval.loses", "what is in memory and in tmpfs"),),
        plan=(text("approval.plan", "Drain gpu-8 with our reason."), "Reboot it."),
        rests_on=(text("approval.rests_on", "resolver failed, probed 5 s ago"),),
        asked_by=ALICE,
        asked_at=ASKED,
        may_decide=(BOB, ONCALL),
        expires_at=NOW + timedelta(minutes=29),
    )
    return replace(made, **changes)


def decided(decision: Decision, *, text: Text = usual) -> Approval:
    """Return an approval that was decided, or that ran out."""
    return approval(
        text=text,
        decision=decision,
        decided_by=BOB,
        decided_at=NOW,
        because=text("approval.because", "The state was RUNNING and is ERROR."),
        consents=(Consent(by=BOB, at=NOW),) if decision is Decision.APPROVED else (),
    )


def choices(count: int, *, text: Text = usual) -> tuple[Choice, ...]:
    """Return VMs to pick from."""
    made = [
        Choice(id=f"vm-{n}", label=f"gpu-{n:04}", note=f"ranks {8 * n}-{8 * n + 7}")
        for n in range(count)
    ]
    if made:
        label, note = text("choice.label", made[0].label), text("choice.note", made[0].note)
        made[0] = replace(made[0], label=label, note=note)
    return tuple(made)


def sources(*, text: Text = usual) -> tuple[Source, ...]:
    """Return sources in every progress."""
    return tuple(
        Source(
            name=text(f"source.{progress}", f"{progress} source"),
            progress=progress,
            said=text(f"said.{progress}", "2,000 lines")
            if progress is not Progress.PENDING
            else "",
        )
        for progress in Progress
    )


def entries(*, text: Text = usual) -> tuple[Entry, ...]:
    """Return a timeline."""
    return (
        Entry(at=ASKED, what="asked", by=ALICE),
        Entry(at=NOW, what=text("entry.what", "report shown")),
    )


def views(text: Text = usual) -> Mapping[str, Message | View]:
    """Return every view, in every state, made of the texts that are given."""
    from tests.unit.reports.made_backups import backups  # made of these values
    from tests.unit.reports.made_restarts import restarts
    from tests.unit.reports.made_threads import threads

    one, seen = incident(text=text), checked(text=text)
    made: dict[str, Message | View] = {
        "report": report(seen, one, now=NOW, links=LINKS),
        "report of a guess": report(guessed(text=text), one, now=NOW, vms=choices(4, text=text)),
        "report, harmless": report(harmless(text=text), one, now=NOW, links=LINKS),
        "report, dismissed": report(seen, closed(text=text), now=NOW),
        "placeholder": placeholder(one, sources(text=text), now=NOW),
        "placeholder as cards": placeholder(one, sources(text=text), now=NOW, cards=True),
        "evidence": evidence(seen, one),
        "probes": probes(seen, one, now=NOW),
        "summary": summary(
            one, entries(text=text), outcome=text("outcome", "The resolver runs again."), now=NOW
        ),
        "asked": asked(approval(text=text), ALICE, now=NOW),
        "may not decide": may_not_decide(approval(text=text)),
        "decided already": decided_already(decided(Decision.APPROVED, text=text), now=NOW),
        "dry run": dry_run(
            decided(Decision.APPROVED, text=text), why=text("why", "Actions are off."), now=NOW
        ),
        "error": error(
            Problem(
                failed=text("failed", "The cloud does not answer."),
                not_done=text("not done", "No state was read."),
                next_step=text("next", "Try again."),
            )
        ),
        "refused": refused(
            Refusal(
                action=Action.RESTART,
                reasons=(text("reason", "A peer fails the same way."),),
                instead=text("instead", "Mend the name server."),
            ),
            LINKS,
        ),
        "linked": linked(one),
        "secret": secret_found({"aws-key": 2}, THREAD),
        "invite": invite("/nccl-dns", "nccl-dns"),
        "help": help_text("/nccl-dns", "nccl-dns", with_stats=True),
        "paste": paste(back_to="C024BE91L", recent=choices(3, text=text), problem=text("p", "")),
        "wrong vm": wrong_vm(
            one, choices(3, text=text), current=text("current", "gpu-8"), problem=text("p", "")
        ),
        "home of a guest": closed_to(text("why", "You are a guest of the workspace.")),
        "home": home(
            waiting=(Waiting(approval=approval(text=text), permalink=THREAD),),
            opened=(one,),
            recent=(closed(text=text),),
            now=NOW,
        ),
    }
    made |= threads(text=text)
    made |= backups(text=text)
    made |= restarts(text=text)
    for decision in Decision:
        made[f"approval, {decision}"] = card(decided(decision, text=text), now=NOW)
    return made
