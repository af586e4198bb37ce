"""Make the lines of a job that does well: steps, losses, and the chatter around them.

Five styles of progress (plain logging, Megatron-LM, Hugging Face Trainer, tqdm, Lightning), the
chatter of loaders, checkpoints and trackers, and the preparation of data before a rendezvous.
"""

from __future__ import annotations

from random import Random

from tests.benchmarks.job import C10_MINUTE, ISO_MINUTE, STEP, Line, c10_stamp, host

_BAR = "█" * 10


def _bar(percent: int) -> str:
    return _BAR[: percent // 10].ljust(10)


def _plain(rng: Random, rank: int, step: int, second: int) -> str:
    return (
        f"{ISO_MINUTE}:{second:02},{rng.randrange(1000):03} INFO train rank={rank} "
        f"step={STEP}{step:03} loss={rng.uniform(1.6, 3.1):.4f} lr={rng.uniform(1e-5, 3e-4):.3e} "
        f"grad_norm={rng.uniform(0.2, 1.4):.3f} tokens_per_s={rng.randrange(11000, 13999)}"
    )


def _short(rng: Random, _rank: int, step: int, _second: int) -> str:
    return f"step {STEP}{step:03} | loss {rng.uniform(1.6, 3.1):.4f} | {rng.uniform(3, 5):.2f} s/it"


def _megatron(rng: Random, _rank: int, step: int, second: int) -> str:
    return (
        f" [{ISO_MINUTE}:{second:02}] iteration {STEP}{step:03}/ 9000000 | consumed samples: "
        f"{STEP}{step:03}024 | elapsed time per iteration (ms): {rng.uniform(4100, 4900):.1f} | "
        f"learning rate: {rng.uniform(1e-5, 3e-4):.6E} | global batch size:  1024 | "
        f"lm loss: {rng.uniform(1.6, 3.1):.6E} | loss scale: 1.0 | "
        f"grad norm: {rng.uniform(0.2, 1.4):.3f} | number of skipped iterations:   0 | "
        "number of nan iterations:   0 |"
    )


def _hf_trainer(rng: Random, _rank: int, step: int, _second: int) -> str:
    return (
        f"{{'loss': {rng.uniform(1.6, 3.1):.4f}, 'grad_norm': {rng.uniform(0.2, 1.4)}, "
        f"'learning_rate': {rng.uniform(1e-5, 3e-4)}, 'epoch': {STEP}.{step:03}}}"
    )


def _tqdm(rng: Random, _rank: int, step: int, second: int) -> str:
    # Pieces of one bar are parted by carriage returns: tqdm writes a new line only at the end.
    percent = step // 10
    return "\r".join(
        f"Training: {percent:>3}%|{_bar(percent)}| {STEP}{step:03}/9000000 "
        f"[{second:02}:{rng.randrange(60):02}<31:10, {rng.uniform(1, 3):.2f}it/s, "
        f"loss={rng.uniform(1.6, 3.1):.3f}]"
        for _ in range(rng.choice((1, 1, 1, 4)))
    )


def _lightning(rng: Random, _rank: int, step: int, second: int) -> str:
    percent = step // 10
    return (
        f"Epoch {STEP}: {percent:>3}%|{_bar(percent)}| {step}/1000 [00:{second:02}<03:09, "
        f"{rng.uniform(1, 3):.2f}it/s, v_num=3, train_loss_step={rng.uniform(1.6, 3.1):.3f}, "
        f"train_loss_epoch={rng.uniform(1.6, 3.1):.3f}]"
    )


def _loader(rng: Random, _rank: int, step: int, second: int) -> str:
    return (
        f"{ISO_MINUTE}:{second:02} [dataloader] worker {rng.randrange(8)}/8: shard "
        f"{STEP}{step:03} read in {rng.uniform(0.2, 4):.2f} s, 0 errors, timeout=120, prefetch=4"
    )


def _checkpoint(rng: Random, rank: int, step: int, second: int) -> str:
    return (
        f"{ISO_MINUTE}:{second:02} INFO checkpoint saved to /ckpt/llm-7b/step_{STEP}{step:03}/"
        f"shard_{rank:05}.pt ({rng.uniform(2, 4):.2f} GB in {rng.uniform(4, 20):.1f} s)"
    )


def _tracker(rng: Random, _rank: int, step: int, _second: int) -> str:
    if rng.random() < 0.5:
        return f"wandb: \\ 0.{step:03} MB of 1.{step:03} MB uploaded (0.000 MB deduped)"
    return "wandb: Synced 5 W&B file(s), 0 media file(s), 2 artifact file(s) and 1 other file(s)"


def _warning(rng: Random, rank: int, _step: int, second: int) -> str:
    kind = rng.randrange(4)
    if kind == 0:
        return (
            "/opt/venv/lib/python3.11/site-packages/torch/utils/checkpoint.py:429: UserWarning: "
            "torch.utils.checkpoint: please pass in use_reentrant=True or use_reentrant=False."
        )
    if kind == 1:
        return (
            f"[rank{rank}]:[W{c10_stamp(rng, second)} Utils.hpp:136] Warning: Environment variable "
            "NCCL_ASYNC_ERROR_HANDLING is deprecated; use TORCH_NCCL_ASYNC_ERROR_HANDLING instead "
            "(function operator())"
        )
    if kind == 2:
        return (
            f"W0{C10_MINUTE}:{second:02}.{rng.randrange(1000):03}000 {rng.randrange(9000, 99000)} "
            "site-packages/torch/_dynamo/convert_frame.py:844] [0/8] torch._dynamo hit "
            "config.cache_size_limit (8)"
        )
    return "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated."


def _memory(rng: Random, rank: int, step: int, second: int) -> str:
    return (
        f"{ISO_MINUTE}:{second:02} DEBUG {host(rank)} gpu {rank % 8} allocated "
        f"{rng.uniform(50, 62):.1f} GiB, reserved {rng.uniform(62, 75):.1f} GiB, step "
        f"{STEP}{step:03}"
    )


def _evaluation(rng: Random, _rank: int, step: int, _second: int) -> str:
    return (
        f"eval @ {STEP}{step:03}: accuracy {rng.random():.4f} error {rng.random():.4f} perplexity "
        f"{rng.uniform(5, 20):.2f} connected_components 12 retries 0"
    )


def _hf_map(rng: Random, _rank: int, step: int, second: int) -> str:
    percent = step // 10
    return (
        f"Map (num_proc=16): {percent:>3}%|{_bar(percent)}| {STEP}{step:03}/9000000 "
        f"[00:{second:02}<00:17, {rng.uniform(9000, 40000):.2f} examples/s]"
    )


def _tokenized(rng: Random, rank: int, step: int, second: int) -> str:
    return (
        f"{ISO_MINUTE}:{second:02},{rng.randrange(1000):03} INFO data {host(rank)} tokenized shard "
        f"{STEP}{step:03}: {rng.randrange(90000, 190000)} documents, {rng.uniform(40, 99):.1f} M "
        f"tokens, {rng.uniform(4, 20):.1f} s"
    )


def _index_map(rng: Random, _rank: int, step: int, _second: int) -> str:
    return (
        f" > building the index map for train split, {STEP}{step:03} samples: "
        f"{rng.randrange(10**6)} sequences, elapsed time (seconds): {rng.uniform(0.1, 9):.6f}"
    )


def _too_long(rng: Random, _rank: int, _step: int, _second: int) -> str:
    return (
        "Token indices sequence length is longer than the specified maximum sequence length for "
        f"this model ({rng.randrange(4097, 9999)} > 4096). Running this sequence through the model "
        "will result in indexing errors"
    )


#: Progress of a running job, with how often each style comes.
PROGRESS: tuple[tuple[Line, int], ...] = (
    (_plain, 30),
    (_short, 18),
    (_megatron, 6),
    (_hf_trainer, 8),
    (_tqdm, 6),
    (_lightning, 6),
)
#: What else a running job says.
CHATTER: tuple[tuple[Line, int], ...] = (
    (_loader, 3),
    (_checkpoint, 1),
    (_tracker, 1),
    (_warning, 1),
    (_memory, 2),
    (_evaluation, 1),
)
#: What a job says that prepares its data and has no process group yet.
PREPARATION: tuple[tuple[Line, int], ...] = (
    (_hf_map, 4),
    (_tokenized, 6),
    (_index_map, 3),
    (_too_long, 1),
    (_loader, 4),
    (_warning, 1),
)
