"""Checks of the cloud: the key and its role, the clock, the projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from bot.clouds.errors import ClockSkewError, CloudError, CredentialsError, PermissionDeniedError
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn

#: Requests are signed with the time; how far it may be off is documented nowhere.
_MOST_SKEW = timedelta(seconds=30)
_CLOCK = "Let a time service keep this machine's clock (`timedatectl set-ntp true`)."
#: Roles that may do far more than look at VMs and restart them.
_MIGHTY = ("admin", "owner")
_OWN_USER = (
    "Make a user for the bot whose role reaches the watched projects alone, and make the key as "
    "that user: Crusoe knows no narrower keys."
)


async def key(look: Look) -> Sequence[Answer]:
    """Say whether the key works and whose rights it has."""
    if closed := look.closed("The cloud is not asked:"):
        return (fail(closed, "Set the key in [cloud], or make a profile in ~/.crusoe/config."),)
    try:
        found = await look.key()
    except ClockSkewError:
        return (skip("Nothing is known of the key before the clock is right."),)
    except CredentialsError as error:
        mend = "Make a new key in the console, and put it where the old one is."
        return (fail(str(error), mend),)
    except PermissionDeniedError as error:
        return (fail(str(error), "Give the key's user a role in the project."),)
    said = f"It works and acts as {found.user or 'a user whom the API does not name'}"
    said += f", whose role is {found.role}." if found.role else "; the API tells no role."
    if any(word in found.role.casefold() for word in _MIGHTY):
        said += " Whoever has the key can delete VMs and disks."
        return (warn(said, _OWN_USER),)
    return (ok(said),)


async def clock(look: Look) -> Sequence[Answer]:
    """Say how far this machine's clock is from the API's."""
    try:
        found = await look.key()
    except ClockSkewError as error:
        return (fail(str(error), _CLOCK),)
    except CloudError:
        return (skip("The API's time is not known, since the key's check failed."),)
    if found.skew is None:
        return (skip("The API's answer has no date."),)
    seconds = abs(found.skew).total_seconds()
    said = f"This machine's clock and the API's are {seconds:.0f} s apart."
    return (warn(said, _CLOCK),) if abs(found.skew) > _MOST_SKEW else (ok(said),)


async def projects(look: Look) -> Sequence[Answer]:
    """Say of each project of the settings whether it is found, and how many VMs are in it."""
    settings = look.settings
    if look.closed("The cloud is not asked:"):
        return (skip("The cloud is not asked without a key."),)
    named = {name: settings.project_of(name) for name in settings.clusters}
    found = [
        fail("No project is named for it.", f"Set project in [cloud] or [clusters.{name}].", name)
        for name, project in named.items()
        if not project
    ]
    wanted = dict.fromkeys(filter(None, (settings.cloud.project, *named.values())))
    if not wanted and not found:
        return (fail("No project is named.", "Set project in [cloud]."),)
    return [*found, *[await _project(look, project) for project in wanted]]


async def _project(look: Look, project: str) -> Answer:
    cluster = next(
        (one for one in look.clusters if look.settings.project_of(one.name) == project), None
    )
    try:
        vms = await look.vms(cluster)
    except ClockSkewError:
        return skip("The cloud tells nothing before the clock is right.", project)
    except CloudError as error:
        return fail(
            str(error), "Set project in [cloud] or [clusters.NAME], by name or id.", project
        )
    if not vms:
        mend = "Check that it is the project whose VMs are watched."
        return warn("It is found, and no VM is in it.", mend, project)
    states = Counter(vm.raw_state.removeprefix("STATE_").lower() for vm in vms)
    spelled = ", ".join(f"{count} {state}" for state, count in states.most_common())
    return ok(f"{len(vms)} VMs: {spelled}.", project)
