"""The world as steps see it: the same look that a check takes, again and now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.clouds.model import Vm, VmState, state_of
from bot.clouds.port import Cloud
from bot.diagnosis.redact import redact
from bot.errors import BotError
from bot.fleet.placement import same_host
from bot.hosts import probes
from bot.hosts.model import Evidence, Probe
from bot.hosts.port import Backups, Hosts, Repairs
from bot.hosts.probes import Question
from bot.hosts.view import View
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident
from bot.incidents.statement import Kind, Statement
from bot.incidents.store import Store
from bot.recovery.errors import RefusedStepError
from bot.recovery.facts import Facts
from bot.recovery.losses import losses
from bot.recovery.told import over
from bot.recovery.world import Scene, Seen, Shown, Verdict, World
from bot.schedulers.port import Scheduler
from bot.triage.advice import sessions, steps_of
from bot.triage.case import Asked, Case
from bot.triage.check import examine
from bot.triage.inventory import target
from bot.triage.services import Services, Watched

#: Outputs that prove a repair, in the order in which a person reads them.
_SHOWN: tuple[tuple[str, Probe[object]], ...] = (
    ("systemctl status systemd-resolved", probes.UNIT_STATUS),
    ('journalctl -u systemd-resolved --since "1 hour ago" (newest first)', probes.JOURNAL),
    ("look-ups", probes.LOOKUPS),
    ("TCP to the rendezvous", probes.RENDEZVOUS),
    ("name servers behind the stub", probes.UPLINKS),
)
_OF_THE_PEER = (probes.LOOKUPS, probes.RENDEZVOUS)


@dataclass(frozen=True, kw_only=True)
class FleetWorld(World):
    """Machines, cloud and scheduler behind the services that triage asks."""

    services: Services
    store: Store
    #: None where no account may change anything
    mends: Repairs | None = None
    #: None where no account may back up
    saves: Backups | None = None

    async def look(self, incident_id: str, vm_name: str) -> Seen:
        """Check the incident's job again, and return what is now known of one VM."""
        incident = await self._incident(incident_id)
        case = await self._examined(incident, vm_name, pick=False)
        host = _host(case, vm_name)
        if not host:
            raise RefusedStepError(f"The newest look does not accuse {vm_name} any more.")
        facts = case.facts[host]
        await self._keep_state(incident, case.fleet.vm(host), facts)
        evidence = case.looked[host].evidence if host in case.looked else None
        scene = self._scene(incident, case, host)
        if evidence is not None and evidence.failure is None:
            scene = replace(scene, boot_id=await self.boot_id(scene))
        return Seen(
            scene=scene,
            facts=facts,
            work=frozenset(
                {*sessions(evidence), *steps_of(evidence), *facts.others}
                if evidence
                else facts.others
            ),
            found=", ".join(sorted(facts.findings)),
            losses=losses(evidence, case.fleet.vm(host)),
        )

    async def prove(self, scene: Scene) -> Shown:
        """Ask the machine and a healthy one for the names that failed, and compare them."""
        incident = await self._incident(scene.incident_id)
        case = await self._examined(incident, scene.host, pick=True)
        host = _host(case, scene.vm_name) or scene.host
        looked = case.looked.get(host)
        if looked is None or looked.evidence is None:
            why = looked.problem if looked else f"{scene.host} was not asked."
            return Shown(verdict=Verdict.UNKNOWN, why=why)
        peer = case.peer.evidence if case.peer else None
        view = View(vm=looked.evidence, peer=peer, question=case.question)
        verdict, why = _judged(view, scene.host)
        outputs = _outputs(scene.host, looked.evidence)
        if peer is not None and peer.failure is None:
            outputs |= {
                f"{label} on {peer.name} (healthy)": text
                for label, text in _outputs("", peer, _OF_THE_PEER).items()
            }
        return Shown(verdict=verdict, why=why, outputs=outputs, boot_id=await self.boot_id(scene))

    async def boot_id(self, scene: Scene) -> str:
        """Return which boot this is; empty where the machine does not let us in."""
        try:
            told = await self._hosts().probe(scene.target, Question(), probes.BOOT)
        except BotError:
            return ""
        return "" if told.failure is not None else _boot(told)

    def cloud(self, scene: Scene) -> Cloud:
        """Return the cloud of the machine's cluster."""
        watched = self._watched(scene.cluster)
        cloud = (watched.cloud if watched else None) or self.services.cloud
        if cloud is None:
            raise RefusedStepError("No cloud is set, so there is no API to ask.")
        return cloud

    def scheduler(self, scene: Scene) -> Scheduler:
        """Return the scheduler of the machine's cluster."""
        watched = self._watched(scene.cluster)
        if watched is None or watched.scheduler is None:
            raise RefusedStepError(f"Cluster {scene.cluster or '–'} has no scheduler to ask.")
        return watched.scheduler

    def repairs(self) -> Repairs:
        """Return the repair account."""
        if self.mends is None:
            raise RefusedStepError("No repair account is set ([ssh.repair]).")
        return self.mends

    def backups(self) -> Backups:
        """Return the backup account."""
        if self.saves is None:
            raise RefusedStepError(
                "No backup account is set ([ssh.backup]), so nothing on a VM can be copied."
            )
        return self.saves

    # -- parts

    def _hosts(self) -> Hosts:
        if self.services.hosts is None:
            raise RefusedStepError("No SSH account is set ([ssh]), so no machine can be asked.")
        return self.services.hosts

    def _watched(self, cluster: str) -> Watched | None:
        return self.services.clusters.get(cluster)

    async def _incident(self, incident_id: str) -> Incident:
        found = await self.store.incidents.get(incident_id)
        if found is None:
            raise RefusedStepError(f"There is no incident {incident_id} any more.")
        return found

    async def _examined(self, incident: Incident, vm_name: str, *, pick: bool) -> Case:
        """Look at the incident's job again; at the VM itself where it was picked, or is to be."""
        if not incident.job_id:
            raise RefusedStepError(
                "This incident is of a pasted log: no scheduler confirms that the VM is of a job."
            )
        said = await self.store.statements.of(incident.id)
        runs = await self.store.step_runs.of_incident(incident.id)
        picked = any(one.kind is Kind.PICKED and one.vm_name == vm_name for one in said)
        asked = Asked(
            job=f"{incident.cluster}:{incident.job_id}",
            named=(vm_name,) if pick or picked else (),
            told=lambda facts: over(facts, said, runs),
        )
        return (await examine(self.services, asked))[1]

    def _scene(self, incident: Incident, case: Case, host: str) -> Scene:
        vm = case.fleet.vm(host)
        reached = target(host, case.fleet, self.services.proof)
        return Scene(
            incident_id=incident.id,
            host=host,
            vm_name=vm.name if vm else host,
            vm_id=vm.id if vm else "",
            cluster=case.cluster.name if case.cluster and case.cluster.scheduler else "",
            job=incident.job_id or "",
            address=str(reached.address),
            proof_kind=reached.proof_kind,
            proof=str(reached.proof),
            public_ips=tuple(one.address for one in vm.public_ips) if vm else (),
        )

    async def _keep_state(self, incident: Incident, vm: Vm | None, facts: Facts) -> None:
        """Keep the state as it was read where ERROR plays a part: later questions rest on it."""
        if vm is None or not (facts.in_error or facts.was_in_error):
            return
        last = facts.reads_outside_error[-1:] if state_of(vm.raw_state) is not VmState.ERROR else ()
        if last and vm.read_at - last[0] < self.services.limits.error_reads:
            return
        statement = Statement(
            id=new_id(LONG), incident_id=incident.id, vm_name=vm.name, vm_id=vm.id,
            kind=Kind.STATE, about=vm.raw_state, at=vm.read_at,
        )  # fmt: skip
        await self.store.statements.say(statement)


def _host(case: Case, vm_name: str) -> str:
    """Return the machine of a name, as the scheduler calls it, among those that were looked at."""
    for host in case.facts:
        vm = case.fleet.vm(host)
        if (vm is not None and vm.name == vm_name) or same_host(host, vm_name):
            return host
    return ""


def _boot(evidence: Evidence) -> str:
    """Return which boot a machine's answers are from: the kernel's, and its first process'."""
    boot = (evidence.read(probes.BOOT_ID) or "").strip()
    return f"{boot}/{evidence.read(probes.INIT) or 0}" if boot else ""


def _judged(view: View, host: str) -> tuple[Verdict, str]:
    told = view.vm
    if told.failure is not None:
        return Verdict.UNKNOWN, f"{host} does not let us in: {told.detail}"
    failing = view.failing
    theirs = view.turned()
    elsewhere = set(theirs.failing) if theirs else set()
    own = [name for name in failing if name not in elsewhere]
    if own:
        return Verdict.FAILED, f"{host} still does not find {_few(own)}."
    if failing:
        return Verdict.UNKNOWN, f"Neither {host} nor a healthy machine finds {_few(list(failing))}."
    if not view.question.names:
        if view.unit.runs and view.resolver_alive:
            return (
                Verdict.PASSED,
                f"systemd-resolved runs and answers on {host}; no name was given.",
            )
        return Verdict.FAILED, f"systemd-resolved does not answer on {host}."
    count = len(view.question.names)
    peer = f", as on {view.peer.name}" if theirs and view.peer else "; no healthy machine was asked"
    return Verdict.PASSED, f"{host} finds all {count} names{peer}."


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown  # noqa: PLR2004


def _outputs(
    host: str, evidence: Evidence, table: tuple[Probe[object], ...] | None = None
) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, probe in _SHOWN:
        result = evidence.results.get(probe.name)
        if result is None or (table is not None and probe not in table):
            continue
        name = f"{label} on {host}" if host else label
        found[name] = redact(result.text).text
    return found


def as_text(outputs: Mapping[str, str]) -> str:
    """Return outputs as one text, each under its name."""
    return "\n\n".join(f"$ {name}\n{text.rstrip()}" for name, text in outputs.items())
