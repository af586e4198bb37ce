"""The command line's incidents and steps: what buttons do in Slack, without Slack."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.commands.steps import Counter, Said

app = typer.Typer()
Config = Annotated[Path | None, typer.Option(help="Settings; see `nccl-dns init`.")]
ApprovalId = Annotated[str, typer.Argument(metavar="APPROVAL", help="Its ID, as `show` has it.")]
Words = Annotated[list[str] | None, typer.Argument(metavar="[WHY…]", help="For the others.")]


@app.command(short_help="List what is open.")
def incidents(*, config: Config = None) -> None:
    """List the open incidents, the newest first, and what stops steps now."""
    from bot.commands import listing
    from bot.settings import load

    _say(asyncio.run(listing.incidents(load(config))))


@app.command(short_help="Show an incident: its steps, their IDs, its timeline.")
def show(incident: str, *, config: Config = None) -> None:
    """Show one incident with the IDs to decide by, and what happened when."""
    from bot.commands import listing
    from bot.settings import load

    _say(asyncio.run(listing.show(load(config), incident)))


@app.command(short_help="Put a step before those who may decide.")
def propose(
    incident: str,
    *,
    step: Annotated[
        str, typer.Option(help="Such as restart_resolver; else the mildest that is offered.")
    ] = "",
    vm: Annotated[
        str, typer.Option(help="The VM; else the one that the newest look accuses.")
    ] = "",
    config: Config = None,
) -> None:
    """Look at a VM again and ask for a step on it, as the button does.

    Exit code 0: it is asked for; 1: it is not offered, or not yours to ask; 2: bad usage.
    """
    _run(config, lambda counter: counter.propose(incident, step, vm))


@app.command(short_help="Approve a step.")
def approve(approval: ApprovalId, *, config: Config = None) -> None:
    """Approve a step, once, by the same policy as the button; a bot that serves carries it out."""
    from bot.incidents.approval import Verdict

    _run(config, lambda counter: counter.decide(approval, Verdict.APPROVE))


@app.command(short_help="Approve a step alone, where the settings allow it.")
def break_glass(
    approval: ApprovalId,
    vm: Annotated[str, typer.Argument(metavar="VM", help="The VM's name, typed.")],
    why: Annotated[list[str], typer.Argument(metavar="WHY…")],
    *,
    config: Config = None,
) -> None:
    """Approve a step alone and at any hour; it is posted to the audit channel with your reason."""
    _run(config, lambda counter: counter.break_glass(approval, vm, " ".join(why)))


@app.command(short_help="Decline a step.")
def decline(approval: ApprovalId, *, config: Config = None) -> None:
    """Decline a step; nothing is done then."""
    from bot.incidents.approval import Verdict

    _run(config, lambda counter: counter.decide(approval, Verdict.DECLINE))


@app.command(short_help="Stop approved steps at their next boundary.")
def stop(approval: ApprovalId, *, config: Config = None) -> None:
    """Stop what was approved, at its next boundary."""
    _run(config, lambda counter: counter.stop(approval))


@app.command(short_help="Stop every step that changes anything.")
def pause(why: Words = None, *, config: Config = None) -> None:
    """Stop every step that changes anything at its next boundary, for everybody."""
    _run(config, lambda counter: counter.pause(" ".join(why or ())))


@app.command(short_help="Let steps go on.")
def resume(why: Words = None, *, config: Config = None) -> None:
    """End the pause and close the breaker, as an approver."""
    _run(config, lambda counter: counter.resume(" ".join(why or ())))


def _run(config: Path | None, doing: Callable[[Counter], Awaitable[Said]]) -> None:
    from bot.commands.steps import at_counter
    from bot.settings import load

    async def said() -> Said:
        async with at_counter(load(config)) as counter:
            return await doing(counter)

    found = asyncio.run(said())
    _say(found.lines)
    raise typer.Exit(0 if found.done else 1)


def _say(lines: tuple[str, ...]) -> None:
    from bot.reports.foreign import printable

    for one in lines:
        typer.echo(printable(one))
