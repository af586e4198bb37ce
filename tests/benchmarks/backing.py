"""Copy a folder as the far side does: `python -m … SOURCE TARGET copy|whole`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from bot.hosts.far_side.copying import Copying, kept
from bot.hosts.far_side.folders import Folder, Owner
from bot.hosts.far_side.found import Look

_FOREVER = 1e12
Chosen = frozenset[tuple[bytes, str]]


def main(source: bytes, target: str, what: str) -> None:
    """Walk, copy and print the seconds of the copy itself; or prove it, and print how many."""
    where = Path(target) / "run"
    where.mkdir(mode=0o700)
    (where / "backup.json").touch()
    run = os.open(where, os.O_RDONLY | os.O_DIRECTORY)
    folder = Folder(run, b"root", Owner(0, 0), as_owner=False)
    folder.close_to_others()
    folder.try_small_file()
    copying = Copying(folder, lambda _phase, _done, _total: None)
    if what == "copy":
        paths, size = listed(source)
        began = time.perf_counter()
        copying.rsync(paths, size, again=False)
        print(time.perf_counter() - began)
        return
    told = kept(folder, lambda: listed(source)[0], listed(source)[1], copying)
    if told["differ"]:
        raise SystemExit(f"{told['differ']} files differ: {told['samples']}")
    print(told["files"])


def listed(source: bytes) -> tuple[list[bytes], int]:
    """Return all paths of a folder and their bytes, by the survey's own walk."""
    chosen: Chosen = frozenset()
    for _ in range(2):  # a survey, then what was chosen of it: everything
        look = Look(0.0, _FOREVER, chosen)
        look.walk(source, "nvme0n1", set())
        chosen = frozenset(look.items)
    items = look.items.values()
    return [path for one in items for path in one.entries], sum(one.size for one in items)


if __name__ == "__main__":
    main(os.fsencode(sys.argv[1]), sys.argv[2], sys.argv[3])
