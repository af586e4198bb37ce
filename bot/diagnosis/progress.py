"""Signs that the group did come up: ranks that report, steps logged, communicators initialised.

Training prints such lines by the million, so they are no signatures: they are looked for only where
a failure came before (see `second_look`), and the first one found ends the search.
"""

from __future__ import annotations

import re

from bot.diagnosis.patterns import Pattern

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"

#: Wakes the second look; every pattern below needs one of these (matched without case).
LITERALS: tuple[str, ...] = (
    "loss",
    "epoch",
    "step",
    "iter",
    "it/s",
    "s/it",
    "samples/s",
    "tokens/s",
    "tok/s",
    "tflops",
    "throughput",
    "allreduce",
    "all_reduce",
    "all-reduce",
    "init complete",
    "initialized",
    "initialised",
    "initializing ddp",
    "registered. starting with",
    "] up",
    " up",
    " ready",
    "joined the",
    "finished",
    "training complete",
    "checkpoint saved",
    "saving checkpoint",
    "saved checkpoint",
    "busbw",
    "startup complete",
    "uvicorn running",
    "http/1.",
    "gpu blocks",
    "kv cache",
    "weights took",
    "decode batch",
    "throughput",
    "max_total_num_tokens",
    "connected all",
    "nccl version",
    "initialization options",
    "parallel with size",
    "across ",
    "acc1",
    "process index",
    "log_dist] [rank",
    "metrics",
    "acc@",
    "accuracy",
    "map@",
    "ppl",
    "wps",
    "acc:",
    "auc",
    "reward",
    "[batch=",
    "saved ",
    "saving ",
    "successfully",
    "训练",
    "轮",
    "\\u8bad\\u7ec3",
    "\\u8f6e",
)

#: A count of steps, epochs or batches with a number, not an option's name or a plan's size.
_COUNT = (
    r"(?<![\w=/.-])(?:global[_ ])?(?:step|epoch|iteration|iter|batch|update)s?"
    r"(?:\s*[:=#\[]\s*|\s+|\s*\|\s*)\[?\s*\d+(?![\w.]*[-_]|\.\d+ ON)"
)

#: A measured value or a count: believed whatever else the line says.
_MEASURED = (
    # a loss or another metric
    rf"\bloss\w*['\"]?\s*[:=|]?\s*{_NUMBER}",
    (
        r"\b(?:validation|eval|test|train) metrics\b|\bacc(?:uracy)?@?\d?['\"]?\s*[:= ]\s*\d|"
        r"\bmAP(?:@\S+)?\s*[:=]\s*\d|\bppl\s*[:=]?\s*\d|\bwps\s*[:=]?\s*\d|"
        r"\b(?:auc|reward)\s*[:=]\s*-?\d|\[batch=\d+/\d+\]|\b\d+/\d+ (?:-|\[=+)"
    ),
    r"第\s*\d+\s*轮|训练.{0,20}\d",
    # tqdm and speeds
    r"\d+/\d+ \[\d\d:\d\d(?::\d\d)?<",
    rf"{_NUMBER}\s*(?:it/s|s/it|samples/s(?:ec)?|tokens?/s(?:ec)?|tok/s|TFLOPs?)\b",
    r"\b(?:throughput|samples/s(?:ec)?|tokens/s(?:ec)?)\b.{0,12}?[:=]\s*\d",
)

#: Words of a job that is up: believed unless the line also says that something is not.
_UP = (
    _COUNT,
    # models that serve
    (
        r"\bstartup complete|\buvicorn running|\"(?:GET|POST) \S+ HTTP/1\.[01]\" 2\d\d|"
        r"GPU blocks: ?\d|\bKV cache\b.{0,30}\d|weights took \d|decode batch|"
        r"max_total_num_tokens\s*=\s*\d"
    ),
    # NCCL, and what is built on it; rank 0's store lets nobody go before all have come
    (
        r"\bInit COMPLETE\b|\bconnected all (?:rings|trees)|\bNCCL version \d|"
        r"ProcessGroupNCCL initialization options|parallel with size \d|"
        r"\bprocess index: \d|log_dist\] \[rank|# Avg bus bandwidth|busbw"
    ),
    # the group says that it is there
    (
        r"\brank\W{0,3}\d+\W{0,3}\s*(?:of \d+\W*)?(?:is |has )?(?:now )?(?:up|ready|initiali[sz]ed|"
        r"joined|connected|started training|done|finished|all[_-]?reduce)\b"
    ),
    r"\ball[_-]?reduce\b.{0,40}?(?:=|:|ok|done|result|\s)\s*\d",
    r"distributed (?:backend|environment|training)\b.{0,40}\binitiali[sz]ed\b",
    (
        r"\b(?:process group|ddp|torch\.distributed|fsdp|world)\b.{0,40}\b(?:is |was )?"
        r"(?:initiali[sz]ed|ready|up)\b"
    ),
    r"initiali[sz]ed (?:process group|distributed|ddp|torch\.distributed|rank)",
    r"> initializing ddp with size \d+",
    r"All distributed processes registered\. Starting with \d+ process",
    (
        r"\ball (?:\d+ )?(?:ranks|workers|processes|nodes) (?:are )?(?:up|ready|joined|connected|"
        r"initiali[sz]ed|registered)"
    ),
    r"\bacross \d+ (?:ranks|gpus|workers|processes|devices)\b",
    # it got as far as this
    (
        r"\b(?:training (?:is )?(?:complete|finished|done)|finished training|checkpoint saved|"
        r"(?:saving|saved) (?:model )?(?:checkpoint|weights)|(?:job|training|run) (?:has )?"
        r"(?:finished|completed|ended) successfully)"
    ),
)

_MEASURED_PATTERNS = tuple(Pattern(text, re.IGNORECASE) for text in _MEASURED)
_UP_PATTERNS = tuple(Pattern(text, re.IGNORECASE) for text in _UP)

#: Launchers, shells and source code, which print no measurements.
_NO_OUTPUT = Pattern(
    r"^\s*(?:srun:|slurmstepd|sbatch:|scancel|File \"|raise |return |\$ |\+ )|"
    r"\b(?:STEP|JOB) \d+(?:\.\d+)? ON\b|Job step",
    re.IGNORECASE,
)
#: What turns such words into their opposite.
_NOT = Pattern(
    r"timed out|cannot|failed|not (?:yet )?(?:initiali[sz]ed|ready|up|joined|connected)|"
    r"waiting for|before |\bset ?up\b|start(?:ing)? up|\bTimeout\b|Error\b",
    re.IGNORECASE,
)
_LONG = 2000


def is_progress(text: str) -> bool:
    """Tell whether a line, its prefixes taken off, shows that its job got beyond start-up."""
    if len(text) > _LONG:
        text = text[-_LONG:]
    if _NO_OUTPUT.search(text):
        return False
    if any(pattern.search(text) for pattern in _MEASURED_PATTERNS):
        return True
    return not _NOT.search(text) and any(pattern.search(text) for pattern in _UP_PATTERNS)
