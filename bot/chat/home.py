"""The Home tab of one person: what waits for them, what is open, what was lately."""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.desk import Desk
from bot.chat.mapping import approval_shown, checked_of, incident_shown, switch_shown
from bot.incidents.incident import Incident
from bot.reports.slack import values
from bot.reports.slack.home import MOST_LISTED, home
from bot.reports.slack.values import Waiting


async def publish(desk: Desk, user: str) -> None:
    """Show somebody their Home tab as things stand now."""
    over = await desk.store.incidents.over(team=desk.identity.team, limit=MOST_LISTED)
    # a check of each of them is tens of kilobytes: those that are only counted are not read
    opened = await desk.store.incidents.still_open(team=desk.identity.team, limit=MOST_LISTED)
    open_count = await desk.store.incidents.count_open(team=desk.identity.team)
    view = home(
        waiting=await _waiting(desk, user),
        opened=await _shown(desk, opened),
        open_count=open_count,
        recent=await _shown(desk, over),
        stopped=tuple(map(switch_shown, await desk.store.switches.on())),
        now=desk.now(),
    )
    await desk.chat.publish_home(user, view)


async def _waiting(desk: Desk, user: str) -> tuple[Waiting, ...]:
    person = await desk.people.known(user)
    if not desk.rules.policy.decides(person):
        return ()
    found = []
    for approval in await desk.store.approvals.waiting():
        if not desk.rules.policy.decides(person, approval.chain):
            continue
        incident = await desk.store.incidents.get(approval.incident_id)
        if incident is not None:
            shown = approval_shown(approval, checked_of(incident), desk.rules)
            found.append(Waiting(approval=shown, permalink=await desk.permalink(incident)))
    return tuple(found)


async def _shown(desk: Desk, incidents: Sequence[Incident]) -> list[values.Incident]:
    """Return incidents as the tab takes them; those that are only counted need no address."""
    listed = [
        incident_shown(one, permalink=await desk.permalink(one)) for one in incidents[:MOST_LISTED]
    ]
    return listed + [incident_shown(one) for one in incidents[MOST_LISTED:]]
