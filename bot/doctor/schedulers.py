"""Checks of the schedulers: each way, the token, what is remembered, logs, rights."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime, timedelta

from bot.doctor import tokens as jwt
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.schedulers.about import About
from bot.schedulers.errors import NeedsWayError, SchedulerError
from bot.schedulers.model import JobLogs, Kind, LogFile, Reading
from bot.schedulers.port import Scheduler
from bot.settings import RestSettings
from bot.settings.secrets import secret
from bot.triage.services import Watched

#: A token that stands in the settings has to be replaced by hand; one in a file, by a timer.
_BY_HAND, _BY_TIMER = timedelta(days=1), timedelta(minutes=5)
#: Slurm's own default (slurm.conf(5), MinJobAge).
_USUAL_AGE = timedelta(seconds=300)
_MOST_SHOWN = 3
#: What a person asks of a way by hand, by the way's name; slurmrestd's has its version in it.
_QUESTIONS = {"login node": "`scontrol ping` on it", "the API server": "`kubectl get nodes`"}

_Asked = Callable[[Look, Watched, Scheduler], Awaitable[Sequence[Answer]]]


async def _each(look: Look, ask: _Asked, *, loud: bool = False) -> list[Answer]:
    """Ask of each cluster; one that cannot be asked does not keep the others from it.

    `loud` is for the one check that says why; the others leave it at that.
    """
    found: list[Answer] = []
    for cluster in look.clusters:
        if cluster.scheduler is None:
            found.append(_closed(look, cluster) if loud else _unasked(cluster))
            continue
        try:
            found += await ask(look, cluster, cluster.scheduler)
        except NeedsWayError as error:
            found.append(skip(f"Not checked: {error}", cluster.name))
        except SchedulerError as error:
            mend = f"Look at [clusters.{cluster.name}] in the settings, and at the scheduler."
            found.append(
                fail(str(error), mend, cluster.name)
                if loud
                else skip(f"Not checked: {error}", cluster.name)
            )
    return found


def _closed(look: Look, cluster: Watched) -> Answer:
    said = look.closed(f"The scheduler of cluster {cluster.name} ")
    if said:
        return fail(said, f"Look at [clusters.{cluster.name}] in the settings.", cluster.name)
    if cluster.known_as.kind is Kind.KUBERNETES:
        return skip("Not checked: no command opens a Kubernetes cluster yet.", cluster.name)
    mend = f"Set [clusters.{cluster.name}.login] or [clusters.{cluster.name}.rest]."
    return fail("No way to its scheduler is set.", mend, cluster.name)


def _unasked(cluster: Watched) -> Answer:
    return skip("There is no scheduler to ask.", cluster.name)


async def ways(look: Look) -> Sequence[Answer]:
    """Say of each way to each scheduler whether it answers, and with which version."""
    return await _each(look, _ways, loud=True)


async def _ways(look: Look, cluster: Watched, scheduler: Scheduler) -> Sequence[Answer]:
    return [_way(one, cluster.name) for one in await look.about(cluster, scheduler)]


def _way(one: About, cluster: str) -> Answer:
    about = f"{cluster}: {one.way}"
    if one.problem:
        by_hand = _QUESTIONS.get(one.way, "`curl` to its URL")
        mend = f"Look at [clusters.{cluster}] in the settings, and try by hand: {by_hand}."
        return fail(one.problem, mend, about)
    release = f"Version {one.version}" if one.version else "It"
    by = f"; the controller is {', '.join(one.controllers)}" if one.controllers else ""
    return ok(f"{release} answers{by}.", about)


async def tokens(look: Look) -> Sequence[Answer]:
    """Say of each token for slurmrestd whose it is and how long it holds."""
    found = []
    for name, cluster in look.settings.clusters.items():
        if cluster.rest:
            place = f"clusters.{name}.rest.token_file"
            text = secret(cluster.rest.token, cluster.rest.token_file, place)
            found.append(_token(look, name, cluster.rest, text))
    return found or (skip("No slurmrestd is set, so no token is needed."),)


def _token(look: Look, name: str, rest: RestSettings, text: str) -> Answer:
    mend = f"`scontrol token username={rest.user} lifespan=SECONDS`, from a timer into token_file."
    if not text:
        return fail("No token is set.", mend, name)
    told = jwt.read(text)
    if told is None:
        return warn("The token is no JSON web token; how long it holds is not known.", mend, name)
    if told.user and told.user != rest.user:
        said = f"The token is for {told.user}, and the settings name the user {rest.user}."
        return fail(said, mend, name)
    if told.ends is None:
        said = "The token does not end. Whoever copies it keeps it until the key is changed."
        return warn(said, mend, name)
    return _lifetime(told.ends, told.ends - look.now(), rest, mend, name)


def _lifetime(ends: datetime, left: timedelta, rest: RestSettings, mend: str, name: str) -> Answer:
    if left <= timedelta(0):
        return fail(f"The token ended at {ends:%Y-%m-%d %H:%M} UTC.", mend, name)
    said = f"The token of {rest.user} holds until {ends:%Y-%m-%d %H:%M} UTC"
    if rest.token_file is None and left < _BY_HAND:
        return warn(f"{said}, and stands in the settings, where no timer renews it.", mend, name)
    if left < _BY_TIMER:
        return warn(f"{said}; whoever renews the file is late.", mend, name)
    return ok(f"{said}.", name)


async def accounting(look: Look) -> Sequence[Answer]:
    """Say whether jobs can be looked up after the controller has forgotten them."""
    return await _each(look, _accounting)


async def _accounting(look: Look, cluster: Watched, scheduler: Scheduler) -> Sequence[Answer]:
    told = {one.accounting for one in await look.about(cluster, scheduler) if not one.problem}
    if True in told:
        return (ok("Accounting is on: ended jobs can be looked up.", cluster.name),)
    if False in told:
        said = (
            "Accounting is off: a job that the controller has forgotten is known only as far as it "
            "was looked at here before."
        )
        mend = "Ordinary, and bearable: check a job soon after it failed, or set up slurmdbd."
        return (warn(said, mend, cluster.name),)
    return (skip("No way tells whether accounting is on.", cluster.name),)


async def job_age(look: Look) -> Sequence[Answer]:
    """Say how long the controller remembers an ended job."""
    return await _each(look, _job_age)


async def _job_age(look: Look, cluster: Watched, scheduler: Scheduler) -> Sequence[Answer]:
    about = await look.about(cluster, scheduler)
    age = next((one.forgets_after for one in about if one.forgets_after is not None), None)
    if age is None:
        said = "Not checked: MinJobAge is told by a login node alone."
        return (skip(said, cluster.name, f"Set [clusters.{cluster.name}.login]."),)
    seconds = int(age.total_seconds())
    said = f"The controller forgets an ended job after {seconds} s (MinJobAge)."
    if not any(one.accounting for one in about) and age < _USUAL_AGE:
        mend = f"Raise MinJobAge to {int(_USUAL_AGE.total_seconds())} s or more in slurm.conf."
        return (warn(f"{said} Without accounting nobody knows it then.", mend, cluster.name),)
    return (ok(said, cluster.name),)


async def logs(look: Look) -> Sequence[Answer]:
    """Say whether the output of the job that started last can be read."""
    return await _each(look, _logs)


async def _logs(look: Look, cluster: Watched, scheduler: Scheduler) -> Sequence[Answer]:
    del look
    jobs = [job for job in await scheduler.recent_jobs() if job.batch is not False]
    if not jobs:
        return (skip("Not checked: the controller remembers no batch job.", cluster.name),)
    found = await scheduler.logs(jobs[0])
    what = f"the output of job {jobs[0].label}"
    return tuple(_read(found, what, jobs[0].work_dir, cluster.name))


def _read(found: JobLogs, what: str, folder: str, about: str) -> Iterator[Answer]:
    bad = [file for file in found.files if file.reading is not Reading.READ]
    mend = "Let the account of the login node read it, or name the place in log_patterns."
    if found.read:
        said = f"{what[0].upper()}{what[1:]} can be read: {_paths(found.read)}."
        yield ok(said, about)
    unreadable = [file for file in bad if file.reading is Reading.UNREADABLE]
    if unreadable:
        said = f"Of {what}, {_paths(unreadable)} cannot be read: {unreadable[0].because.strip()}."
        yield (warn if found.read else fail)(said, mend, about)
    elif bad and not found.read:
        said = f"Of {what}, nothing is at {_paths(bad)} (its folder is {folder or 'not known'})."
        yield warn(said, mend, about)
    if not found.files:
        yield skip(f"Not checked: {' '.join(found.notes) or f'{what} is not known'}", about)


def _paths(files: Sequence[LogFile]) -> str:
    more = f" and {len(files) - _MOST_SHOWN} more" if len(files) > _MOST_SHOWN else ""
    return ", ".join(file.path for file in files[:_MOST_SHOWN]) + more


async def rights(look: Look) -> Sequence[Answer]:
    """Say whether our user may drain nodes and requeue jobs, as far as that can be asked."""
    return await _each(look, _rights)


async def _rights(look: Look, cluster: Watched, scheduler: Scheduler) -> Sequence[Answer]:
    told = [one for one in await look.about(cluster, scheduler) if not one.problem]
    mend = (
        "Give the user the admin level Operator (`sacctmgr modify user NAME set "
        "adminlevel=Operator`), on a login node in the settings."
    )
    if able := next((one for one in told if one.may_change), None):
        return (ok(f"It may drain and requeue by {able.way}: {able.rights}", cluster.name),)
    if unsure := next((one for one in told if one.may_change is None), None):
        return (skip(f"Not checked: {unsure.rights or 'no way tells.'}", cluster.name),)
    why = " ".join(one.rights for one in told) or "No way answers."
    return (fail(f"It may not drain nodes or requeue jobs. {why}", mend, cluster.name),)
