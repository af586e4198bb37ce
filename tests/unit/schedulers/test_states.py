"""Prove how Slurm's words for states are read."""

from __future__ import annotations

import pytest

from bot.schedulers.errors import UnreadableAnswerError
from bot.schedulers.model import JobState, NodeFlag
from bot.schedulers.slurm.states import job_state, node_list, node_state


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("RUNNING", JobState.RUNNING),
        ("CANCELLED by 1000", JobState.CANCELLED),
        ("CANCELLED+", JobState.CANCELLED),
        (["COMPLETED", "COMPLETING"], JobState.COMPLETED),
        (["RUNNING", "COMPLETING"], JobState.COMPLETING),
        (["RUNNING", "CONFIGURING"], JobState.CONFIGURING),
        (["PENDING", "REQUEUED"], JobState.PENDING),
        ("OUT_OF_MEMORY", JobState.OUT_OF_MEMORY),
        ("SPECIAL_EXIT", JobState.PENDING),
        ("SOMETHING_NEW", JobState.OTHER),
        ("", JobState.OTHER),
        ([], JobState.OTHER),
    ],
)
def test_states_of_jobs(words: str | list[str], state: JobState) -> None:
    """A flag beside an outcome does not hide the outcome; an unknown word is no known state."""
    assert job_state(words) is state


@pytest.mark.parametrize(
    ("words", "base", "flags"),
    [
        ("IDLE", "IDLE", set()),
        ("IDLE+DRAIN+PLANNED", "IDLE", {NodeFlag.DRAIN}),
        ("ALLOCATED+DRAIN", "ALLOCATED", {NodeFlag.DRAIN}),
        ("drained*", "IDLE", {NodeFlag.DRAIN, NodeFlag.NOT_RESPONDING}),
        ("draining@", "ALLOCATED", {NodeFlag.DRAIN, NodeFlag.REBOOT}),
        ("mix", "MIXED", set()),
        ("idle~", "IDLE", {NodeFlag.POWERED_DOWN}),
        ("IDLE+MAINTENANCE+RESERVED", "IDLE", {NodeFlag.MAINTENANCE, NodeFlag.RESERVED}),
        ("DOWN+NOT_RESPONDING", "DOWN", {NodeFlag.NOT_RESPONDING}),
        (["MIXED", "REBOOT_REQUESTED"], "MIXED", {NodeFlag.REBOOT}),
        (["IDLE", "REBOOT_CANCELED"], "IDLE", set()),
        (["idle", "DRAIN"], "IDLE", {NodeFlag.DRAIN}),
        ("", "UNKNOWN", set()),
    ],
)
def test_states_of_nodes(words: str | list[str], base: str, flags: set[NodeFlag]) -> None:
    """scontrol's, sinfo's and REST's spellings come to the same."""
    assert node_state(words) == (base, frozenset(flags))


def test_node_lists() -> None:
    """Slurm's order is kept, its words for "none" are no nodes, and nonsense is an error."""
    assert node_list("n[00-02,05],m1") == ("n00", "n01", "n02", "n05", "m1")
    assert node_list("m[3,1],a1,m3") == ("m3", "m1", "a1")
    assert node_list("r1n[2,1]-ib") == ("r1n2-ib", "r1n1-ib")
    assert node_list("r[1-2]n[1-2]") == ("r1n1", "r1n2", "r2n1", "r2n2")
    assert [node_list(word) for word in ("", "(null)", "None assigned")] == [(), (), ()]
    with pytest.raises(UnreadableAnswerError, match="cannot be read"):
        node_list("n[0-")
