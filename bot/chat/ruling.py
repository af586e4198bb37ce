"""Ask the policy about a click: everything that it goes by, from Slack, the store and settings."""

from __future__ import annotations

from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.incidents.approval import Approval
from bot.incidents.incident import Incident, IncidentState
from bot.recovery.policy import Act, Matter, Ruling, ruling
from bot.triage.scope import untouchable
from bot.triage.services import Services


async def ruled(
    desk: Desk, asker: Asker, approval: Approval, act: Act, *, typed_vm: str = "", reason: str = ""
) -> Ruling:
    """Return whether somebody may do something about an approval now."""
    incident, now = await desk.store.incidents.get(approval.incident_id), desk.now()
    about = matter(
        desk.services, incident, approval, channel=asker.channel, past=approval.past(now),
        typed_vm=typed_vm, reason=reason,
    )  # fmt: skip
    return ruling(desk.rules.policy, act, await desk.people.known(asker.user), about, now)


async def ruled_proposal(
    desk: Desk, asker: Asker, incident: Incident, chain: tuple[str, ...], vm: str, host: str
) -> Ruling:
    """Return whether somebody may ask for steps on a VM now."""
    about = proposal(desk.services, incident, chain, vm=vm, host=host, channel=asker.channel)
    return ruling(
        desk.rules.policy, Act.PROPOSE, await desk.people.known(asker.user), about, desk.now()
    )


def proposal(
    services: Services, incident: Incident, chain: tuple[str, ...], *, vm: str, host: str,
    channel: str,
) -> Matter:  # fmt: skip
    """Return what the policy is asked about steps that nobody has asked for yet."""
    return Matter(
        steps=chain,
        vm=vm,
        home=incident.channel or "",
        channel=channel,
        incident_open=incident.state is IncidentState.OPEN,
        untouchable=untouchable(services, incident.cluster, vm, host),
    )


def matter(
    services: Services, incident: Incident | None, approval: Approval, *, channel: str,
    past: bool, typed_vm: str = "", reason: str = "",
) -> Matter:  # fmt: skip
    """Return what the policy is asked about an approval."""
    scene = approval.seen.get("scene") or {}
    cluster = incident.cluster if incident else None
    return Matter(
        steps=approval.chain,
        vm=approval.vm_name,
        state=approval.state,
        past=past,
        proposed_by=approval.proposed_by,
        first_by=approval.first_by,
        home=(incident.channel if incident else None) or "",
        channel=channel,
        incident_open=incident is not None and incident.state is IncidentState.OPEN,
        untouchable=untouchable(services, cluster, approval.vm_name, str(scene.get("host", ""))),
        typed_vm=typed_vm,
        reason=reason,
    )
