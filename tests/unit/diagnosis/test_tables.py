"""The tables of prefixes and signatures: every row does what its example says."""

from __future__ import annotations

import pytest

from bot.diagnosis.decide import LOOKUPS
from bot.diagnosis.explain import HEADS, NEXT_STEPS, RESTART_MAY_HELP
from bot.diagnosis.kinds import Cause, Kind
from bot.diagnosis.origin import NOWHERE, Origin
from bot.diagnosis.peeling import peel
from bot.diagnosis.prefixes import PREFIXES, Prefix
from bot.diagnosis.progress import is_progress
from bot.diagnosis.signatures import SIGNATURES, Signature, literals

LINE = "[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of (a, 1)"


@pytest.mark.parametrize("row", PREFIXES, ids=lambda row: row.source)
def test_a_prefix_comes_off_whole(row: Prefix) -> None:
    """Each row takes its own example off a line and leaves the line as it was."""
    assert peel(row.example.format(LINE)).text == LINE


@pytest.mark.parametrize("row", PREFIXES, ids=lambda row: row.source)
def test_a_prefix_is_found_behind_others(row: Prefix) -> None:
    """What a prefix tells does not depend on a time, a colour or a quotation mark before it."""
    plain = peel(row.example.format(LINE)).origin
    for outer in ("2026-11-30T17:26:18.842814Z ", "\x1b[36m", "> ", "17:26:18 "):
        assert peel(outer + row.example.format(LINE)).origin == plain


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[rank64]: ", Origin(rank=64)),
        ("64: ", Origin(task=64)),
        ("  7: ", Origin(task=7)),
        ("[1,64]<stderr>:", Origin(task=64)),
        ("[1,mpirank:3,algo-2]<stdout>:", Origin(task=3, host="algo-2")),
        ("0: [1,10]<stdout>:", Origin(task=0)),
        ("[default3]:", Origin(local_rank=3)),
        ("[node-8:default3]: ", Origin(host="node-8", local_rank=3)),
        ("(RayTrainWorker pid=4126, ip=10.42.0.12) ", Origin(host="10.42.0.12", process="4126")),
        ("(W pid=1, ip=[2001:db8::7]) ", Origin(host="2001:db8::7", process="1")),
        ("(worker1, rank=1, pid=2, ip=10.0.0.9) ", Origin(host="10.0.0.9", node_rank=1)),
        ("node-8: ", Origin(host="node-8")),
        ("gpu-04: ", Origin(host="gpu-04")),
        ("10.0.0.7: ", Origin(host="10.0.0.7")),
        ("gpu218: ", Origin(host="gpu218")),
        ("worker-2  | ", Origin(host="worker-2")),
        ("[pod/trn-worker-2/pytorch] ", Origin(host="trn-worker-2")),
        ("trn-worker-2 pytorch ", Origin(host="trn-worker-2")),
        ("Nov 30 17:26:18 node-8 slurmstepd[42]: ", Origin(host="node-8", process="42")),
        ("2026-11-30T17:26:18.1Z algo-2 ", Origin(host="algo-2")),
        ("2026-11-30T17:26:18.1Z 64: ", Origin(task=64)),
        ("logs/rank_64.log:", Origin(file="logs/rank_64.log", rank=64)),
    ],
)
def test_what_a_prefix_tells(line: str, told: Origin) -> None:
    """Ranks, tasks, node ranks and local ranks stay apart, and hosts keep their spelling."""
    assert peel(line + LINE).origin == told


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: CUDA error: out of memory",
        "torch.distributed.DistStoreError: wait timeout after 30000ms",
        "srun: error: node-2: task 5: Exited with exit code 1",
        "slurmstepd-node-0: error: *** STEP 9.0 ON node-0 CANCELLED",
        "ValueError: host not found: Name or service not known",
        "epoch 3: loss 0.1",
        "ssh: Could not resolve hostname w1: Temporary failure in name resolution",
        "python3: can't open file 'train.py'",
        "node-1 is down and was removed",
    ],
)
def test_a_message_is_no_prefix(line: str) -> None:
    """The first words of a message are not taken for a machine."""
    assert peel(line).origin == NOWHERE


@pytest.mark.parametrize("row", SIGNATURES, ids=lambda row: f"{row.kind}: {row.literals[0]}")
def test_a_signature_matches_its_example(row: Signature) -> None:
    """Each row's literals wake the scanner on its example, and its pattern reads it."""
    assert any(literal in row.example for literal in row.literals)
    assert row.pattern.search(peel(row.example).text) or row.pattern.search(row.example)


@pytest.mark.parametrize("row", SIGNATURES, ids=lambda row: f"{row.kind}: {row.literals[0]}")
def test_a_signature_says_what_it_means(row: Signature) -> None:
    """A row without its meaning and version cannot be reviewed."""
    assert row.means
    assert row.since


def test_literals_survive_json_escaping() -> None:
    """A literal holds no character that JSON escapes, and none that is in every training line."""
    for literal in literals():
        assert literal.isascii()
        assert not set(literal) & set(b'"\\\n\r\t')
        assert len(literal) >= 3


def test_every_kind_has_a_signature() -> None:
    """No kind is left that nothing can observe."""
    made_elsewhere = {Kind.PROGRESS}
    assert {row.kind for row in SIGNATURES} | made_elsewhere == set(Kind)


def test_every_cause_has_words() -> None:
    """Each cause has a summary and next steps."""
    assert set(HEADS) == set(NEXT_STEPS) == set(Cause)


def test_only_a_failed_resolver_may_be_helped_by_a_restart() -> None:
    """A wrong restart destroys work: one cause alone may advise it."""
    assert frozenset({Cause.RESOLVER_FAILED}) == RESTART_MAY_HELP


def test_no_row_calls_a_name_that_nobody_can_resolve_a_sick_resolver() -> None:
    """Whoever is told that a name does not exist has a resolver that answers."""
    for row in LOOKUPS:
        if row.cause is Cause.RESOLVER_FAILED:
            assert row.answer == {"no_answer"}
            assert "malformed" not in row.names


@pytest.mark.parametrize(
    "line",
    [
        "step 10 loss: 2.3411 lr: 3e-4",
        "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.01}",
        " iteration      100/   5000 | consumed samples: 25600 | lm loss: 8.4E+00 | TFLOPs: 120.1",
        "Epoch 3/10:  12%|#2  | 120/1000 [00:31<03:48,  3.85it/s, v_num=0]",
        "[rank 6] up",
        "rank 3 allreduce 4.0",
        "h200-1:1:2 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 8 - Init COMPLETE",
        "All distributed processes registered. Starting with 8 processes",
        "> initializing ddp with size 8",
        "Training: epoch 2 batch 300",
    ],
)
def test_progress_is_recognised(line: str) -> None:
    """What is printed only once the group is up counts as progress."""
    assert is_progress(line)


@pytest.mark.parametrize(
    "line",
    [
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "slurmstepd: error: *** STEP 9.0 ON node-0 CANCELLED AT 2026-11-30T17:30:03 ***",
        "num_epochs=3 max_steps=1000 batch_size=8",
        "$ torchrun --nproc-per-node 8 train.py --epochs 10 --steps 100",
        "The client socket has timed out after 30000ms while trying to connect to (a, 1).",
        "waiting for rank 3 to be ready",
        "Starting up step 1 failed",
    ],
)
def test_no_progress_is_seen_where_there_is_none(line: str) -> None:
    """Launchers, options and errors that have such words are no progress."""
    assert not is_progress(line)
