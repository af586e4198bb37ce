"""Where a line comes from, as far as its prefixes, its record or its file tell."""

from __future__ import annotations

from typing import NamedTuple


class Origin(NamedTuple):
    """Who logged a line. What is not told is None; numbers of different kinds never mix."""

    #: name of the file the line stands in, as given or as a header in the text names it
    file: str | None = None
    #: the machine or pod that logs, as spelled
    host: str | None = None
    #: global rank
    rank: int | None = None
    #: number that a launcher gives to a task; a rank or a node rank, the log has to tell which
    task: int | None = None
    #: number of the node in the job
    node_rank: int | None = None
    #: number of the process on its node
    local_rank: int | None = None
    #: process id or another word that tells processes of one machine apart
    process: str | None = None
    #: machine named by NCCL's own prefix; a fact about the line, not part of who is speaking
    nccl_host: str | None = None

    @property
    def labelled(self) -> bool:
        """Tell whether anything but the file says who speaks."""
        return self.voice[1:] != (None,) * 6

    @property
    def voice(self) -> tuple[str | int | None, ...]:
        """Return the key under which lines of one speaker are kept together.

        A rank that repeats the task's number (`3: [rank3]: `) is the same speaker's.
        """
        return (
            self.file,
            self.host,
            None if self.rank == self.task else self.rank,
            self.task,
            self.node_rank,
            self.local_rank,
            self.process,
        )

    def inside(self, inner: Origin) -> Origin:
        """Return this origin with the gaps filled from an inner, less trusted one."""
        if inner is NOWHERE:
            return self
        if self is NOWHERE:
            return inner
        return Origin(
            file=inner.file if self.file is None else self.file,
            host=inner.host if self.host is None else self.host,
            rank=inner.rank if self.rank is None else self.rank,
            task=inner.task if self.task is None else self.task,
            node_rank=inner.node_rank if self.node_rank is None else self.node_rank,
            local_rank=inner.local_rank if self.local_rank is None else self.local_rank,
            process=inner.process if self.process is None else self.process,
            nccl_host=inner.nccl_host if self.nccl_host is None else self.nccl_host,
        )


#: Nothing is known.
NOWHERE = Origin()
