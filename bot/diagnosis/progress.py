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
)

#: A count of steps, epochs or batches with a number, not an option's name or a plan's size.
_COUNT = (
    r"(?<![\w=/.-])(?:global[_ ])?(?:step|epoch|iteration|iter|batch|update)s?"
    r"(?:\s*[:=#\[]\s*|\s+|\s*\|\s*)\[?\s*\d+(?![\w.]*[-_]|\.\d+ ON)"
)

_PATTERNS = tuple(
    Pattern(pattern, re.IGNORECASE)
    for pattern in (
        # a loss or another measured value
        rf"\bloss\w*['\"]?\s*[:=|]?\s*{_NUMBER}",
        rf"\blm loss:?\s*{_NUMBER}",
        # tqdm and speeds
        r"\d+/\d+ \[\d\d:\d\d(?::\d\d)?<",
        rf"{_NUMBER}\s*(?:it/s|s/it|samples/s(?:ec)?|tokens?/s(?:ec)?|tok/s|TFLOPs?)\b",
        r"\b(?:throughput|samples/s(?:ec)?|tokens/s(?:ec)?)\w*['\"]?\s*[:=]\s*\d",
        # steps that are counted
        _COUNT,
        # the group says that it is there
        (
            r"\brank\W{0,3}\d+\W{0,3}\s*(?:of \d+\W*)?(?:is |has )?(?:now "
            r")?(?:up|ready|initiali[sz]ed|"
            r"joined|connected|started training|done|finished|all[_-]?reduce)\b"
        ),
        r"\ball[_-]?reduce\b.{0,40}?(?:=|:|ok|done|result|\s)\s*\d",
        r"\bInit COMPLETE\b",
        r"distributed (?:backend|environment|training)\b.{0,40}\binitiali[sz]ed\b",
        (
            r"\b(?:process group|ddp|torch\.distributed|fsdp|world)\b.{0,40}\b(?:is |was )?"
            r"(?:initiali[sz]ed|ready|up)\b"
        ),
        r"initiali[sz]ed (?:process group|distributed|ddp|torch\.distributed|rank)",
        r"> initializing ddp with size \d+",
        r"All distributed processes registered\. Starting with \d+ process",
        r"socket has connected to ",
        (
            r"\ball (?:\d+ )?(?:ranks|workers|processes|nodes) (?:are "
            r")?(?:up|ready|joined|connected|"
            r"initiali[sz]ed|registered)"
        ),
        # it got as far as this
        (
            r"\b(?:training (?:is )?(?:complete|finished|done)|finished training|"
            r"(?:saving|saved) (?:model )?checkpoint|checkpoint saved)"
        ),
        r"# Avg bus bandwidth|busbw",
    )
)

#: Lines that have such words without being progress: launchers, options, plans, tracebacks, errors.
_NOT = Pattern(
    r"^\s*(?:srun:|slurmstepd|sbatch:|scancel|File \"|raise |return |\$ |\+ )|"
    r"\b(?:STEP|JOB) \d+(?:\.\d+)? ON\b|Job step|"
    r"timed out|cannot|failed|not (?:yet )?(?:initiali[sz]ed|ready|up|joined|connected)|"
    r"waiting for|before |\bset ?up\b|start(?:ing)? up|\bTimeout\b|Error\b",
    re.IGNORECASE,
)


def is_progress(text: str) -> bool:
    """Tell whether a line, its prefixes taken off, shows that its job got beyond start-up."""
    if len(text) > _LONG:
        text = text[-_LONG:]
    return not _NOT.search(text) and any(pattern.search(text) for pattern in _PATTERNS)


_LONG = 2000
