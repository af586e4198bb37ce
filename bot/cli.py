"""The command line. Rooms are loaded inside their command, so that `--help` answers at once."""

from __future__ import annotations

import gc
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bot import cli_audit, cli_steps
from bot.errors import BotError, UsageError

if TYPE_CHECKING:
    from bot.diagnosis import Launch
    from bot.reports.sections import Report

EXIT_NOTHING_WRONG = 0
EXIT_FAILURE_DIAGNOSED = 1
EXIT_BAD_INPUT = 2

app = typer.Typer(
    name="nccl-dns",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Tell which rank, which machine and why, when distributed training cannot start.",
)
app.add_typer(cli_audit.app, name="audit")
app.add_typer(cli_steps.app)


@app.callback(invoke_without_command=True)
def options(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Tell which rank, which machine and why, when distributed training cannot start."""
    if version:
        from bot import __version__

        typer.echo(__version__)
        raise typer.Exit(EXIT_NOTHING_WRONG)


@app.command(short_help="Tell from a job's log why it did not start.")
def diagnose(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE…|-]", help="Logs of one job; - or nothing is standard input."
        ),
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    nodes: Annotated[
        str | None, typer.Option(help="Machines of the job in node order, e.g. 'node-[0-31]'.")
    ] = None,
    ranks_per_node: Annotated[
        int | None, typer.Option(help="Ranks on each machine, filled one after the other.")
    ] = None,
    name_from_file: Annotated[
        bool, typer.Option(help="Let file names tell rank and machine (rank_64.log, node-8.log).")
    ] = True,
) -> None:
    """Diagnose the log of a job that did not start.

    Exit code 0: nothing wrong, or harmless; 1: a failure was diagnosed; 2: bad usage or input.
    """
    from bot.diagnosis import diagnose as run
    from bot.inputs import size_of, sources

    names = files or ["-"]
    if not files and sys.stdin.isatty():
        message = "Name a log file, or pipe one in: nccl-dns diagnose job.log"
        raise UsageError(message)
    launch = _launch(nodes, ranks_per_node)
    opened = sources(names, notice=lambda text: typer.echo(text, err=True))
    from bot.reports.waiting import progress_of

    with progress_of(size_of(names), shown=sys.stderr.isatty()) as on_bytes:
        found = run(opened, launch=launch, believe_names=name_from_file, on_bytes=on_bytes)
    if json:
        sys.stdout.write(found.to_json() + "\n")
    else:
        from bot.reports.sections import of_diagnosis

        _print(of_diagnosis(found))
    raise typer.Exit(EXIT_FAILURE_DIAGNOSED if found.severity == "failure" else EXIT_NOTHING_WRONG)


def _launch(nodes: str | None, ranks_per_node: int | None) -> Launch | None:
    if nodes is None:
        if ranks_per_node is not None:
            message = "--ranks-per-node needs --nodes, e.g. --nodes 'node-[0-31]'."
            raise UsageError(message)
        return None
    from bot.diagnosis import Launch
    from bot.fleet.nodes import block

    hosts, per_node = block(nodes, ranks_per_node)
    return Launch(hosts=hosts, ranks_per_node=per_node)


@app.command(short_help="Look at the machines of a job, by its ID.")
def check(
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOB|LOG…|-]", help="A job ID or link, logs of a job, or both; - is a paste."
        ),
    ] = None,
    *,
    vm: Annotated[
        list[str] | None, typer.Option(help="Look at this machine, whatever the log says.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Pre-flight: ask every machine for every machine's name.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="With --all: write who resolves whom as a PNG.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    nodes: Annotated[
        str | None, typer.Option(help="Machines of the job in node order, e.g. 'node-[0-31]'.")
    ] = None,
    ranks_per_node: Annotated[
        int | None, typer.Option(help="Ranks on each machine, filled one after the other.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings; see `nccl-dns init`.")] = None,
) -> None:
    """Check a job: which machine is at fault, its VM's state, and why its names do not resolve.

    Exit code 0: nothing wrong; 1: something is; 2: bad usage or input, or nobody knows the job.
    """
    if every:
        _preflight(given or [], nodes, picture, config, as_json=json)
    if picture:
        message = "--picture draws who resolves whom of all machines: it needs --all."
        raise UsageError(message)
    from bot.commands.check import run

    checked = run(
        given or [],
        named=tuple(vm or ()),
        launch=_launch(nodes, ranks_per_node),
        config=config,
        notice=lambda text: typer.echo(text, err=True),
    )
    if json:
        from bot.triage.contract import to_json

        sys.stdout.write(to_json(checked) + "\n")
    else:
        from bot.reports.checks import of_check

        _print(of_check(checked))
    raise typer.Exit(EXIT_FAILURE_DIAGNOSED if checked.wrong else EXIT_NOTHING_WRONG)


class LevelName(StrEnum):
    """The levels by name; `bot.settings.Level` has their numbers."""

    PASTE = "paste"
    LOOK = "look"
    PROBE = "probe"
    ACT = "act"


@app.command(short_help="Write commented settings to fill in.")
def init(
    *,
    level: Annotated[
        LevelName, typer.Option(help="What it may do: diagnose pastes, ask, log in, repair.")
    ] = LevelName.PROBE,
    cluster: Annotated[str, typer.Option(help="Name of the first cluster.")] = "main",
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path("nccl-dns.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    grants: Annotated[
        Path | None, typer.Option(help="Folder for what the machines need, as files.")
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(
            "--print",
            help="Print keys, install, known-hosts, sudoers, helper, repair-sudoers, "
            "repair-helper, rbac or manifest, and write nothing.",
        ),
    ] = None,
) -> None:
    """Write commented settings for a level, and say what the machines need for it.

    Exit code 0: written; 2: bad usage, or a file exists already.
    """
    from bot.commands.init import printed, run
    from bot.settings import Level

    wanted = Level[level.name]
    if what is not None:
        sys.stdout.write(printed(what, wanted))
        return
    for line in run(wanted, cluster, output, force=force, grants=grants):
        typer.echo(line)


@app.command(short_help="Say what of the settings works, and what mends it.")
def doctor(
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    config: Annotated[Path | None, typer.Option(help="Settings; see `nccl-dns init`.")] = None,
) -> None:
    """Check what is configured: each thing OK, WARN, FAIL or SKIP, and what mends it.

    Changes nothing but the store's schema. Exit code 0: nothing fails; 1: something does; 2: the
    settings cannot be used.
    """
    from bot.commands.doctor import run

    checkup = run(config)
    if json:
        from bot.doctor.contract import to_json

        sys.stdout.write(to_json(checkup) + "\n")
    else:
        from bot.doctor.report import of_checkup

        _print(of_checkup(checkup))
    raise typer.Exit(EXIT_FAILURE_DIAGNOSED if checkup.failed else EXIT_NOTHING_WRONG)


def _preflight(
    given: list[str], nodes: str | None, picture: Path | None, config: Path | None, *, as_json: bool
) -> NoReturn:
    """Ask every machine of a job or a node list, and exit."""
    from bot.commands import preflight

    if len(given) > 1:
        message = "--all looks at the machines of one job: name it alone, or give --nodes."
        raise UsageError(message)
    found = preflight.run(job=given[0] if given else None, nodes=nodes, config=config)
    if picture:
        preflight.picture(found, picture)
    if as_json:
        from bot.triage.preflight_contract import to_json

        sys.stdout.write(to_json(found) + "\n")
    else:
        preflight.show(found, at_a_terminal=sys.stdout.isatty())
    raise typer.Exit(EXIT_FAILURE_DIAGNOSED if found.wrong else EXIT_NOTHING_WRONG)


@app.command()
def serve(
    *,
    config: Annotated[Path | None, typer.Option(help="Settings; see `nccl-dns init`.")] = None,
) -> None:
    """Answer in Slack until stopped: Socket Mode, or HTTP where the settings say so."""
    from bot.commands.serve import run

    run(config)


@app.command(short_help="Tell whether `serve` is alive, for health checks.")
def healthy(
    *,
    config: Annotated[Path | None, typer.Option(help="Settings; see `nccl-dns init`.")] = None,
) -> None:
    """Ask the bot that serves on this machine for its health.

    Exit code 0: it answers; 1: it does not, and standard error says why; 2: the settings are wrong.
    """
    from bot.commands.healthy import problem

    if why := problem(config):
        typer.echo(why, err=True)
        raise typer.Exit(EXIT_FAILURE_DIAGNOSED)


def _print(report: Report) -> None:
    if not sys.stdout.isatty():
        from bot.reports.plain import text

        sys.stdout.write(text(report))
        return
    from bot.reports.terminal import show

    show(report)


def main() -> None:
    """Run the command line; an error of ours becomes a sentence and exit code 2."""
    # What starting up allocates stays: looking through it for garbage after every 700 objects, as
    # by default, is a tenth of the start-up time.
    gc.set_threshold(20_000, 20, 20)
    try:
        app()
    except BotError as error:
        from bot.reports.foreign import printable

        typer.echo(f"nccl-dns: {printable(str(error))}", err=True)
        sys.exit(EXIT_BAD_INPUT)
    except BrokenPipeError:
        # the reader of our output has gone; the exit code still tells the shell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILURE_DIAGNOSED)
    except KeyboardInterrupt:
        sys.exit(130)
