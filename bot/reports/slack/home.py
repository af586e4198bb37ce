"""The Home tab: what waits for its reader, what is open, what was lately."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from slack_sdk.models.blocks import Block, ContextBlock, DividerBlock, SectionBlock

from bot.reports.slack import fitting
from bot.reports.slack.marking import Markup, bold, clock, joined, marked, mention
from bot.reports.slack.message import View
from bot.reports.slack.parts import actions, age, button, header, line, lines, web
from bot.reports.slack.switched import stopped_lines
from bot.reports.slack.values import LABELS, Action, Incident, Link, Stopped, Waiting

#: More of a kind than these are counted, not listed.
MOST_LISTED = 20


def home(
    *,
    waiting: Sequence[Waiting] = (),
    opened: Sequence[Incident] = (),
    open_count: int = 0,
    recent: Sequence[Incident] = (),
    stopped: Sequence[Stopped] = (),
    now: datetime,
) -> View:
    """Return the Home tab of one person; each list is shown in the order given.

    `waiting` are approvals that the person may decide; `open_count` is how many incidents are
    open where not all of them are in `opened`.
    """
    held = list(stopped_lines(stopped, now))
    return fitting.home(
        blocks=[
            *([lines("stopped", *held)] if held else []),
            actions("new", button(Action.NEW, "home", style="primary", label=LABELS[Action.NEW])),
            *_part("waiting", "Waits for you", _waiting(waiting[:MOST_LISTED], now), len(waiting)),
            DividerBlock(block_id="after-waiting"),
            *_part(
                "open",
                "Open",
                _incidents(opened[:MOST_LISTED], "open"),
                max(len(opened), open_count),
            ),
            DividerBlock(block_id="after-open"),
            *_part("recent", "Recent", _incidents(recent[:MOST_LISTED], "recent"), len(recent)),
            ContextBlock(block_id="as-of", elements=[marked(joined("As of", clock(now)))]),
        ]
    )


def closed_to(why: str) -> View:
    """Return the Home tab of somebody who is not answered, with the reason and nothing else."""
    return fitting.home(blocks=[lines("closed", line(why))])


def _part(name: str, title: str, blocks: Iterator[Block], count: int) -> Iterator[Block]:
    yield header(f"{name}-title", f"{title} ({count})")
    if not count:
        nothing = marked(Markup("Nothing."))
        yield ContextBlock(block_id=f"{name}-none", elements=[nothing])
    yield from blocks
    if count > MOST_LISTED:
        more = marked(joined(f"and {count - MOST_LISTED} more"))
        yield ContextBlock(block_id=f"{name}-more", elements=[more])


def _waiting(waiting: Sequence[Waiting], now: datetime) -> Iterator[Block]:
    for number, one in enumerate(waiting):
        approval = one.approval
        yield _entry(
            f"waiting-{number}",
            bold(f"{approval.vm}: {approval.what}"),
            joined("Asked by", mention(approval.asked_by) or approval.asked_by),
            joined(f"Expires in {age(approval.expires_at - now)}, at", clock(approval.expires_at)),
            about=approval.id,
            permalink=one.permalink,
        )


def _incidents(incidents: Sequence[Incident], name: str) -> Iterator[Block]:
    for number, one in enumerate(incidents):
        closed = one.closed_at
        asked_by = one.asked_by or "a watcher"
        ended = joined(one.stage.value, clock(closed)) if closed else Markup("")
        yield _entry(
            f"{name}-{number}",
            bold(one.job or "pasted log"),
            joined(one.headline or "It is being read."),
            joined("Asked", clock(one.asked_at), "by", mention(one.asked_by) or asked_by),
            ended,
            about=one.id,
            permalink=one.permalink,
        )


def _entry(name: str, *rows: Markup, about: str, permalink: str) -> Block:
    known = web(Link(label="", url=permalink)) is not None
    opens = button(Action.OPEN_THREAD, about, url=permalink) if known else None
    return SectionBlock(block_id=name, text=marked(*rows), accessory=opens)
