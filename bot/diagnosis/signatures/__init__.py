"""What a line says: the table of messages that PyTorch, NCCL, Gloo and launchers print.

One row per message. `literals` wake the scanner (any one of them, as bytes on the raw line: no
quotes, backslashes or non-ASCII, so that JSON-escaped text has them too); `pattern` then reads the
unprefixed text. Version boundaries are those of the strings in the released wheels of torch 1.11 to
2.13 and of NCCL's tagged sources.
"""

from __future__ import annotations

from bot.diagnosis.signatures.c10d import C10D
from bot.diagnosis.signatures.collectives import COLLECTIVES
from bot.diagnosis.signatures.elastic import ELASTIC
from bot.diagnosis.signatures.launchers import LAUNCHERS
from bot.diagnosis.signatures.process import PROCESS
from bot.diagnosis.signatures.row import Signature

__all__ = ["C10D", "LAUNCHERS", "SIGNATURES", "Signature", "literals"]

SIGNATURES: tuple[Signature, ...] = (*C10D, *ELASTIC, *PROCESS, *COLLECTIVES, *LAUNCHERS)


def literals() -> tuple[bytes, ...]:
    """Return every literal that wakes the scanner, each once, as the bytes to search for."""
    seen = dict.fromkeys(text for row in SIGNATURES for text in row.literals)
    return tuple(text.encode("ascii") for text in seen)
