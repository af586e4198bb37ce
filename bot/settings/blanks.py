"""What a new file of settings sets at each level, and what a person has to fill in there.

Every other setting stands in the file as a comment with its default. `*` is the cluster's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.hosts.grants import HELPER_PATH
from bot.settings.tree import Level, Settings

#: Where `nccl-dns init --print keys` makes the keys.
KEYS_FOLDER = "~/.config/nccl-dns"
PROBE_KEY, REPAIR_KEY = f"{KEYS_FOLDER}/probe-key", f"{KEYS_FOLDER}/repair-key"
BACKUP_KEY, BACKUP_USER = f"{KEYS_FOLDER}/backup-key", "nccl-backup"
PROBE_USER, REPAIR_USER = "nccl-probe", "nccl-repair"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One row: a setting that is not left at its default."""

    path: str
    value: object
    #: from which level on it is set
    level: Level
    #: up to which level
    until: Level = Level.ACT
    #: what a person writes there; empty where the value may stay
    fill: str = ""
    #: nothing works while it is empty
    must: bool = False


LINES: tuple[Line, ...] = (
    Line(path="cloud.kind", value="crusoe", level=Level.LOOK),
    Line(
        path="cloud.project", value="", level=Level.LOOK, must=True,
        fill="name or id of the project, as the console shows it",
    ),
    Line(
        path="clusters.*.nodes", value=[], level=Level.ACT, must=True,
        fill='the machines that may be touched, such as ["gpu-[0-31]"]',
    ),
    Line(
        path="clusters.*.rest.url", value="", level=Level.LOOK, until=Level.LOOK, must=True,
        fill="where slurmrestd listens, such as http://ctl:6820",
    ),
    Line(
        path="clusters.*.rest.user", value="", level=Level.LOOK, until=Level.LOOK, must=True,
        fill="the user whom the token is for",
    ),
    Line(
        path="clusters.*.rest.token_file", value=f"{KEYS_FOLDER}/slurm-token", level=Level.LOOK,
        until=Level.LOOK, fill="a file, mode 600, with what `scontrol token` printed behind the =",
    ),
    Line(
        path="clusters.*.login.host", value="", level=Level.PROBE,
        fill="a machine where Slurm's commands work; empty for this one",
    ),
    Line(
        path="clusters.*.login.user", value="", level=Level.PROBE,
        fill=f"the account there; empty for {PROBE_USER}",
    ),
    Line(path="ssh.user", value=PROBE_USER, level=Level.PROBE),
    Line(path="ssh.keys", value=[PROBE_KEY], level=Level.PROBE),
    Line(path="ssh.known_hosts", value=f"{KEYS_FOLDER}/known_hosts", level=Level.PROBE),
    Line(path="ssh.sudo", value=True, level=Level.PROBE),
    Line(path="ssh.helper", value=HELPER_PATH, level=Level.PROBE),
    Line(path="ssh.repair.user", value=REPAIR_USER, level=Level.ACT),
    Line(path="ssh.repair.keys", value=[REPAIR_KEY], level=Level.ACT),
    Line(path="ssh.backup.user", value=BACKUP_USER, level=Level.ACT),
    Line(path="ssh.backup.keys", value=[BACKUP_KEY], level=Level.ACT),
    Line(
        path="actions.enabled", value=False, level=Level.ACT,
        fill="true, once `nccl-dns doctor` has no FAIL left",
    ),
    Line(
        path="actions.protected", value=[], level=Level.ACT,
        fill="controllers, login, storage and jump hosts, and the machine of this bot",
    ),
)  # fmt: skip


def lines(level: Level, cluster: str) -> dict[str, Line]:
    """Return what is set at a level, by the setting's path."""
    return {
        line.path.replace("*", cluster): line for line in LINES if line.level <= level <= line.until
    }


def empty(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each setting that is still empty and must not be, and what to write there.

    A part that is not set at all lacks nothing.
    """
    told = settings.model_dump(exclude_unset=True)
    for line in LINES:
        if line.must and line.level <= settings.level:
            for path, value in _values(told, line.path.split("."), ()):
                if not value:
                    yield ".".join(path), line.fill


def _values(
    told: object, path: list[str], done: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], object]]:
    if not path:
        yield done, told
    elif isinstance(told, dict):
        for name in told if path[0] == "*" else [path[0]]:
            if name in told:
                yield from _values(told[name], path[1:], (*done, name))
