"""The command line's `audit`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Who proposed, decided and ran what, in a chain of hashes.", no_args_is_help=True
)
Config = Annotated[Path | None, typer.Option(help="Settings; see `nccl-dns init`.")]


class Form(StrEnum):
    """How rows are written."""

    JSONL = "jsonl"
    CSV = "csv"


@app.command(short_help="Tell whether the audit is as it was written.")
def verify(
    *,
    head: Annotated[
        str | None, typer.Option(help="NUMBER:HASH of a row kept elsewhere, held against it.")
    ] = None,
    config: Config = None,
) -> None:
    """Look at every row of the audit: none edited, taken out, put in or cut off.

    Exit code 0: the chain holds; 1: it does not, and the first bad row is named; 2: bad usage.
    """
    from bot.commands import audit

    found, held = audit.verify(config, head)
    for sentence in audit.sentences(found, held):
        typer.echo(sentence)
    raise typer.Exit(1 if found.problem else 0)


@app.command(short_help="Print the audit's rows, the oldest first.")
def export(
    *,
    since: Annotated[
        str | None, typer.Option(help="From then on: 2h, 3d, 2030-01-02, or a time in UTC.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="A JSON object a line, or CSV.")] = (
        Form.JSONL
    ),
    config: Config = None,
) -> None:
    """Stream the audit: IDs, times and hashes, never what people wrote."""
    from bot.commands import audit

    audit.export(config, since, form.value, sys.stdout)
