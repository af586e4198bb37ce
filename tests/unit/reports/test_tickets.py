"""The ticket's draft, its forms, and the bundle: structure, hostile text, bounds."""

from __future__ import annotations

import email
import io
import json
import tarfile
from dataclasses import replace
from datetime import timedelta
from email import policy
from email.message import EmailMessage
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given, settings

from bot.incidents.run import RunState
from bot.incidents.statement import Kind
from bot.incidents.ticket import Capture
from bot.reports.slack.message import Attachment
from bot.reports.tickets import bundle as bundling
from bot.reports.tickets.bundle import bundle, files
from bot.reports.tickets.drafting import drafted
from bot.reports.tickets.mail import Addressed, message
from bot.reports.tickets.ticket import GO_ON, WAIT, Priority, of_content, to_content
from bot.reports.tickets.wording import as_markdown, as_text, fenced
from tests.unit.reports.hostile import BITS, FOREIGN, LEAKED
from tests.unit.reports.made import NOW, checked, harmless
from tests.unit.reports.made_tickets import BEGAN, contents, known, said, ticket

WHERE = Addressed(to="support@example.com", sender="bot@ours.example", number="SUP-1")
BUNDLE = Attachment(name="evidence.tar.gz", content=b"packed")


def mailed(text: str = "gpu-8") -> EmailMessage:
    """Return a mail as who gets it reads it, with a text in every field."""
    made = message(ticket(text=lambda _field, _usual: text), WHERE, (BUNDLE,), version="1", at=NOW)
    found = email.message_from_bytes(made.as_bytes(), policy=policy.default)
    assert isinstance(found, EmailMessage)
    return found


def test_the_status_of_the_data_comes_first() -> None:
    """Whoever opens the ticket reads before all else whether the VM may be power-cycled."""
    made = ticket()
    for shown in (as_text(made), as_markdown(made).partition("\n\n")[2].replace("\\", "")):
        assert WAIT in shown.splitlines()[0]
        assert "at risk (2 checkpoints, 120 GB)" in shown
    gone = ticket(said=(said(Kind.NOTHING_TO_KEEP, text="all on /shared"),))
    assert gone.power == GO_ON
    assert "nothing to keep (all on /shared) - you may power-cycle" in as_text(gone)


def test_a_draft_holds_what_support_asks_for() -> None:
    """Ids, state, operations, exact lines, what was tried, impact in GPUs and hours, contact."""
    made = ticket()
    assert made.title == "gpu-8 in ERROR: job 48213 on 2 VMs does not run"
    assert made.priority is Priority.P2
    assert made.first_seen == BEGAN
    assert made.impact == (
        "Job 48213 of alice on 2 VMs (16 GPUs) is held up since 2026-11-30 01:15:00 UTC: 2.0 h, "
        "32 GPU-hours so far."
    )
    assert "/shared/48213.err:1204: gai error: -3" in made.lines
    assert made.tried == (
        "2026-11-30 02:55:00 UTC Restart systemd-resolved on gpu-8: did not help. gpu-8 still "
        "does not find gpu-0."
    )
    text = as_text(made)
    for told in (
        "VM id: c55f8b50-9587-5256-956e-a5ea712bb374-gpu-8", "Project: hall",
        "Type: h100-80gb-sxm-ib.8x", "Location: us-east1-a", "API state: STATE_ERROR, read",
        "API operation: STOP OP-1: FAILED begun 2026-11-30 02:55:00 UTC (internal_error: host is",
        "ML platform on call",
    ):  # fmt: skip
        assert told in text


def test_several_vms_are_one_ticket() -> None:
    """A tier has five requests a year; one VM whose data must be kept makes support wait."""
    made = ticket("gpu-8", "gpu-3", said=(said(Kind.BACKED_UP, "gpu-8", text="/shared/b"),))
    assert [one.name for one in made.vms] == ["gpu-8", "gpu-3"]
    assert [one.may_go for one in made.vms] == [True, False]
    assert made.power == WAIT
    assert made.title.startswith("2 VMs (gpu-8, gpu-3) in ERROR")
    assert made.priority is Priority.P1
    assert "The API was not asked for its operations." in made.vms[1].operations


def test_without_a_machine_there_is_no_ticket() -> None:
    """Support is asked about a VM, never about a job whose VM nobody knows."""
    assert drafted(known(checked=harmless())) is None
    assert drafted(known(checked=checked())) is not None


def test_what_is_tried_still_is_not_told_as_tried() -> None:
    """A step that waits or is under way has no result yet."""
    runs = tuple(replace(one, state=RunState.ACTING) for one in known().runs)
    assert ticket(runs=runs).tried == "Nothing has been tried on the VM yet."


def test_it_is_kept_as_json() -> None:
    """What the store gives back is what was drafted."""
    made = ticket("gpu-8", "gpu-3")
    assert of_content(json.loads(json.dumps(to_content(made)))) == made


@given(FOREIGN)
@example("".join(BITS))
@settings(max_examples=40, deadline=None)
def test_no_foreign_text_leaves_its_place(foreign: str) -> None:
    """In text, Markdown and mail it starts no line of its own, no header, no code, no markup."""
    hostile = ticket(text=lambda _field, _usual: foreign)
    for one, usual in ((as_text(hostile), as_text(ticket())),):
        assert [row for row in one.splitlines() if row.startswith(("DATA", "Title:", "Bcc"))] == [
            *[row for row in usual.splitlines() if row.startswith("DATA")],
            *[row for row in one.splitlines() if row.startswith("Title:")][:1],
        ]
    assert "<script" not in as_markdown(hostile).replace("`", "").partition("## What")[0]
    mail = mailed(foreign)
    assert set(mail.keys()) == {
        "Subject", "To", "From", "Date", "Message-ID", "MIME-Version", "Content-Type",
    }  # fmt: skip
    assert mail["To"] == "support@example.com"
    assert [one.get_filename() for one in mail.iter_attachments()] == ["evidence.tar.gz"]


@pytest.mark.parametrize("inside", ["```", "`````", "x\n```\n# head", "~~~", "``` text"])
def test_a_fence_is_longer_than_any_in_it(inside: str) -> None:
    """Backticks of a log cannot end the block of code that they are quoted in."""
    first, *body, last = fenced(inside)
    assert first == f"{last}text"
    assert last not in body
    assert "\n".join(body) == inside


@pytest.mark.parametrize(
    "title", ["a\r\nBcc: x@evil.example", "=?utf-8?b?aGk=?=", "ü" * 400, "\0", "\ud800", ""]
)
def test_no_title_makes_another_header(title: str) -> None:
    """A mail is refused or made with one subject, whatever the title holds."""
    made = message(replace(ticket(), title=title), WHERE, (), version="1", at=NOW)
    found = email.message_from_bytes(made.as_bytes(), policy=policy.default)
    assert found["Bcc"] is None
    assert len(found.get_all("Subject", [])) == 1
    assert found["Subject"].startswith("[SUP-1]")


def test_a_draft_of_a_mail_is_the_same_each_time() -> None:
    """It has no time and no random id, and mail programs open it to be sent."""
    one, two = (message(ticket(), WHERE, (BUNDLE,), version="1") for _ in range(2))
    assert one.as_bytes() == two.as_bytes()
    assert one["X-Unsent"] == "1"
    assert one["Date"] is None


def test_no_secret_is_in_any_form() -> None:
    """A key that a log, a run, a cloud or a person wrote is in no ticket, mail or bundle."""
    leaking = f"AWS_ACCESS_KEY_ID={LEAKED}"
    made = ticket(text=lambda _field, _usual: leaking)
    packed = b"".join(content for _, content in files(contents(text=lambda *_: leaking)))
    for shown in (as_text(made), as_markdown(made), mailed(leaking).as_string(), packed.decode()):
        assert LEAKED not in shown
    assert LEAKED not in json.dumps(to_content(made))


def test_the_address_to_answer_to_stays() -> None:
    """A contact that was redacted could not be answered; what else stands there is."""
    words = f"ops@ours.example, key {LEAKED} https://u:hunter2@evil.example"
    made = ticket(contact=words)
    for shown in (as_text(made), as_markdown(made), json.dumps(to_content(made))):
        assert "ops@ours.example" in shown
        assert LEAKED not in shown
        assert "hunter2" not in shown


# -- the bundle


def unpacked(packed: bytes) -> dict[str, bytes]:
    """Return a bundle's files by name."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        found = {}
        for one in tar.getmembers():
            assert one.isreg()
            assert (one.mode, one.uid, one.uname) == (0o600, 0, "")
            content = tar.extractfile(one)
            assert content is not None
            found[one.name] = content.read()
        return found


def test_a_bundle_holds_what_was_seen() -> None:
    """Incident, timeline, ticket, answers and log, in that order."""
    found = unpacked(bundle(contents()))
    assert [name.partition("/")[2] for name in found] == [
        "incident.json", "timeline.md", "ticket.md",
        "20261130T031500Z-look/probes/gpu-8/resolv_conf.txt",
        "20261130T031500Z-look/log/shared/48213.err.txt",
    ]  # fmt: skip
    told = json.loads(found["evidence-k3n9-x2/incident.json"])
    assert told["incident"]["id"] == "k3n9-x2"
    assert told["statements"][0]["kind"] == "at_risk"
    assert b"gpu-8: VM in ERROR" in found["evidence-k3n9-x2/timeline.md"].replace(b"\\", b"")


def test_a_bundle_is_the_same_each_time() -> None:
    """Two replicas, or one later, make the same bytes of the same rows."""
    assert bundle(contents()) == bundle(contents())


@pytest.mark.parametrize("host", ["../../etc", "/etc/passwd", "a/../../b", "..", "\0", "x" * 400])
def test_no_name_leaves_the_folder(host: str) -> None:
    """Whatever machines and paths are called, a bundle unpacks into one folder."""
    named = contents(text=lambda field, usual: host if field == "machine.host" else usual)
    for name in unpacked(bundle(named)):
        path = PurePosixPath(name)
        assert path.parts[0] == "evidence-k3n9-x2"
        assert ".." not in path.parts
        assert not path.is_absolute()


def test_a_bundle_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too long is cut, what does not fit is named and left out, and both say so."""
    monkeypatch.setattr(bundling, "MOST_FILE", 2_000)
    monkeypatch.setattr(bundling, "MOST", 20_000)
    captures = tuple(
        Capture(
            id=str(n), incident_id="k3n9-x2", at=NOW + timedelta(minutes=n), why="look",
            outputs={"probes/gpu-8/journal": "x" * 9_000},
        )
        for n in range(15)
    )  # fmt: skip
    found = unpacked(bundle(replace(contents(), captures=captures)))
    assert sum(map(len, found.values())) < 21_000
    own = [content for name, content in found.items() if "journal" in name]
    assert own[0].endswith(b"(cut: the rest did not fit)\n")
    assert own[-1] == b"(left out: the bundle is full)\n"
    assert len(own) == 15


def test_names_that_come_to_the_same_stay_apart() -> None:
    """No answer takes the place of another in the bundle."""
    outputs = {"log/a b": "one", "log/a?b": "two", "log/a-b": "three"}
    capture = Capture(id="1", incident_id="k3n9-x2", at=NOW, why="look", outputs=outputs)
    found = unpacked(bundle(replace(contents(), captures=(capture,))))
    assert [content for name, content in found.items() if "/log/" in name] == [
        b"one", b"two", b"three",
    ]  # fmt: skip
