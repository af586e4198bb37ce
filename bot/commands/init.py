"""`nccl-dns init`: a file of settings, and what the machines need for its level."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bot.errors import UsageError
from bot.hosts import installing
from bot.hosts.grants import BACKING_UP, PROBING, REPAIRING, Grant, installed_helper, sudoers
from bot.hosts.installing import Account
from bot.settings.blanks import (
    BACKUP_KEY,
    BACKUP_USER,
    KEYS_FOLDER,
    PROBE_KEY,
    PROBE_USER,
    REPAIR_KEY,
    REPAIR_USER,
)
from bot.settings.saving import save
from bot.settings.tree import Level, is_cluster_name
from bot.settings.writing import written

_NO_RBAC = "This version does not ask Kubernetes yet, so it needs no rights there."
_PACKAGE = Path(__file__).parents[1]
_EXECUTABLE, _READABLE, _OWN = 0o755, 0o644, 0o600


def accounts(level: Level) -> tuple[Account, ...]:
    """Return the accounts that a level has on the machines."""
    probe = installing.probing(PROBE_USER, PROBE_KEY)
    repair = installing.repairing(REPAIR_USER, REPAIR_KEY)
    back_up = installing.backing_up(BACKUP_USER, BACKUP_KEY)
    return {Level.PROBE: (probe,), Level.ACT: (probe, repair, back_up)}.get(level, ())


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """One row: something that can be printed, or written beside the settings."""

    #: what it is for, a sentence
    says: str
    #: name of its file
    file: str
    text: Callable[[Level], str]
    #: the least level that needs it
    level: Level = Level.PROBE
    mode: int = _READABLE


def _helper(grant: Grant) -> Callable[[Level], str]:
    def text(_: Level) -> str:
        return installed_helper(grant)

    return text


def _sudoers(user: str, grant: Grant) -> Callable[[Level], str]:
    def text(_: Level) -> str:
        return sudoers(user, grant)

    return text


def _manifest(name: str) -> Callable[[Level], str]:
    def text(_: Level) -> str:
        # beside the package in a checkout, within it where a wheel was installed
        places = (_PACKAGE / name, _PACKAGE.parent / name)
        return next(one for one in places if one.is_file()).read_text(encoding="utf-8")

    return text


def _rbac(_: Level) -> str:
    try:
        rbac = importlib.import_module("bot.schedulers.kubernetes.rbac")
    except ModuleNotFoundError:
        return f"# {_NO_RBAC}\n"
    return str(rbac.manifest())


#: In the order in which a person needs them.
PRINTS: Mapping[str, Printed] = MappingProxyType(
    {
        "keys": Printed(
            says="make the keys here, or certificates that end by themselves",
            file="make-keys.txt",
            text=lambda level: installing.keys(accounts(level), KEYS_FOLDER),
        ),
        "install": Printed(
            says="run as root on each machine: accounts, helpers and sudoers in one script",
            file="install.sh",
            text=lambda level: installing.install(accounts(level)),
            mode=_EXECUTABLE,
        ),
        "known-hosts": Printed(
            says="collect the machines' host keys over a path that you trust",
            file="known-hosts.txt",
            text=lambda _: installing.known_hosts(f"{KEYS_FOLDER}/known_hosts", by_id=True),
        ),
        "sudoers": Printed(
            says="what sudo lets the probe account do (in install.sh, too)",
            file="nccl-dns-probe.sudoers",
            text=_sudoers(PROBE_USER, PROBING),
        ),
        "helper": Printed(
            says="the probe account's helper (in install.sh, too)",
            file="nccl-dns-probe",
            text=_helper(PROBING),
            mode=_EXECUTABLE,
        ),
        "repair-sudoers": Printed(
            says="what sudo lets the repair account do (in install.sh, too)",
            file="nccl-dns-repair.sudoers",
            text=_sudoers(REPAIR_USER, REPAIRING),
            level=Level.ACT,
        ),
        "repair-helper": Printed(
            says="the repair account's helper (in install.sh, too)",
            file="nccl-dns-repair",
            text=_helper(REPAIRING),
            level=Level.ACT,
            mode=_EXECUTABLE,
        ),
        "backup-sudoers": Printed(
            says="what sudo lets the backup account do (in install.sh, too)",
            file="nccl-dns-backup.sudoers",
            text=_sudoers(BACKUP_USER, BACKING_UP),
            level=Level.ACT,
        ),
        "backup-helper": Printed(
            says="the backup account's program (in install.sh, too)",
            file="nccl-dns-backup",
            text=_helper(BACKING_UP),
            level=Level.ACT,
            mode=_EXECUTABLE,
        ),
        "rbac": Printed(
            says="the rights in a Kubernetes cluster",
            file="rbac.yaml",
            text=_rbac,
            level=Level.LOOK,
        ),
        "manifest": Printed(
            says="the manifest of the Slack app",
            file="manifest.yml",
            text=_manifest("manifest.yml"),
            level=Level.PASTE,
        ),
        "manifest-channels": Printed(
            says="the same for an app that hears its channels",
            file="manifest-channels.yml",
            text=_manifest("manifest-channels.yml"),
            level=Level.PASTE,
        ),
    }
)


def printed(what: str, level: Level) -> str:
    """Return one of the texts; raises UsageError for one that there is not.

    A text that only a higher level needs is that level's.
    """
    if what not in PRINTS:
        raise UsageError(f"--print takes one of {', '.join(PRINTS)}, not {what}.")
    row = PRINTS[what]
    return row.text(max(level, row.level))


def run(
    level: Level, cluster: str, output: Path, *, force: bool, grants: Path | None
) -> Iterator[str]:
    """Write the settings and the files beside them, and yield what a person has to do next.

    Raises UsageError for a name that is no cluster's, SettingsError for what cannot be written.
    """
    if not is_cluster_name(cluster):
        message = f"--cluster {cluster[:60]!r}: a letter first, then letters, digits, - and _."
        raise UsageError(message)
    made = written(level, cluster)
    save(output, made.text, replace=force)
    yield f"Wrote {output} (mode 600) for level {int(level)} ({level.name.lower()})."
    yield from _fill(output, made.fill)
    if grants is not None:
        yield from _files(level, grants, force=force)
    yield from _steps(level, output, grants)


def _fill(output: Path, fill: Mapping[int, tuple[str, str]]) -> Iterator[str]:
    if fill:
        yield ""
        yield "Fill in:"
    width = max((len(path) for path, _ in fill.values()), default=0)
    for number, (path, what) in fill.items():
        yield f"  {output}:{number}  {path.ljust(width)}  {what}"


def _wanted(level: Level) -> Iterator[tuple[str, Printed]]:
    for name, row in PRINTS.items():
        if row.level <= level and not row.text(level).startswith("# This version"):
            yield name, row


def _files(level: Level, folder: Path, *, force: bool) -> Iterator[str]:
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    yield ""
    yield f"Wrote into {folder}:"
    rows = [row for _, row in _wanted(level)]
    width = max((len(row.file) for row in rows), default=0)
    for row in rows:
        save(folder / row.file, row.text(level), replace=force, mode=row.mode)
        yield f"  {row.file.ljust(width)}  {row.says}"


def _steps(level: Level, output: Path, grants: Path | None) -> Iterator[str]:
    yield ""
    yield "Then:"
    for name, row in _wanted(level):
        if name in {"keys", "install", "known-hosts"}:
            how = str(grants / row.file) if grants else f"nccl-dns init --print {name}"
            at = f" --level {level.name.lower()}" if not grants and level is Level.ACT else ""
            yield f"  {how}{at}: {row.says}"
    yield f"  nccl-dns doctor --config {output}: what is still missing"
    yield ""
    yield "In Slack: make an app of `nccl-dns init --print manifest`, put its tokens into [slack]"
    yield "  (bot_token, app_token), then `nccl-dns serve`."
