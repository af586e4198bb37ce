"""Which exceptions are a process's own, and which are only how a network failure surfaces."""

from __future__ import annotations

import re

from bot.diagnosis.patterns import Pattern

#: The last line of a traceback, at the left margin.
FINAL_LINE = Pattern(
    r"^(?:\w+: )?(?P<type>[A-Za-z_]\w*(?:\.\w+)*(?:Error|Exception|Interrupt|Exit|Timeout|Failure|"
    r"Failed|Aborted|Killed|Unpickling\w*|Stop\w*|Warning|Group|gaierror))(?:: (?P<text>.*))?$"
)

#: Types that say that some other process or the network failed, or that nothing did.
_NOT_OWN_TYPES = Pattern(
    r"(?:.*\.)?(?:Dist(?:Network|Store|Backend|)Error|Rendezvous\w*|ChildFailedError|gaierror|herror|"
    r"timeout|TimeoutError|Timeout|BrokenPipeError|Connection(?:Reset|Refused|Aborted)?Error|"
    r"EOFError|KeyboardInterrupt|SystemExit|SignalException|ProcessExitedException|"
    r"ProcessRaisedException|CalledProcessError|CancelledError|GeneratorExit|\w*Warning|"
    r"ActorDiedError|RayActorError|RayTaskError\(?\w*\)?|WorkerCrashedError|ActorUnavailableError|"
    r"StopIteration|NameResolutionError|NewConnectionError|MaxRetryError|ExceptionGroup)"
)

#: Messages of general types (RuntimeError, ValueError, OSError) that say the same.
_NOT_OWN_TEXT = Pattern(
    r"socket has (?:failed|timed out)|connect\(\) timed out|Connection (?:reset|refused|closed)|"
    r"Broken pipe|host not found|NCCL (?:error|communicator)|ncclSystemError|ncclInternalError|"
    r"ncclRemoteError|ncclUnhandled|unhandled (?:system|cuda) error, NCCL|Gloo|gloo|"
    r"connectFullMesh|Socket Timeout|store based barrier|[Aa]ddress already in use|EADDRINUSE|"
    r"[Tt]imed out|wait timeout|[Nn]ame resolution|not known|getaddrinfo|waiting for clients|"
    r"Watchdog caught collective|No route to host|rendezvous|TCPStore|enforce fail at \S*gloo|"
    r"terminated by signal|process \d+ terminated|worker .*(?:died|exited)|Engine core init|"
    r"Engine process failed|peer|Unable to (?:find|resolve)"
)

#: Frames of what brings a job's processes together; a look-up below them is one of a peer.
_OF_THE_JOB = Pattern(
    r'File "[^"]*(?:torch/distributed|torch/csrc|torch/cuda/nccl|bin/torchrun|deepspeed/|horovod/|'
    r"lightning(?:_fabric|/fabric|/pytorch)|pytorch_lightning/|accelerate/|mpi4py|ray/train|"
    r"ray/util/collective|vllm/|sglang/|megatron/|verl/|colossalai/|nemo/|composer/core|"
    r"mosaicml|torchx/|fairseq/|jax/_src/distributed)"
)
_FRAME = Pattern(r'^\s*File "')


def is_own(name: str, text: str, *, network_too: bool = False) -> bool:
    """Tell whether an exception is the process's own fault, not how a peer's failure reaches it.

    `network_too`: count connection errors as well, for calls that have nothing to do with the job's
    peers (a download that failed).
    """
    if re.fullmatch(r"(?:.*\.)?(?:KeyboardInterrupt|SystemExit|\w*Warning|GeneratorExit)", name):
        return False
    if network_too:
        return True
    return not _NOT_OWN_TYPES.fullmatch(name) and not _NOT_OWN_TEXT.search(text)


def is_frame(text: str) -> bool:
    """Tell whether a line is a traceback's frame."""
    return bool(_FRAME.match(text))


def of_the_job(text: str) -> bool:
    """Tell whether a frame stands in what brings a job's processes together."""
    return bool(_OF_THE_JOB.search(text))
