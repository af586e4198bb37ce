"""What the bot of these tests shows: a report, its thread, a modal and a Home tab."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from tests.behaviour.slack_playground.asking import Json, actions, button, mrkdwn, plain, section

#: Lines that would do harm if anything took them for markup.
HOSTILE = (
    "<!channel> <img src=x onerror=alert(1)> <script>alert(2)</script> *not bold*",
    "[click](javascript:alert(3)) `code` <https://evil.example|update> &lt;b&gt;",
)
LOG = (
    (
        "[W socket.cpp:755] [c10d] The IPv6 network addresses of (node-0, 29500) cannot be "
        "retrieved (gai error: -3 - Temporary failure in name resolution)."
    ),
    (
        "torch.distributed.DistNetworkError: The client socket has timed out after 1800000ms "
        "while trying to connect to (node-0, 29500)."
    ),
)


def option(value: str, label: str, note: str = "") -> Json:
    """Return an option of a menu."""
    described = {"description": plain(note)} if note else {}
    return {"text": plain(label), "value": value, **described}


def header(text: str) -> Json:
    """Return a header."""
    return {"type": "header", "text": plain(text)}


def context(*texts: str) -> Json:
    """Return a context block."""
    return {"type": "context", "elements": [mrkdwn(text) for text in texts]}


def preformatted(*lines: str) -> Json:
    """Return foreign lines as the product shows them."""
    code = {
        "type": "rich_text_preformatted",
        "elements": [{"type": "text", "text": "\n".join(lines)}],
    }
    return {"type": "rich_text", "elements": [code]}


def reading(done: int) -> list[Json]:
    """Return the placeholder, with so many sources read."""
    sources = ("log", "scheduler", "cloud", "probes")
    marks = [f"{'✓' if place < done else '…'} {name}" for place, name in enumerate(sources)]
    return [header("Reading job 48213 …"), context("   ".join(marks))]


def report(note: str = "") -> list[Json]:
    """Return the parent of the thread, and what was done about it."""
    restart = {
        **button("restart", style="danger"),
        "text": plain("Restart"),
        "value": "inc-1",
        "confirm": {
            "title": plain("Restart systemd-resolved?"),
            "text": mrkdwn("On *node-8*. Nothing is lost: the job goes on by itself."),
            "confirm": plain("Propose it"),
            "deny": plain("Leave it"),
            "style": "danger",
        },
    }
    more = {
        "type": "overflow",
        "action_id": "more",
        "options": [
            option("probe_again", "Probe again"),
            option("preflight", "Pre-flight all VMs"),
            option("wrong_vm", "Wrong VM: pick another"),
            option("dismiss", "Dismiss"),
        ],
    }
    return [
        header("node-8: its resolver has failed"),
        section(
            "systemd-resolved on node-8 is `failed`, and no name resolves there. "
            "*Confidence: high.*"
        ),
        {
            "type": "section",
            "fields": [
                mrkdwn("*Failing:* ranks 64 to 71 of 256"),
                mrkdwn("*VM:* `node-8` h100-80gb-sxm-ib.8x"),
                mrkdwn("*API state:* `RUNNING`, read 03:04 (12 s old)"),
                mrkdwn("*Why this VM:* the log places the rank there"),
            ],
        },
        section("*Next:* restart systemd-resolved in the guest; the job still waits."),
        actions(
            {**button("back_up"), "text": plain("Back up"), "value": "inc-1"},
            restart,
            {**button("ticket", style="primary"), "text": plain("Draft ticket"), "value": "inc-1"},
            more,
        ),
        *([section(f":white_check_mark: {note}")] if note else []),
        context("Asked by <@U0ENGINEER>", "Level 2 of 3 (probe)", "Newest log line 41 s old"),
    ]


def evidence() -> list[Json]:
    """Return the quoted lines, the hostile ones among them."""
    return [
        section("*What the log says* (`slurm-48213.err`, lines 812 and 1204)"),
        preformatted(*LOG),
        section("*Lines that nobody should believe*"),
        preformatted(*HOSTILE),
    ]


def probes() -> list[Json]:
    """Return what was found on the VM and on its healthy peer, and what is still to do."""
    rows = (
        ("Probe", "node-8", "node-9"),
        ("systemd-resolved", "failed (core-dump)", "active"),
        ("getent ahosts node-0", "-3 after 5.0 s", "10.0.0.10"),
        ("stub 127.0.0.53", "refused", "answers in 1 ms"),
        ("upstream 10.0.0.2", "answers in 2 ms", "answers in 2 ms"),
    )
    return [
        {"type": "table", "rows": [[_cell(text) for text in row] for row in rows]},
        {
            "type": "plan",
            "title": "What is left to try",
            "tasks": [
                _task("probe", "Probe node-8 and node-9", "complete"),
                _task("restart", "Restart systemd-resolved", "in_progress"),
                _task("verify", "Look names up from both sides", "pending"),
            ],
        },
    ]


def _cell(text: str) -> Json:
    return {"type": "raw_text", "text": text}


def _task(task_id: str, title: str, status: str) -> Json:
    return {"type": "task_card", "task_id": task_id, "title": title, "status": status}


def ticket() -> list[Json]:
    """Return a draft in markdown."""
    text = (
        "## Ticket draft\n\n**Do NOT power-cycle before we confirm.**\n\n"
        "1. VM `node-8` is RUNNING\n2. its resolver has ~~hung~~ failed\n\n"
        "| name | answer |\n|---|---|\n| node-0 | EAI_AGAIN |\n\n"
        "> <script>alert(4)</script> [a link](https://example.com/a) [bad](javascript:alert(5))\n\n"
        "```\ngai error: -3\n```"
    )
    return [{"type": "markdown", "text": text}]


def matrix(file_id: str) -> list[Json]:
    """Return the picture of a pre-flight."""
    return [
        {
            "type": "image",
            "slack_file": {"id": file_id},
            "alt_text": "who can resolve whom: node-8 resolves nobody",
            "title": plain("Pre-flight: 1 of 32 VMs resolves nobody"),
        },
        {
            "type": "image",
            "image_url": "https://example.com/chart.png",
            "alt_text": "a picture on another server",
        },
    ]


def choosing() -> list[Json]:
    """Return a message with every kind of menu that a message takes."""
    vms = [option(f"vm-{number}", f"node-{number}", "h100, us-east1") for number in range(8, 12)]
    return [
        section("Which VM is it?"),
        actions(
            {"type": "static_select", "action_id": "vm", "placeholder": plain("Pick the VM"),
             "options": vms},
            {"type": "external_select", "action_id": "job", "placeholder": plain("Find a job"),
             "min_query_length": 1},
            {"type": "multi_users_select", "action_id": "who", "placeholder": plain("Who knows?")},
        ),
    ]  # fmt: skip


def paste_modal(problem: str = "") -> Json:
    """Return the modal that asks what to look at."""
    recent = [option("48213", "48213 llama-256", "failed 4 minutes ago"), option("48190", "48190")]
    fields: Sequence[tuple[str, str, str, Json]] = (
        ("text", "Log lines", "Up to 3,000 characters (Slack's limit).",
         {"type": "plain_text_input", "multiline": True, "max_length": 3000,
          "focus_on_load": True, "placeholder": plain("[c10d] The IPv6 network addresses …")}),
        ("file", "Log file", "Up to 10 MB (Slack's limit). Larger ones: share them in a channel.",
         {"type": "file_input", "max_files": 1, "filetypes": ["log", "txt", "png"]}),
        ("job", "Job ID", "I read the job's logs where they lie.",
         {"type": "plain_text_input", "placeholder": plain("48213")}),
        ("recent", "Or a job that failed lately", "",
         {"type": "static_select", "options": recent, "placeholder": plain("Pick a job")}),
    )  # fmt: skip
    alert = {"type": "alert", "level": "error", "text": plain(problem)}
    return {
        "type": "modal",
        "callback_id": "paste",
        "title": plain("Which VM, and why?"),
        "submit": plain("Check"),
        "close": plain("Cancel"),
        "blocks": [
            *([alert] if problem else []),
            *(_input(name, label, hint, element) for name, label, hint, element in fields),
        ],
    }


def fields_modal() -> Json:
    """Return a modal with a field of each kind that something is typed into or ticked in."""
    options = [option("one", "One", "the first"), option("two", "Two")]
    fields: Sequence[tuple[str, str, Json]] = (
        ("day", "Day", {"type": "datepicker", "initial_date": "2026-11-30"}),
        ("hour", "Hour", {"type": "timepicker"}),
        ("moment", "Moment", {"type": "datetimepicker"}),
        ("ticks", "Ticks", {"type": "checkboxes", "options": options,
                            "initial_options": options[:1]}),
        ("radio", "Radio", {"type": "radio_buttons", "options": options}),
        ("number", "Number", {"type": "number_input", "is_decimal_allowed": False,
                              "max_value": "256"}),
        ("mail", "Mail", {"type": "email_text_input"}),
        ("address", "Address", {"type": "url_text_input"}),
        ("room", "Room", {"type": "channels_select", "placeholder": plain("A channel")}),
    )  # fmt: skip
    telling = {
        **_input("telling", "Telling", "", {"type": "plain_text_input"}), "dispatch_action": True,
    }  # fmt: skip
    return {
        "type": "modal",
        "callback_id": "fields",
        "title": plain("Fields"),
        "submit": plain("Send"),
        "blocks": [*(_input(name, label, "", field) for name, label, field in fields), telling],
    }


def _input(name: str, label: str, hint: str, element: Json) -> Json:
    return {
        "type": "input",
        "block_id": name,
        "label": plain(label),
        "optional": True,
        "element": {"action_id": "given", **element},
        **({"hint": plain(hint)} if hint else {}),
    }


def home() -> Json:
    """Return the Home tab."""
    thread = {**button("open_thread"), "text": plain("Open the thread")}
    return {
        "type": "home",
        "blocks": [
            header("Open incidents"),
            section("*node-8: its resolver has failed*\nJob 48213 · 2 minutes old",
                    accessory=thread),
            {"type": "divider"},
            header("What waits for you"),
            context("Nothing waits for you."),
            actions({**button("new", style="primary"), "text": plain("Check a job or a log")}),
        ],
    }  # fmt: skip


def heat_map(size: int = 32, scale: int = 12) -> bytes:
    """Return a PNG of who resolves whom: all green, but for the row of one that resolves nobody."""
    good, bad = bytes((38, 140, 90)), bytes((200, 50, 70))
    rows = []
    for observer in range(size):
        row = b"".join((bad if observer == 8 else good) * scale for _ in range(size))
        rows += [b"\x00" + row] * scale
    about = struct.pack(">IIBBBBB", size * scale, size * scale, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", about), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + crc
