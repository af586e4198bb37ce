"""Check a job or a log: one function that reads from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.clouds.model import VmState
from bot.errors import UsageError
from bot.fleet.kubernetes import names_of
from bot.fleet.placement import Placement
from bot.hosts.view import ClusterDns, Window
from bot.schedulers import excerpts, placing
from bot.schedulers.errors import SchedulerError
from bot.schedulers.model import FAILED_STATES, Job, JobLogs
from bot.triage import advice, asking, inventory, jobs, machines, narrowing, reading
from bot.triage.case import Asked, Case, Looked
from bot.triage.headline import OVER, headline
from bot.triage.model import Checked, JobFacts, LogRead, Machine
from bot.triage.services import Services, Watched
from bot.triage.suspects import Suspect, agreed, launch_of, place, suspects

#: Machines that are looked at in full; more are listed, and a pre-flight looks at all.
_MOST_LOOKED_AT = 8

_UNCONFIRMED = (
    "Only the log names it, so it was not asked: give the job's ID, or name the machine with --vm."
)

Tell = Callable[[str], None]


async def check(services: Services, asked: Asked, tell: Tell = lambda _: None) -> Checked:
    """Say which machine is at fault, in what state its VM is and why its names do not resolve.

    `tell` hears what is being done. A source that does not answer is a note, not an error; raises
    UsageError where nothing was asked for, and the scheduler's error where nobody knows the job.
    """
    return (await examine(services, asked, tell))[0]


async def examine(
    services: Services, asked: Asked, tell: Tell = lambda _: None
) -> tuple[Checked, Case]:
    """Check as `check` does, and return also everything that the answer was made of."""
    if asked.job is None and not asked.logs and not asked.named:
        message = "Give a job ID, a log or --vm: nccl-dns check 48213, nccl-dns check job.log"
        raise UsageError(message)
    case = await _case(services, asked, tell)
    case.told = asked.told
    await _read(case, asked, tell)
    found = suspects(
        case.diagnosis, case.placement, asked.named, case.node_of, failed=_failed(case)
    )
    looked_at, left = found[:_MOST_LOOKED_AT], found[_MOST_LOOKED_AT:]
    if left:
        names = ", ".join(one.host for one in left[:5])
        case.notes.append(f"{len(left)} more machines are accused and were not asked ({names}, …).")
    told, compared = await _look(case, asked, looked_at, tell)
    job = _job_facts(case)
    sentence, confidence = headline(told, case.diagnosis, job)
    checked = Checked(
        headline=sentence,
        confidence=confidence,
        wrong=_wrong(case, told),
        level=services.level,
        missing=services.notes,
        job=job,
        logs=_logs_read(case.logs),
        diagnosis=case.diagnosis,
        machines=told,
        compared_with=compared,
        notes=tuple(dict.fromkeys((*case.notes, *_quarrels(case.placement)))),
    )
    return checked, case


async def _case(services: Services, asked: Asked, tell: Tell) -> Case:
    """Find the job, its logs and where its ranks run."""
    if asked.job is None:
        hosts = asked.launch.hosts if asked.launch else ()
        return Case(
            services=services, cluster=_only_cluster(services), placement=Placement(hosts=hosts)
        )
    tell(f"asking the scheduler for {asked.job}")
    found = await jobs.find(services, asked.job, with_logs=not asked.logs)
    placement, problems = place(found.job)
    return Case(
        services=services,
        cluster=found.cluster,
        job=found.job,
        known_from=found.known_from,
        logs=found.logs,
        placement=placement,
        listed=frozenset({*placement.hosts, *found.job.nodes, *names_of(found.job.pods).values()}),
        notes=[*found.notes, *problems],
    )


def _only_cluster(services: Services) -> Watched | None:
    """Return the cluster that a log without a job must be of, where there is but one."""
    return next(iter(services.clusters.values())) if len(services.clusters) == 1 else None


async def _read(case: Case, asked: Asked, tell: Tell) -> None:
    """Read the logs, beside the event loop, and let them correct where the ranks run."""
    sources = list(asked.logs) or excerpts.sources(case.logs)
    if not sources:
        return
    tell("reading the log")
    found = await reading.read(
        case.services.aside,
        sources,
        launch=asked.launch or launch_of(case.placement),
        believe_names=asked.believe_names,
        on_bytes=asked.on_bytes,
    )
    case.diagnosis = found if asked.logs else excerpts.renumbered(found, case.logs)
    together = placing.ranks_together(case.job) if case.job else None
    case.placement = agreed(case.placement, case.diagnosis, together, case.node_of)


async def _look(
    case: Case, asked: Asked, found: Sequence[Suspect], tell: Tell
) -> tuple[tuple[Machine, ...], Machine | None]:
    """Look at the accused machines and at a healthy one, at cloud, scheduler and SSH."""
    names = [one.host for one in found]
    hosts = tuple(dict.fromkeys([*case.placement.hosts, *names]))
    if not hosts:
        return (), None
    tell(f"asking about {len(hosts)} machines")
    case.fleet = await inventory.gather(case.cluster, case.cloud, case.job, hosts)
    case.notes += case.fleet.notes
    case.dns = await _cluster_dns(case)
    _ask(case, hosts)
    if not found and narrowing.is_needed(case):
        tell(f"asking each of {len(case.placement.hosts)} machines, since the log names none")
        found = (await narrowing.narrowed(case))[:_MOST_LOOKED_AT]
        names = [one.host for one in found]
    if case.job is None and not asked.named:
        # a paste is a claim: it names suspects, but nobody is disturbed on its word alone
        told = tuple(advice.machine(case, one, Looked(problem=_UNCONFIRMED)) for one in found)
        return told, None
    strange = {one.host: why for one in found if (why := _strange(case, one))}
    names = [name for name in names if name not in strange]
    if names:
        tell(f"probing {', '.join(names[:3])}")
    others = machines.others_of(case.placement.hosts, names) if names else ()
    looked, peer = await machines.compare(case, names, others, _window(case.job))
    looked |= {host: Looked(problem=why) for host, why in strange.items()}
    case.looked = dict(looked)
    case.peer = peer[1] if peer else None
    case.amiss = frozenset(
        host for host, one in looked.items() if one.judgement is not None and one.judgement.amiss
    )
    told = tuple(advice.machine(case, one, looked.get(one.host)) for one in found)
    if peer is None:
        return told, None
    healthy = Suspect(host=peer[0], known="launch", because="compared with")
    return told, advice.machine(case, healthy, peer[1])


async def _cluster_dns(case: Case) -> ClusterDns | None:
    """Return what Kubernetes says of its own DNS, which no machine can tell."""
    if case.job is None or case.cluster is None or case.cluster.scheduler is None:
        return None
    try:
        return await case.cluster.scheduler.cluster_dns(case.job)
    except SchedulerError as error:
        case.notes.append(f"The cluster's DNS was not asked about: {error}")
        return None


def _strange(case: Case, one: Suspect) -> str:
    """Say why an accused machine is not asked; a person may name any."""
    return "" if one.known == "asked" else case.strange(one.host)


def _ask(case: Case, hosts: Sequence[str]) -> None:
    """Settle what the machines are asked."""
    addresses = {host: where for host in hosts if (where := case.fleet.address(host))}
    set_domain = case.cluster.domain if case.cluster else ""
    domain = set_domain or asking.domain_of(case.diagnosis, hosts)
    case.question, refused = asking.question(
        case.diagnosis, case.placement.hosts, addresses, domain
    )
    case.notes += refused


def _window(job: Job | None) -> Window | None:
    """Return when the job ran, which is when its failure was."""
    if job is None or job.started_at is None:
        return None
    return Window(start=job.started_at, end=job.ended_at or Services.now())


def _wrong(case: Case, told: Sequence[Machine]) -> bool:
    """Tell whether the log, the scheduler, the cloud or a machine says that something is wrong."""
    failed = case.diagnosis is not None and case.diagnosis.severity == "failure"
    return failed or _failed(case) or any(_is_wrong(case, one) for one in told)


def _failed(case: Case) -> bool:
    return case.job is not None and case.job.state in FAILED_STATES


def _is_wrong(case: Case, one: Machine) -> bool:
    found = any(each.finding not in OVER for each in one.findings)
    stopped = one.vm is not None and one.vm.state is not VmState.RUNNING
    return found or stopped or bool(one.vm_problem) or one.host in case.amiss


def _job_facts(case: Case) -> JobFacts | None:
    job = case.job
    if job is None:
        return None
    return JobFacts(
        id=job.label,
        cluster=job.cluster,
        state=job.raw_state,
        name=job.name,
        user=job.user,
        nodes=case.placement.hosts or job.nodes,
        known_from=case.known_from,
        started_at=job.started_at,
        ended_at=job.ended_at,
    )


def _logs_read(logs: JobLogs) -> tuple[LogRead, ...]:
    return tuple(
        LogRead(
            path=file.path,
            reading=file.reading.value,
            because=file.because,
            host=file.host,
            size_bytes=file.size_bytes,
            cut=file.cut,
        )
        for file in logs.files
    )


def _quarrels(placement: Placement) -> tuple[str, ...]:
    return tuple(f"{one.sentence}; the log counts." for one in placement.disagreements)
