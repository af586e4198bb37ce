"""What the name of a log file tells about who wrote it."""

from __future__ import annotations

import re

from bot.diagnosis.names import is_address
from bot.diagnosis.origin import NOWHERE, Origin
from bot.diagnosis.patterns import Pattern

_RANK = Pattern(r"(?<![A-Za-z])(?:global[-_]?)?rank[-_.]?(\d{1,7})(?!\d)", re.IGNORECASE)
_NODE_RANK = Pattern(r"(?<![A-Za-z])node[-_]?rank[-_.]?(\d{1,7})(?!\d)", re.IGNORECASE)
_LOCAL_RANK = Pattern(r"(?<![A-Za-z])local[-_]?rank[-_.]?(\d{1,4})(?!\d)", re.IGNORECASE)
_TASK = Pattern(r"(?<![A-Za-z])task[-_.]?(\d{1,7})(?!\d)", re.IGNORECASE)
#: torchrun --log-dir: {run_id}/attempt_{n}/{local rank}/stderr.log
_ATTEMPT = Pattern(r"(?:^|/)attempt_\d+/(\d{1,4})/(?:stdout|stderr)(?:\.log)?$")
_SUFFIX = Pattern(
    r"(?:\.(?:log|out|err|txt|stdout|stderr|agent|gz|zst|zip|bz2|xz|jsonl?)(?:\.\d{1,3})?)+$",
    re.IGNORECASE,
)
#: A machine's name as people number them: letters first, a number last, hyphens between.
_MACHINE = Pattern(
    r"(?<![A-Za-z0-9-])((?:[A-Za-z][A-Za-z0-9]*-)*[A-Za-z][A-Za-z0-9]*?-?\d{1,5}(?:-\d{1,5})*)"
    r"(?![A-Za-z0-9-])"
)
#: Words that machines are called by; with another word a name alone is not believed.
_CALLED = Pattern(
    r"(?:[a-z0-9]+-)*(?:node|nodes|host|gpu|gpus|worker|vm|compute|cn|gn|nid|dgx|hgx|pod|rack|server|"
    r"h100|h200|b200|b300|gb200|a100|a10g?|l40s?|v100|mi\d{3}x?|p[45]d?e?n?|trn\d?|ip)(?:-[a-z])?"
    r"-?\d[\d-]*",
    re.IGNORECASE,
)
_ADDRESS = Pattern(r"(?<![\d.])(\d{1,3}(?:[.-]\d{1,3}){3})(?![\d.])")
#: Words with a number behind them that are no machines.
_NO_MACHINE = Pattern(
    r"(?:attempt|run|exp|experiment|train|training|job|jobid|slurm|log|logs|out|output|err|error|"
    r"stdout|stderr|rank|task|part|test|version|v|step|epoch|proc|local|local-rank|node-rank|sweep|"
    r"trial|seed|ckpt|checkpoint|model|llama|gpt|bert|qwen|phase|stage|fold|lightning|hydra|debug|"
    r"tmp|data|lr|bs|case|sample|file|page|day|week|p|a|r|c|x|try|retry|paste|issue|ticket|incident|"
    r"inc|python|py|torch|cuda|nccl|[a-z]*-?(?:8|70|405)b)-?[\d-]*",
    re.IGNORECASE,
)


def origin_of_file(path: str) -> Origin:
    """Return what a log file's name tells: host, rank, node rank, task, local rank.

    `rank_64.log`, `h200-04.rank3.log`, `node-8/attempt_0/3/stderr.log`, `slurm-4711.node-2.3.err`.
    A name is taken for a machine only where it looks like one (`node-8`, `gpu218`, an address) or
    stands beside a rank; folders count only in layouts that have one a machine.
    """
    path = path.replace("\\", "/")
    if not any(letter.isdecimal() for letter in path):
        return NOWHERE
    told = Origin(
        rank=_last(_RANK, _without(path, _NODE_RANK, _LOCAL_RANK)),
        node_rank=_last(_NODE_RANK, path),
        local_rank=_last(_ATTEMPT, path) if _ATTEMPT.search(path) else _last(_LOCAL_RANK, path),
        task=_last(_TASK, path),
        host=_host(path),
    )
    return told if told.labelled else NOWHERE


def file_origin(path: str, *, believe_name: bool = True) -> Origin:
    """Return the origin of a whole file: its name as the speaker, and what that name tells."""
    told = origin_of_file(path) if believe_name else NOWHERE
    return told._replace(file=path)


def _without(text: str, *patterns: Pattern) -> str:
    for pattern in patterns:
        text = pattern.sub("", text)
    return text


def _last(pattern: Pattern, text: str) -> int | None:
    found = [match[1] for match in pattern.finditer(text)]
    return int(found[-1]) if found else None


def _host(path: str) -> str | None:
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
    base = _SUFFIX.sub("", parts[-1]) if parts else ""
    numbered = bool(_RANK.search(base) or _TASK.search(base) or _NODE_RANK.search(base))
    found = _machine_in(base, believed=numbered)
    if found is not None:
        return found
    if not (numbered or _ATTEMPT.search(path)):
        return None
    # a folder per machine, as torchrun and most launch scripts lay out their logs
    for part in reversed(parts[-5:-1]):
        found = _machine_in(part, believed=False)
        if found is not None:
            return found
    return None


def _machine_in(name: str, *, believed: bool) -> str | None:
    """Return the machine that a file or folder is named after.

    `believed`: the name says in another way that it is one speaker's, so any name will do.
    """
    address = _ADDRESS.search(name)
    if address and is_address(address[1].replace("-", ".")):
        before = name[: address.start()].strip("-_.")
        return address[1] if not before or before in {"log", "host"} else name
    for match in _MACHINE.finditer(name):
        if _NO_MACHINE.fullmatch(match[1]):
            continue
        if believed or _CALLED.fullmatch(match[1]):
            return match[1]
    return None
