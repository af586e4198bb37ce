"""Prove what is seen from within a container: a process with other mounts and another root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hosts import probes, wire
from bot.hosts.model import Row
from bot.hosts.readings import Container
from tests.behaviour.hosts.sshd import is_root

pytestmark = [
    pytest.mark.needs("unshare"),
    pytest.mark.skipif(not is_root(), reason="only root enters namespaces"),
]

#: Says who it runs as, instead of looking a name up.
GETENT = """#!/bin/sh
id -u >/seen/uid
grep -E "Cap(Eff|Bnd)|NoNewPrivs" /proc/self/status >/seen/caps
exit 2
"""


@pytest.fixture
def rank(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """Run a rank in a container whose `getent` is its own; return its number and what it saw."""
    root, seen = tmp_path / "root", tmp_path / "root" / "seen"
    for name in ("etc", "seen", "proc", "opt"):
        (root / name).mkdir(parents=True)
    seen.chmod(0o777)
    tmp_path.chmod(0o755)
    (root / "etc" / "resolv.conf").write_text("nameserver 127.0.0.9\nsearch pod.internal\n")
    getent = root / "opt" / "getent"
    getent.write_text(GETENT)
    getent.chmod(0o755)
    binds = [
        name for name in ("dev", "usr", "bin", "lib", "lib64", "sbin") if Path("/", name).exists()
    ]
    steps = [
        f"mount --bind {root} {root}",
        *(f"mkdir -p {root}/{name} && mount --rbind /{name} {root}/{name}" for name in binds),
        f"mount -t proc proc {root}/proc",
        f"mount --bind {getent} {root}/usr/bin/getent",
        f"exec chroot {root} /bin/sleep 60",
    ]
    if not shutil.which("getent"):
        pytest.skip("no getent to stand in for")
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-ec", "; ".join(steps)],
        env={**os.environ, "RANK": "3"},
    ) as process:
        try:
            until = time.monotonic() + 10
            while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.02)
            yield process.pid, seen
        finally:
            process.kill()


def _containers() -> tuple[Container, ...]:
    row = Row(
        name=probes.CONTAINERS.name,
        argv=("@containers", "node-0.pod.internal"),
        timeout=timedelta(seconds=9),
        most_bytes=99999,
    )
    done = subprocess.run(
        [sys.executable, *wire.PYTHON[1:]],
        input=wire.standard_input([row], timedelta(seconds=10)),
        capture_output=True,
        check=True,
    )
    answers = wire.Answers([row])
    answers.feed(done.stdout)
    return probes.CONTAINERS.parse(answers.results[row.name])


def test_a_ranks_container_is_looked_into(rank: tuple[int, Path]) -> None:
    """Its own resolv.conf is read, and a name is looked up with its own files and libraries."""
    pid, _ = rank

    (found,) = [one for one in _containers() if one.pid == pid]

    assert found.rank
    assert found.servers == ("127.0.0.9",)
    assert found.search == ("pod.internal",)
    assert found.lookups == {"node-0.pod.internal": 2}
    assert [(one.server, one.reached) for one in found.answers] == [("127.0.0.9", False)]


def test_a_containers_program_gains_nothing(rank: tuple[int, Path]) -> None:
    """What a container brings as `getent` runs as nobody, without capabilities, for good."""
    _, seen = rank

    _containers()

    caps = dict(line.split(":\t") for line in (seen / "caps").read_text().splitlines())
    assert (seen / "uid").read_text().strip() == "65534"
    assert int(caps["CapEff"], 16) == int(caps["CapBnd"], 16) == 0
    assert caps["NoNewPrivs"] == "1"
