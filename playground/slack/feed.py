"""Tell whoever watches that something has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playground.slack.kit.rules import Json

#: Changes that a slow watcher may have waiting; it is told to look at everything anew after that.
_WAITING_MOST = 1000


#: The last change that a watcher is told of: there will be no more.
END = "end"


@dataclass(kw_only=True)
class Feed:
    """Changes, numbered from one on."""

    number: int = 0
    _watchers: set[asyncio.Queue[Json]] = field(default_factory=set)

    def close(self) -> None:
        """Send every watcher home."""
        self.tell(END)

    def tell(self, kind: str, **what: str) -> None:
        """Tell every watcher of one change."""
        self.number += 1
        for queue in self._watchers:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                kind, what = "everything", {}
            queue.put_nowait({"n": self.number, "kind": kind, **what})

    @contextmanager
    def watching(self) -> Iterator[asyncio.Queue[Json]]:
        """Return a queue of the changes from now on."""
        queue: asyncio.Queue[Json] = asyncio.Queue(_WAITING_MOST)
        self._watchers.add(queue)
        try:
            yield queue
        finally:
            self._watchers.discard(queue)
