"""The file system that all machines share below their own, and PyTorch; made once and kept.

Debian 12 by debootstrap (about 100 s, 300 MB), and an environment with a CPU build of PyTorch by
pip. Both lie in the user's cache, under the digest of this recipe.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.lab.running import LabError, run

_PACKAGES = (
    "systemd", "systemd-sysv", "systemd-resolved", "libnss-resolve", "dbus", "openssh-server",
    "iproute2", "sudo", "rsync", "python3-minimal", "procps",
)  # fmt: skip
#: What would start a service at install; `policy-rc.d` keeps it from that.
_LATER = ("slurmd", "slurm-client", "munge")
_TORCH = ("torch==2.13.0", "numpy")
_UNITS = ("munge", "slurmd", "ssh", "systemd-resolved")
_SLOW_S = 1200.0

TRAIN = '''\
"""Bring up a process group, as a training job does first, and train for some steps.

CRASH_RANK dies before it. STEPS steps of a tenth of a second each.
"""
import datetime
import os
import time

import torch
import torch.distributed as dist

if os.environ.get("CRASH_RANK") == os.environ.get("RANK"):
    raise RuntimeError("CUDA error: out of memory (made by CRASH_RANK)")
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=int(os.environ.get("T", "20"))))
print(f"[rank {dist.get_rank()}] up", flush=True)
dist.barrier()
for step in range(int(os.environ.get("STEPS", "5"))):
    loss = torch.ones(1)
    dist.all_reduce(loss)
    if dist.get_rank() == 0:
        print(f"step {step} loss {loss.item():.3f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
'''


@dataclass(frozen=True, kw_only=True)
class Made:
    """What the machines are made of."""

    #: the file system
    root: Path
    #: a Python with PyTorch, and where that Python comes from
    torch: Path
    python: Path
    #: what every machine sees as /opt/lab
    opt: Path


def cache() -> Path:
    """Return where it is kept."""
    given = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(given) / "nccl-dns-bot-lab"


def made() -> Made:
    """Make what is not there yet, say what is being made, and return it."""
    kept = cache()
    kept.mkdir(parents=True, exist_ok=True)
    kept.chmod(0o755)
    with _alone(kept):
        root = kept / f"root-{_digest(_PACKAGES, _LATER, _UNITS)}"
        if not root.exists():
            _say("making the machines' file system, which takes two minutes")
            _make_root(kept / "new", root)
        torch = kept / f"torch-{_digest(_TORCH, (sys.base_prefix, sys.version))}"
        if not (torch / "made").exists():
            _say("installing PyTorch into the lab's own environment, which takes a minute or two")
            _make_torch(torch)
        opt = kept / "opt"
        opt.mkdir(exist_ok=True)
        (opt / "train.py").write_text(TRAIN, encoding="utf-8")
    return Made(root=root, torch=torch, python=Path(sys.base_prefix), opt=opt)


def _make_root(new: Path, root: Path) -> None:
    shutil.rmtree(new, ignore_errors=True)
    include = f"--include={','.join(_PACKAGES)}"
    run("debootstrap", "--variant=minbase", include, "bookworm", new, _mirror(), within_s=_SLOW_S)
    for conf in Path("/etc/apt/apt.conf.d").iterdir():
        shutil.copy(conf, new / "etc/apt/apt.conf.d")
    (new / "etc/resolv.conf").unlink(missing_ok=True)
    shutil.copy("/etc/resolv.conf", new / "etc/resolv.conf")
    policy = new / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
    policy.chmod(0o755)
    inside = ("chroot", new, "env", "DEBIAN_FRONTEND=noninteractive")
    run(*inside, "apt-get", "update", "-q", within_s=_SLOW_S)
    run(*inside, "apt-get", "install", "-yq", "--no-install-recommends", *_LATER, within_s=_SLOW_S)
    policy.unlink()
    run("chroot", new, "systemctl", "enable", *_UNITS)
    # each machine makes its own at its first start
    for key in (new / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    (new / "etc/machine-id").write_text("", encoding="ascii")
    new.rename(root)


def _mirror() -> str:
    """Return the Debian mirror that this machine installs from."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for place in places:
        text = place.read_text(encoding="utf-8") if place.is_file() else ""
        for line in text.splitlines():
            if "security" in line or not line.startswith(("deb ", "URIs:")):
                continue
            for word in line.split():
                if "://" in word and word.rstrip("/").endswith("/debian"):
                    return word
    raise LabError("No Debian mirror stands in the sources of apt, so no machine can be made.")


def _make_torch(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "venv", folder, within_s=_SLOW_S)
    run(folder / "bin/pip", "install", "-q", *_TORCH, within_s=_SLOW_S)
    (folder / "made").touch()


def _digest(*parts: tuple[str, ...]) -> str:
    return sha256(repr(parts).encode()).hexdigest()[:12]


def _say(sentence: str) -> None:
    print(f"lab: {sentence}", file=sys.stderr, flush=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else make the same meanwhile."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
