"""The port, spoken to a Kubernetes cluster: one account that reads, another that changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bot.hosts.view import ClusterDns
from bot.schedulers.about import About
from bot.schedulers.errors import (
    AccessError,
    JobIdError,
    NeedsWayError,
    SchedulerError,
    UnknownJobError,
    UnknownNodeError,
)
from bot.schedulers.kubernetes import calls, dns, switches
from bot.schedulers.kubernetes.capture import Kept, followed
from bot.schedulers.kubernetes.errors import NotThereError
from bot.schedulers.kubernetes.kinds import KINDS
from bot.schedulers.kubernetes.logs import read_all, wanted
from bot.schedulers.kubernetes.lookup import Found, Lookup
from bot.schedulers.kubernetes.managed import Seat, seat_of, workers
from bot.schedulers.kubernetes.nodes import by_node, node_of
from bot.schedulers.kubernetes.rbac import DNS_NAMESPACE
from bot.schedulers.kubernetes.server import ApiServer
from bot.schedulers.kubernetes.shapes import Raw, is_name, name
from bot.schedulers.kubernetes.states import job_of
from bot.schedulers.model import FAILED_STATES, Job, JobId, JobLogs, Limits, Node
from bot.schedulers.model import Kind as SchedulerKind
from bot.schedulers.port import Operation, Scheduler
from bot.schedulers.select import started

#: As `ways` names it.
_WAY = "the API server"
_CHANGES = frozenset(
    {Operation.DRAIN, Operation.RESUME, Operation.HOLD, Operation.CANCEL, Operation.REQUEUE}
)
#: Nodes that are asked for one by one; for more the whole list is taken.
_FEW_NODES = 8
#: Jobs that are looked up with their pods to see which started last.
_FEW_JOBS = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KubernetesScheduler(Scheduler):
    """One Kubernetes cluster."""

    def __init__(
        self,
        cluster: str,
        look: ApiServer,
        act: ApiServer | None = None,
        *,
        namespaces: Sequence[str] = (),
        limits: Limits | None = None,
        settling: timedelta = timedelta(minutes=2),
    ) -> None:
        """Take the two accounts; without `act` nothing is ever changed.

        `namespaces` are those of the jobs, none for all; `settling` is how long a job that is put
        back may take to give up its pods.
        """
        self.cluster = cluster
        self._look = look
        self._act = act
        self._namespaces = tuple(namespaces)
        self._limits = limits or Limits()
        self._settling = settling
        self._lookup = Lookup(look, cluster)
        self._kept = Kept()

    def ways(self, operation: Operation) -> tuple[str, ...]:
        """Return the API server, for changes only where there is an account for them."""
        if operation in {Operation.HISTORY, Operation.STEPS}:
            return ()
        return (_WAY,) if self._act is not None or operation not in _CHANGES else ()

    async def job(self, job: JobId) -> Job:
        """Return a job with its pods as they are now."""
        return self._job(await self._found(job))

    async def logs(self, job: Job) -> JobLogs:
        """Return the logs of the job's pods, those of pods that are gone where they were kept."""
        if job.waits_because:
            return JobLogs(notes=(job.waits_because,))
        pods = (await self._found(_id_of(job))).pods
        logs = wanted(pods)
        chosen = logs[: self._limits.files]
        files = await read_all(self._look, chosen, job, self._limits)
        gone = self._kept.beside(job.id, {log.key for log in chosen})
        notes = []
        if len(logs) > len(chosen):
            notes.append(f"Not every log was read: {len(chosen)} of {len(logs)} are.")
        if gone:
            notes.append(f"{len(gone)} logs are of pods that are gone; they were kept before.")
        if not files and not gone:
            notes.append(
                f"The pods of job {job.label} are gone, and their logs with them. Paste the log."
            )
        return JobLogs(files=(*files, *gone), notes=tuple(notes))

    async def capture(self, job: JobId) -> JobLogs:
        """Follow a job to its end, keeping each pod's log before the pod is gone.

        Returns what `logs` would, also for a job that was deleted meanwhile. Cancel it to stop;
        what was kept until then stays kept, as it does where the server goes out of reach.
        """
        found = await self._found(job)
        try:
            await followed(self._look, self._lookup, found, self._kept, self._limits)
            return await self.logs(await self.job(job))
        except UnknownJobError:
            said = f"Job {found.shown} was deleted; the logs of its pods were kept before."
            return JobLogs(files=self._kept.beside(found.shown, frozenset()), notes=(said,))

    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return failed jobs since a time, the latest first; none that belongs to another one.

        They come without their pods and nodes: ask for the job that matters.
        """
        recent = [
            job
            for job in await self._tops()
            if job.state in FAILED_STATES and (job.ended_at or _EPOCH) >= since
        ]
        return tuple(sorted(recent, key=lambda job: job.ended_at or _EPOCH, reverse=True))

    async def named_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes in the given order."""
        for one in names:
            if not is_name(one):
                message = f"{one[:80]!a} is no name of a node; nobody was asked."
                raise UnknownNodeError(message)
        raws = await self._raw_nodes(names)
        if missing := [one for one in names if one not in raws]:
            message = f"Cluster {self.cluster} has no node {', '.join(missing[:5])}."
            raise UnknownNodeError(message)
        few = len(names) <= _FEW_NODES
        pods = [
            await self._look.listed(calls.PODS, fields=f"spec.nodeName={one}")
            for one in (names if few else ())
        ]
        if few:
            return tuple(
                node_of(raws[one], own, self.cluster) for one, own in zip(names, pods, strict=True)
            )
        held = by_node(await self._look.listed(calls.PODS))
        return tuple(node_of(raws[one], held.get(one, ()), self.cluster) for one in names)

    async def idle_nodes(self, partition: str = "") -> tuple[Node, ...]:
        """Return the idle nodes, of one node pool or of all."""
        return tuple(
            node
            for node in await self.all_nodes()
            if node.idle and (not partition or partition in node.partitions)
        )

    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        raws = await self._look.listed(calls.NODES)
        held = by_node(await self._look.listed(calls.PODS))
        return tuple(
            node_of(raw, held.get(name(raw), ()), self.cluster) for raw in raws if name(raw)
        )

    async def recent_jobs(self) -> tuple[Job, ...]:
        """Return the jobs of late that have started, the last started first.

        Only pods tell of a start: of the jobs, the few that were made last are looked up with them.
        """
        made = sorted(await self._tops(), key=lambda job: job.submitted_at or _EPOCH, reverse=True)
        few = [self._job(await self._found(_id_of(job))) for job in made[:_FEW_JOBS]]
        return started(few)

    async def about(self) -> tuple[About, ...]:
        """Read the nodes, the first thing that every look needs; no release and no rights."""
        try:
            await self._look.listed(calls.NODES)
        except SchedulerError as error:
            return (About(way=_WAY, problem=str(error)),)
        if self._act is None:
            why = "No account for changes is set."
            return (About(way=_WAY, may_change=False, rights=why),)
        why = (
            "There is an account for changes; whether it may cordon and suspend, a try would show."
        )
        return (About(way=_WAY, rights=why),)

    async def hold(self, job: JobId) -> None:
        """Suspend a job that has not started."""
        act = self._account(Operation.HOLD, job)
        await switches.hold(act, self.cluster, await self._found(job))

    async def cancel(self, job: JobId) -> None:
        """Suspend a job for good: its pods are ended, the object stays and can be put back."""
        act = self._account(Operation.CANCEL, job)
        await switches.cancel(act, self.cluster, await self._found(job), datetime.now(UTC))

    async def requeue(self, job: JobId) -> None:
        """Suspend a job, wait until its pods are gone, and let it start anew."""
        act = self._account(Operation.REQUEUE, job)
        found = await self._found(job)

        async def gone() -> bool:
            return not (await self._found(job)).at_work

        await switches.requeue(act, self.cluster, found, gone, self._settling)

    async def cluster_dns(self, job: Job) -> ClusterDns:
        """Return what the API says of the cluster's DNS and of the job's Services."""
        found = await self._found(_id_of(job))
        label = "=".join(dns.DNS_LABEL)
        where = found.namespace
        services, slices, dns_services, dns_slices, dns_pods = await asyncio.gather(
            self._look.listed(calls.SERVICES, namespace=where),
            self._look.listed(calls.SLICES, namespace=where),
            self._look.listed(calls.SERVICES, namespace=DNS_NAMESPACE, labels=label),
            self._look.listed(calls.SLICES, namespace=DNS_NAMESPACE),
            self._look.listed(calls.PODS, namespace=DNS_NAMESPACE, labels=label),
        )
        return dns.cluster_dns(
            dns_services=dns_services,
            dns_slices=dns_slices,
            dns_pods=dns_pods,
            services=services,
            slices=slices,
            pods=found.pods,
        )

    async def seats(self, slurm_nodes: Sequence[str], *, namespace: str = "slurm") -> list[Seat]:
        """Return pod and node of each node of a Slurm that runs in this cluster's pods.

        Raises UnknownNodeError where a Slurm node is no pod, or more than one.
        """
        pods = workers(await self._look.listed(calls.PODS, namespace=namespace))
        return [seat_of(one, pods, self.cluster) for one in slurm_nodes]

    async def _drain(self, node: Node, reason: str) -> None:
        act = self._account(Operation.DRAIN, node.name)
        await switches.cordon(act, self._look, node, reason, datetime.now(UTC))

    async def _resume(self, node: Node) -> None:
        act = self._account(Operation.RESUME, node.name)
        await switches.uncordon(act, self._look, node)

    async def _found(self, job: JobId) -> Found:
        kind = KINDS.get(job.object_kind or "")
        if job.kind is not SchedulerKind.KUBERNETES or kind is None:
            raise JobIdError(f"{job} is no job of Kubernetes.")
        where, called = job.namespace or "", job.name or ""
        if not (is_name(where) and is_name(called)):
            raise JobIdError(f"{str(job)[:200]!a} names no object of Kubernetes.")
        if self._namespaces and where not in self._namespaces:
            raise AccessError(
                f"Namespace {where} of cluster {self.cluster} is not among those of the settings "
                f"({', '.join(self._namespaces)}); {job.job} was not asked for."
            )
        return await self._lookup.find(kind, where, called)

    async def _tops(self) -> list[Job]:
        """Return the jobs that belong to no other one, without their pods."""
        return [
            job_of(kind, raw, (), self.cluster)
            for kind in KINDS.values()
            for raw in await self._lookup.tops(kind, self._namespaces)
        ]

    def _job(self, found: Found) -> Job:
        return job_of(found.kind, found.raw, found.pods, self.cluster, inner=found.inner)

    async def _raw_nodes(self, names: Sequence[str]) -> dict[str, Raw]:
        if len(names) > _FEW_NODES:
            return {name(raw): raw for raw in await self._look.listed(calls.NODES)}
        found: dict[str, Raw] = {}
        for one in names:
            try:
                found[one] = await self._look.get(calls.NODES, name=one)
            except NotThereError:
                continue
        return found

    def _account(self, operation: Operation, what: JobId | str) -> ApiServer:
        if self._act is None:
            shown = what if isinstance(what, str) else what.job
            raise NeedsWayError(
                f"{operation.value} of {shown} was not done: cluster {self.cluster} has no account "
                "for changes in the settings."
            )
        return self._act


def _id_of(job: Job) -> JobId:
    where, kind, called = job.id.split("/", 2)
    return JobId(kind=SchedulerKind.KUBERNETES, namespace=where, object_kind=kind, name=called)
