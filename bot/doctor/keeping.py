"""Checks of what lies on this machine: the settings, secrets and keys, state, the store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, warn
from bot.hosts.ssh.certificates import faults
from bot.hosts.ssh.options import Keys
from bot.hosts.ssh.validity import certificate_end
from bot.settings import Level, Settings
from bot.settings.blanks import empty

#: Bits by which anybody else may read, write or enter, and by which anybody else may write.
_OTHERS, _OTHERS_WRITE = 0o077, 0o022
#: A certificate that ends sooner needs a new one before a night is over.
_SOON = timedelta(hours=1)


async def settings_file(look: Look) -> Sequence[Answer]:
    """Say which file was read, and who else may read or write it."""
    path, level = look.config, look.settings.level
    if path is None:
        if level is Level.PASTE:
            return (
                warn(
                    "No settings were found: only logs are diagnosed.",
                    "Make a file: `nccl-dns init`.",
                ),
            )
        return (ok("No file: everything comes from the environment (NCCL_DNS_…)."),)
    mode = path.stat().st_mode & 0o777
    mend = f"chmod 600 {path}"
    if mode & _OTHERS_WRITE:
        said = f"{path} can be written by others (mode {mode:03o}): they decide what is trusted."
        return (fail(said, mend),)
    if mode & _OTHERS and (named := _inline(look.settings)):
        return (warn(f"{path} holds {named} and can be read by others (mode {mode:03o}).", mend),)
    return [ok(f"{path} (mode {mode:03o})."), *_blanks(look.settings)]


def _blanks(settings: Settings) -> Iterator[Answer]:
    for path, what in empty(settings):
        yield fail(f"{path} is still empty.", f"Fill in {what}.", path)


def _inline(settings: Settings) -> str:
    """Return the names of the secrets that stand in the settings themselves."""
    found = ["cloud.secret_key"] if settings.cloud.secret_key.get_secret_value() else []
    found += [
        f"clusters.{name}.rest.token"
        for name, one in settings.clusters.items()
        if one.rest and one.rest.token.get_secret_value()
    ]
    if "@" in settings.store.url:
        found.append("store.url")
    return ", ".join(found)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Secret:
    setting: str
    path: Path
    #: the account that a key logs in with; empty for what is no key
    user: str = ""


def _secrets(settings: Settings) -> Iterator[_Secret]:
    if settings.cloud.secret_key_file:
        yield _Secret(setting="cloud.secret_key_file", path=settings.cloud.secret_key_file)
    for name, one in settings.clusters.items():
        if one.rest and one.rest.token_file:
            yield _Secret(setting=f"clusters.{name}.rest.token_file", path=one.rest.token_file)
        for path in one.login.keys if one.login else ():
            user = one.login.user if one.login else ""
            yield _Secret(setting=f"clusters.{name}.login.keys", path=path, user=user)
    if settings.ssh:
        accounts = {"ssh": settings.ssh, "ssh.repair": settings.ssh.repair}
        for setting, account in accounts.items():
            for path in account.keys if account else ():
                user = account.user if account else ""
                yield _Secret(setting=f"{setting}.keys", path=path, user=user)


async def files(look: Look) -> Sequence[Answer]:
    """Say of each file of a secret whether we alone can read it, and of each key how long it is."""
    found = [answer for one in _secrets(look.settings) for answer in _file(one, look)]
    return found or (ok("The settings name no file of a secret or key."),)


def _file(one: _Secret, look: Look) -> Iterator[Answer]:
    about = one.setting
    try:
        mode = one.path.stat().st_mode & 0o777
        with one.path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        said = f"{one.path} cannot be read: {error.strerror}."
        yield fail(said, f"Put the file there, or change {one.setting}.", about)
        return
    if empty:
        yield fail(f"{one.path} is empty.", "Write the secret into it, and nothing else.", about)
        return
    if mode & _OTHERS:
        said = f"{one.path} can be read by others (mode {mode:03o})."
        yield warn(said, f"chmod 600 {one.path}", about)
    elif not one.user:
        yield ok(f"{one.path} (mode {mode:03o}).", about)
    if one.user:
        yield _key(one, look)


def _key(one: _Secret, look: Look) -> Answer:
    """Say what a key's certificate comes to."""
    if fault := next(faults(Keys(files=(one.path,)), one.user), ""):
        return fail(fault, "Make a new one; see `nccl-dns init --print keys`.", one.setting)
    end = certificate_end(one.path)
    if end is None:
        said = f"{one.path} is a key without a certificate, so it does not end by itself."
        return ok(said, one.setting)
    left = end - look.now()
    said = f"The certificate of {one.path} ends at {end:%Y-%m-%d %H:%M} UTC."
    if left < _SOON:
        mend = "Sign a new one, from a timer; see `nccl-dns init --print keys`."
        return warn(said, mend, one.setting)
    return ok(said, one.setting)


async def state_folder(look: Look) -> Sequence[Answer]:
    """Say whether the state folder can be written to."""
    folder = look.settings.state_dir
    mend = f"mkdir -p -m 700 {folder}, owned by the account that this runs as; or set state_dir."
    if not folder.is_dir():
        if look.services.store is None or look.settings.store.url:
            return (fail(f"{folder} does not exist.", mend),)
        return (fail(f"{folder} is no folder.", mend),)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        return (fail(f"{folder} cannot be written to: {error.strerror}.", mend),)
    mode = folder.stat().st_mode & 0o777
    if mode & _OTHERS:
        said = f"{folder} is open to others (mode {mode:03o}); incidents are kept there."
        return (warn(said, f"chmod 700 {folder}"),)
    free = os.statvfs(folder)
    left_mb = free.f_bavail * free.f_frsize // 1_000_000
    return (ok(f"{folder} can be written to; {left_mb:,} MB are free."),)


async def store(look: Look) -> Sequence[Answer]:
    """Say whether the store can be written to and has the newest schema."""
    if look.services.store is None:
        said = look.closed("Nothing is kept:") or "It is not open."
        return (fail(said, "Look at [store] url, and at the database."),)
    at, newest = await look.services.store.revisions()
    if at != newest:
        return (fail(f"It is at schema {at or 'none'}, not at {newest}.", "Start nccl-dns anew."),)
    kind = "SQLite" if look.settings.store_url.startswith("sqlite") else "PostgreSQL"
    return (ok(f"{kind} takes a write and has the newest schema ({at})."),)
