"""Show how far a long read has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Less than this is read before a bar could be seen.
_WORTH_A_BAR_BYTES = 100_000_000


@contextmanager
def progress_of(total_bytes: int | None, *, shown: bool) -> Iterator[Callable[[int], None] | None]:
    """Show a bar on standard error for long inputs; yield what counts the bytes read.

    `total_bytes`: None where it is not known (standard input); then the bar shows amount and speed.
    """
    if not shown or (total_bytes is not None and total_bytes < _WORTH_A_BAR_BYTES):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("reading", total=total_bytes)

        def advance(read: int) -> None:
            bar.advance(task, read)

        yield advance


@contextmanager
def doing(*, shown: bool) -> Iterator[Callable[[str], None]]:
    """Say on standard error what is being done, in one line that goes away at the end."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    # text, not markup: what is being done may name what a person or a scheduler wrote
    with Console(stderr=True).status(Text("starting")) as status:
        yield lambda text: status.update(Text(text))
