"""Prove each row of the table on a set-up in memory: well, and broken in the ways it tells."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.clouds.crusoe.account import KeyCheck
from bot.clouds.errors import (
    ClockSkewError,
    CloudUnavailableError,
    CredentialsError,
    PermissionDeniedError,
)
from bot.doctor.keeping import settings_file
from bot.doctor.look import Look
from bot.doctor.model import Outcome
from bot.doctor.table import CHECKS, Need
from bot.schedulers.errors import SchedulerUnavailableError
from bot.schedulers.model import NodeFlag
from bot.settings import load
from bot.triage.services import Services
from tests.behaviour.doctor.world import NOW, World, outcomes
from tests.behaviour.triage.world import JOB

pytestmark = pytest.mark.anyio

OK, WARN, FAIL, SKIP = Outcome.OK, Outcome.WARN, Outcome.FAIL, Outcome.SKIP


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a set-up in which all is well."""
    return World(folder=tmp_path)


async def test_where_all_is_well_every_row_says_so(world: World) -> None:
    """No false alarm, and one row at least for each check of the table."""
    checkup = await world.examined()

    bad = [row for row in checkup.rows if row.outcome in {WARN, FAIL}]
    assert bad == []
    assert {row.check for row in checkup.rows} == {check.name for check in CHECKS}
    skipped = [row.check for row in checkup.rows if row.outcome is SKIP]
    without_slack = [check.name for check in CHECKS if Need.SLACK in check.needs]
    assert skipped == ["token", *without_slack]
    assert (checkup.worst, checkup.level, checkup.failed) == (OK, 3, False)


async def test_what_is_not_well_says_what_mends_it(world: World) -> None:
    """Of many faults at once none hides another, and each has its mend."""
    world.key = CredentialsError("The API refuses the key.")
    world.scheduler.told = replace(world.scheduler.told, problem="It is down.")
    world.write("known_hosts", "")
    world.name = "node-1"

    checkup = await world.examined()

    failed = {row.check for row in checkup.rows if row.outcome is FAIL}
    assert failed == {"cloud key", "scheduler", "host keys", "protected", "drain and requeue"}
    assert all(row.mend for row in checkup.rows if row.outcome in {WARN, FAIL})
    assert checkup.failed


# settings, secrets and keys, state folder, store


@pytest.mark.parametrize(
    ("mode", "more", "outcome", "words"),
    [
        (0o622, "", FAIL, "can be written by others"),
        (0o644, 'url = "postgresql://bot:secret@db/x"', WARN, "holds store.url"),
        (0o644, "", OK, "mode 644"),
    ],
)
async def test_who_else_may_read_the_settings(
    world: World, mode: int, more: str, outcome: Outcome, words: str
) -> None:
    """Whoever writes them decides what is trusted; whoever reads them has what stands in them."""
    path = world.write("other.toml", f"[store]\n{more}\n", mode)
    look = Look(
        settings=load(path, environ={}), config=path, services=Services(), whose_key=_nobody
    )

    row = next(iter(await settings_file(look)))

    assert row.outcome is outcome
    assert words in row.said
    assert "secret" not in row.said
    assert outcome is OK or row.mend == f"chmod 600 {path}"


async def _nobody() -> KeyCheck:
    raise CredentialsError("Nobody has a key here.")


async def test_what_was_not_filled_in_is_named(world: World) -> None:
    """A new file says the same, with its lines."""
    world.settings = world.settings.replace('nodes = ["node-[0-3]"]', "nodes = []")

    _, row = await world.rows("settings")

    assert (row.outcome, row.about) == (FAIL, "clusters.hall.nodes")
    assert "Fill in the machines" in row.mend


@pytest.mark.parametrize(
    ("change", "outcome", "words"),
    [
        (lambda w: (w.folder / "key").chmod(0o644), WARN, "can be read by others (mode 644)"),
        (lambda w: (w.folder / "key").unlink(), FAIL, "cannot be read: No such file"),
        (lambda w: w.write("key", ""), FAIL, "is empty"),
        (lambda w: w.write("key-cert.pub", "no certificate"), FAIL, "cannot be used"),
    ],
)
async def test_files_of_secrets(
    world: World, change: Callable[[World], None], outcome: Outcome, words: str
) -> None:
    """Each is read, and nobody else may."""
    change(world)

    rows = await world.rows("secrets and keys")

    assert outcome in outcomes(rows)
    assert any(words in row.said and row.about == "ssh.keys" for row in rows)


async def test_a_store_that_cannot_be_opened_is_said(world: World) -> None:
    """With the reason for which it could not."""
    world.missing = ("Nothing is kept: the database is away.",)

    row = await world.row("store", store=None)

    assert (row.outcome, row.said) == (FAIL, "Nothing is kept: the database is away.")


async def test_a_state_folder_that_others_can_enter(world: World) -> None:
    """What is known of incidents is nobody else's."""
    (world.folder / "state").mkdir(mode=0o755)

    row = await world.row("state folder")

    assert row.outcome is WARN
    assert "mode 755" in row.said


# cloud key, clock, project


@pytest.mark.parametrize(
    ("error", "key", "clock"),
    [
        (CredentialsError("The API refuses key …0001."), FAIL, SKIP),
        (PermissionDeniedError("Its user may not."), FAIL, SKIP),
        (CloudUnavailableError("The API does not answer."), FAIL, SKIP),
        (ClockSkewError("Our clock is 3600 s behind."), SKIP, FAIL),
    ],
)
async def test_a_key_that_is_refused(
    world: World, error: Exception, key: Outcome, clock: Outcome
) -> None:
    """A wrong clock says nothing of the key, and a wrong key nothing of the clock."""
    world.key = error

    assert (await world.row("cloud key")).outcome is key
    row = await world.row("clock")
    assert row.outcome is clock
    if clock is FAIL:
        assert "3600 s" in row.said


async def test_a_mighty_key_is_more_than_is_needed(world: World) -> None:
    """Its role is quoted, and what that means."""
    assert not isinstance(world.key, Exception)
    world.key = replace(world.key, role="Admin")

    row = await world.row("cloud key")

    assert row.outcome is WARN
    assert "acts as bot@example.com, whose role is Admin" in row.said


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(0, OK), (-30, OK), (31, WARN), (-300, WARN), (None, SKIP)]
)
async def test_how_far_the_clock_may_be_off(
    world: World, seconds: int | None, outcome: Outcome
) -> None:
    """In either direction."""
    assert not isinstance(world.key, Exception)
    skew = None if seconds is None else timedelta(seconds=seconds)
    world.key = replace(world.key, skew=skew)

    assert (await world.row("clock")).outcome is outcome


async def test_a_project_without_a_name(world: World) -> None:
    """Each cluster needs one."""
    world.settings = world.settings.replace('project = "hall"', 'project = ""')

    rows = await world.rows("project")

    assert [(row.outcome, row.about) for row in rows] == [(FAIL, "hall")]


# names, own resolver


async def test_a_name_of_our_own_that_does_not_resolve(world: World) -> None:
    """Which one, and what for; the others are said to resolve."""

    def look_up(name: str) -> tuple[str, ...]:
        if name == "login":
            raise OSError(-3, "Temporary failure in name resolution")
        return ("203.0.113.7",)

    world.look_up = look_up

    bad, good = await world.rows("names")

    assert bad.outcome is FAIL
    assert "login (the login node of hall) does not resolve here: Temporary failure" in bad.said
    assert good.said == "Found from here: api.cloud.crusoe.ai."


@pytest.mark.parametrize(
    ("resolv_conf", "words"),
    [
        ("nameserver 10.20.1.12\n", "asks 10.20.1.12, which is VM node-2"),
        ("nameserver 10.20.0.2\n", "ask the same servers: 10.20.0.2"),
        ("search fleet.internal\nnameserver 192.0.2.53\n", "searches fleet.internal"),
    ],
)
async def test_a_resolver_that_is_watched_is_told(
    world: World, resolv_conf: str, words: str
) -> None:
    """The bot would fall silent in the outage that it is to report."""
    world.resolv_conf = resolv_conf

    row = await world.row("own resolver")

    assert row.outcome is WARN
    assert words in row.said


async def test_behind_a_stub_its_own_servers_count(world: World) -> None:
    """127.0.0.53 says nothing of who answers in the end."""
    world.resolv_conf = "nameserver 127.0.0.53\n"
    world.write("uplinks", "nameserver 10.20.0.2\n")

    assert "10.20.0.2" in (await world.row("own resolver")).said


async def test_a_bot_inside_the_fleet_is_told(world: World) -> None:
    """As a VM of the project it is watched itself, and as a node it must be protected."""
    world.owns = {"10.20.1.13"}

    assert "This machine is VM node-3" in (await world.row("own resolver")).said
    row = await world.row("protected")
    assert row.outcome is FAIL
    assert "node-3 is this machine" in row.said


# scheduler, token, accounting, job age, logs, rights


async def test_a_way_that_does_not_answer(world: World) -> None:
    """Its own words, and which way of which cluster."""
    world.scheduler.told = replace(world.scheduler.told, problem="slurmrestd refuses the token.")

    row = await world.row("scheduler")

    assert (row.outcome, row.about) == (FAIL, "hall: login node")
    assert row.said == "slurmrestd refuses the token."


async def test_a_cluster_without_a_way(world: World) -> None:
    """One check says why; the others leave it at that."""
    world.missing = ("The scheduler of cluster hall is not asked: no key.",)

    checkup = await world.examined(scheduler=None)

    said = {row.check: row for row in checkup.rows}
    assert said["scheduler"].said == "The scheduler of cluster hall is not asked: no key."
    assert said["scheduler"].outcome is FAIL
    others = ("accounting", "job age", "job logs", "nodes and VMs", "drain and requeue")
    assert {said[name].outcome for name in others} == {SKIP}


def token(**claims: object) -> str:
    """Return a JSON web token with these claims; nobody checks its signature here."""
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{body}.c2lnbmF0dXJl"


def ends(delta: timedelta) -> int:
    """Return the time so long from now as a token has it."""
    return int((NOW + delta).timestamp())


@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        (token(sun="bot", exp=ends(timedelta(hours=2))), OK, "holds until 2026-01-02 05:04 UTC"),
        (token(sun="bot", exp=ends(timedelta(minutes=4))), WARN, "whoever renews the file"),
        (token(sun="bot", exp=ends(timedelta(seconds=-1))), FAIL, "ended at 2026-01-02 03:04"),
        (token(sun="root", exp=ends(timedelta(hours=2))), FAIL, "is for root"),
        (token(sun="bot"), WARN, "does not end"),
        ("opaque", WARN, "no JSON web token"),
        ("", FAIL, "No token is set"),
    ],
)
async def test_how_long_a_token_holds(
    world: World, text: str, outcome: Outcome, words: str
) -> None:
    """It is read anew, and never shown."""
    world.write("token", text)
    world.settings += (
        '[clusters.hall.rest]\nurl = "http://ctl:6820"\nuser = "bot"\n'
        'token_file = "{folder}/token"\n'
    )

    row = await world.row("token")

    assert (row.outcome, words in row.said) == (outcome, True), row.said
    assert not text or text not in f"{row.said}{row.mend}"


async def test_a_token_in_the_settings_is_not_renewed(world: World) -> None:
    """And the file must be ours alone then."""
    inline = token(sun="bot", exp=ends(timedelta(hours=2)))
    world.settings += (
        f'[clusters.hall.rest]\nurl = "http://ctl:6820"\nuser = "bot"\ntoken = "{inline}"\n'
    )

    row = await world.row("token")

    assert row.outcome is WARN
    assert "no timer renews it" in row.said


async def test_without_accounting_jobs_are_forgotten(world: World) -> None:
    """Ordinary, but to be known; a short MinJobAge is worse then."""
    world.scheduler.told = replace(
        world.scheduler.told, accounting=False, forgets_after=timedelta(seconds=20)
    )

    assert (await world.row("accounting")).outcome is WARN
    row = await world.row("job age")
    assert row.outcome is WARN
    assert "after 20 s (MinJobAge)" in row.said


async def test_what_no_way_tells_is_not_checked(world: World) -> None:
    """Not checked is not well."""
    world.scheduler.told = replace(
        world.scheduler.told, accounting=None, forgets_after=None, may_change=None,
        rights="slurmrestd does not tell.",
    )  # fmt: skip

    for check in ("accounting", "job age", "drain and requeue"):
        assert (await world.row(check)).outcome is SKIP
    assert "Not checked: slurmrestd does not tell." in (await world.row("drain and requeue")).said


async def test_rights_that_lack(world: World) -> None:
    """Only where something is to be changed."""
    world.scheduler.told = replace(world.scheduler.told, may_change=False, rights="It is nobody.")

    assert (await world.row("drain and requeue")).outcome is FAIL
    world.settings = world.settings.replace("enabled = true", "enabled = false")
    row = await world.row("drain and requeue")
    assert row.outcome is SKIP
    assert "level 3" in row.said


async def test_a_log_that_is_not_there(world: World) -> None:
    """The job that started last is tried."""
    assert "/shared/48213.out" in (await world.row("job logs")).said
    world.scheduler.files.clear()
    row = await world.row("job logs")
    assert row.outcome is WARN
    assert "nothing is at /shared/48213.out" in row.said
    world.scheduler.forget(JOB)
    assert (await world.row("job logs")).outcome is SKIP


async def test_a_scheduler_that_breaks_off(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is the answer of the check, and the others go on."""

    async def away() -> None:
        raise SchedulerUnavailableError("The controller does not answer.")

    monkeypatch.setattr(world.scheduler, "all_nodes", away)
    checkup = await world.examined()

    said = {row.check: row for row in checkup.rows}
    assert said["nodes and VMs"].outcome is FAIL
    assert "does not answer" in said["nodes and VMs"].said
    assert said["scheduler"].outcome is OK


# nodes and VMs


async def test_nodes_without_a_vm_and_names_borne_twice(world: World) -> None:
    """Both are named; the rest counts as well."""
    world.add_node("node-9")
    world.fleet.twice = ("node-1",)

    rows = await world.rows("nodes and VMs")

    assert outcomes(rows) == [WARN, WARN, OK]
    assert "More than one VM has the name of node-1" in rows[0].said
    assert "No VM has the name of node-9, of 5 nodes" in rows[1].said
    assert rows[2].said == "3 of 5 nodes are each one VM; VMs that are no node: 2."


async def test_the_wrong_project_has_none_of_the_nodes(world: World) -> None:
    """That is a failure, not a row for each."""
    world.fleet.without_vm = world.fleet.names

    row = await world.row("nodes and VMs")

    assert row.outcome is FAIL
    assert "None of the 4 nodes" in row.said


async def test_a_node_at_another_address_is_told(world: World) -> None:
    """It may be a namesake."""
    world.node("node-1", address="10.99.0.1")

    warned, _ = await world.rows("nodes and VMs")

    assert (warned.outcome, warned.about) == (WARN, "hall: node-1")
    assert "namesake" in warned.said


async def test_nodes_of_the_settings_that_nobody_lists(world: World) -> None:
    """A slip of the pen in `nodes`."""
    rows = await world.rows("nodes and VMs", nodes=frozenset({"node-0", "gpu-7"}))

    assert "does not list gpu-7" in rows[0].said


# host keys, logins, sudo


@pytest.mark.parametrize(("kept", "outcome"), [(4, OK), (3, WARN), (0, FAIL)])
async def test_machines_without_a_pin(world: World, kept: int, outcome: Outcome) -> None:
    """Some is a warning, none a failure."""
    lines = (world.folder / "known_hosts").read_text().splitlines(keepends=True)
    world.write("known_hosts", "".join(lines[:kept]))

    row = await world.row("host keys")

    assert row.outcome is outcome
    assert kept == 4 or f"{4 - kept} of 4 machines have no pinned key" in row.said


async def test_an_authority_stands_for_all_machines(world: World) -> None:
    """And trust on first use is a warning, whatever is pinned."""
    line = (world.folder / "known_hosts").read_text().splitlines()[0].partition(" ")[2]
    world.write("known_hosts", f"@cert-authority * {line}\n")
    assert (await world.row("host keys")).outcome is OK

    world.settings = world.settings.replace("sudo = true", "sudo = true\ntrust_on_first_use = true")
    assert (await world.row("host keys")).outcome is WARN


async def test_three_machines_of_a_partition_are_asked(world: World) -> None:
    """First, middle and last of those that are up."""
    world.node("node-3", flags=frozenset({NodeFlag.NOT_RESPONDING}))

    row = await world.row("logins")

    assert row.outcome is OK
    assert row.said.startswith("node-[0-2] let us in")


async def test_a_machine_that_is_silent_is_no_fault_of_the_set_up(world: World) -> None:
    """While others let us in; where none does, it is."""
    world.network.named("node-0").silent = True
    assert outcomes(await world.rows("logins")) == [WARN, OK]

    for machine in world.network.machines.values():
        machine.silent = True
    assert outcomes(await world.rows("logins")) == [FAIL, FAIL, FAIL]


async def test_another_machine_at_the_address_is_a_failure(world: World) -> None:
    """The identity is proven here, too."""
    world.vms = world.fleet.vms()
    world.network.named("node-0").product_uuid = "another-machine"

    failed, well = await world.rows("logins")

    assert (failed.outcome, failed.about) == (FAIL, "hall: node-0")
    assert "is not node-0" in failed.said
    assert well.outcome is OK


@pytest.mark.parametrize(
    ("said", "outcome", "words"),
    [
        ("User probe may run the following commands on vm:\n    (ALL : ALL) ALL\n", WARN,
         "may do more than it needs: (ALL : ALL) ALL"),
        ("User probe is not allowed to run sudo on vm.\n", FAIL, "does not let"),
        ("sudo: a password is required\n", SKIP, "not checked"),
    ],
)  # fmt: skip
async def test_what_sudo_allows(world: World, said: str, outcome: Outcome, words: str) -> None:
    """More is a warning, less a failure, and unknown is said."""
    world.hosts.sudo["10.20.1.10"] = said

    rows = await world.rows("sudo")

    odd, well = sorted(rows, key=lambda row: row.outcome is OK)
    assert (odd.outcome, well.outcome) == (outcome, OK)
    assert words in odd.said
    assert "node-0" in odd.said
    assert "node-0" not in well.said


async def test_root_as_probe_account_is_told(world: World) -> None:
    """No sudo is needed to be too mighty."""
    world.settings = world.settings.replace('user = "probe"', 'user = "root"')

    assert (await world.row("sudo")).outcome is WARN


async def test_the_repair_account_is_looked_at_and_repairs_nothing(world: World) -> None:
    """It is let in and may run its helper; what the probe account may run is more than it needs."""
    assert outcomes(await world.rows("repair account")) == [OK, OK]

    assert world.repairing is not None
    world.repairing.sudo = dict(world.hosts.sudo)
    _, row = await world.rows("repair account")
    assert row.outcome is WARN
    assert "/usr/local/libexec/nccl-dns-probe" in row.said


async def test_a_repair_account_that_cannot_be_opened(world: World) -> None:
    """The switch is on, and nothing could be repaired."""
    world.repairing = None
    world.missing = ("Nothing is repaired: no known hosts.",)

    row = await world.row("repair account")

    assert (row.outcome, row.said) == (FAIL, "Nothing is repaired: no known hosts.")


# protected, may be touched, level


@pytest.mark.parametrize(
    ("change", "role"),
    [
        (lambda w: setattr(w, "name", "node-2.fleet.internal"), "node-2 is this machine"),
        (lambda w: setattr(w, "settings", w.settings.replace('"login"', '"node-2"')),
         "node-2 is the login node of hall"),
        (lambda w: setattr(w, "look_up", lambda _: ("10.20.1.12",)),
         "node-2 is the login node of hall"),
        (lambda w: setattr(w.scheduler, "told", replace(w.scheduler.told, controllers=("node-2",))),
         "node-2 is a controller of hall"),
        (lambda w: setattr(w, "settings", w.settings.replace(
            "[ssh.repair]", '[[ssh.jumps]]\nhost = "10.20.1.12"\nuser = "jump"\n[ssh.repair]')),
         "node-2 is a jump host"),
    ],
)  # fmt: skip
async def test_what_all_hangs_on_must_not_be_touched(
    world: World, change: Callable[[World], None], role: str
) -> None:
    """By its name, or by the address that it has; on the protected list it is safe."""
    change(world)

    row = await world.row("protected")

    assert row.outcome is FAIL
    assert role in row.said
    assert row.mend == 'Add "node-2" to [actions] protected.'
    kept = await world.row("protected", protected=frozenset({"node-2"}))
    assert kept.outcome is OK
    assert (await world.row("protected", nodes=frozenset({"node-0"}))).outcome is OK


async def test_acting_on_no_node_is_told(world: World) -> None:
    """The switch alone repairs nothing."""
    assert (await world.row("may be touched", nodes=frozenset())).outcome is WARN


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ("[ssh.repair]", "Level 2 (probe). Level 3 (act) needs"),
        ("[ssh]", "Level 1 (look). Level 2 (probe) needs"),
        ("[cloud]", "Level 0 (paste). Level 1 (look) needs"),
    ],
)
async def test_the_level_and_what_the_next_one_needs(world: World, cut: str, words: str) -> None:
    """Each is told what to write."""
    world.settings = world.settings.partition(cut)[0]

    assert (await world.row("level")).said.startswith(words)
