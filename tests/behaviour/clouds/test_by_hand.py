"""Prove the whole way with real time: a server in another process, a profile, an action."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.clouds.crusoe.cloud import CrusoeCloud, open_session
from bot.clouds.crusoe.profiles import read_profile
from bot.clouds.model import Action, OperationState

ROOT = Path(__file__).parents[3]


@pytest.fixture
def profile(tmp_path: Path) -> Iterator[Path]:
    """Run the server as a person would and put what it prints where Crusoe's tools look."""
    command = [sys.executable, "-m", "playground.crusoe", "gpu-0", "gpu-1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        with closing(server.stdout):
            printed = "".join(server.stdout.readline() for _ in range(5))
            config = tmp_path / "config"
            config.write_text(printed, encoding="utf-8")
            yield config
            server.terminate()


@pytest.mark.anyio
async def test_a_printed_profile_leads_to_its_vms(profile: Path) -> None:
    """With the clocks and sockets of two processes, a VM is found by name and acted on."""
    read = read_profile(profile, environ={})

    async with open_session(read.endpoint, read.credentials) as session:
        cloud = CrusoeCloud(session, project=read.default_project)
        (vm,) = await cloud.named("gpu-1")
        begun = await cloud.act(vm.id, Action.STOP)
        shown = await cloud.operation(begun.id)

    assert shown.state is OperationState.IN_PROGRESS
    assert (shown.vm_id, shown.action) == (vm.id, Action.STOP)
