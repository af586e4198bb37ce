"""How many ranks each pod has, and whether the pods number themselves. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from bot.errors import PlacementError
from bot.fleet.torchrun import Torchrun, read_command
from bot.schedulers.kubernetes.pods import environment, gpus, rank_containers
from bot.schedulers.kubernetes.shapes import Raw, part, strings, text, value

#: Variables that stand in for torchrun's option (`torch.distributed.argparse_util.env`).
_NPROC = "PET_NPROC_PER_NODE"
_BACKEND = "PET_RDZV_BACKEND"
_OPTION = re.compile(r"--nproc[-_]per[-_]node\b", re.ASCII)
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_MOST = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranks:
    """What the pods of a job say about their ranks."""

    #: None where nothing tells
    per_pod: int | None = None
    elastic: bool = False
    #: why `per_pod` is no more than likely
    doubt: str = ""


def ranks_of(job: Raw, pods: Sequence[Raw]) -> Ranks:
    """Return how many ranks each pod of a job has.

    torchrun's option wins over the variable, which its operator sets from `nprocPerNode`
    (kubeflow/training-operator pkg/controller.v1/pytorch/envvar.go, kubeflow/trainer torch plugin);
    `auto` and `gpu` are the pod's accelerators. Without torchrun a process is a rank.
    """
    found = {_of(job, container) for pod in pods for container in rank_containers(pod)[:1]}
    if len(found) == 1:
        return found.pop()
    elastic = any(one.elastic for one in found)
    return Ranks(elastic=elastic, doubt="the pods do not all have as many ranks" if found else "")


def _of(job: Raw, container: Raw) -> Ranks:
    command = [*strings(container, "command"), *strings(container, "args")]
    variables = environment(container)
    line = shlex.join(command)
    try:
        launch = read_command(line)
    except PlacementError:
        launch = None
    elastic = _elastic(job, variables, launch)
    number, doubt = _number(job, container, launch, line, variables)
    return Ranks(per_pod=number, elastic=elastic, doubt=doubt)


def _elastic(job: Raw, variables: dict[str, str], launch: Torchrun | None) -> bool:
    if launch is not None and launch.elastic:
        return True
    backend = variables.get(_BACKEND, "static").lower()
    return backend != "static" or bool(part(job, "spec", "elasticPolicy"))


def _number(
    job: Raw, container: Raw, launch: Torchrun | None, line: str, variables: dict[str, str]
) -> tuple[int | None, str]:
    if launch is not None and _OPTION.search(line):
        return launch.nproc_per_node or gpus(container) or None, ""
    told = variables.get(_NPROC) or _spec(job)
    if told and told.isascii() and told.isdigit() and 0 < int(told[:5]) <= _MOST:
        return int(told), ""
    if told and (launch is not None or _NPROC in variables):
        return _by_accelerators(container)
    if launch is not None:
        return 1, ""
    return _without_launcher(container, line)


def _spec(job: Raw) -> str:
    """Return `nprocPerNode` of a PyTorchJob or `numProcPerNode` of a TrainJob as text."""
    for path in (("spec", "nprocPerNode"), ("spec", "trainer", "numProcPerNode")):
        found = value(job, *path)
        if isinstance(found, str | int) and not isinstance(found, bool):
            return str(found)
    return ""


def _by_accelerators(container: Raw) -> tuple[int | None, str]:
    return gpus(container) or None, ""


def _without_launcher(container: Raw, line: str) -> tuple[int | None, str]:
    first = text({"": line.split(" ", 1)[0]}, "").rsplit("/", 1)[-1]
    each = gpus(container)
    if first.startswith("python") or each == 1:
        return 1, ""
    if each and (first in _SHELLS or not first):
        return each, "how many ranks a pod has is not told: one for each accelerator is likely"
    return None, ""
