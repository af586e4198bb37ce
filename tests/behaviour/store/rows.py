"""Make the values that the tests keep."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.incidents.approval import Approval
from bot.incidents.delivery import Delivery
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident, job_key
from bot.incidents.message import PARENT, Message
from bot.incidents.store import Store

AT = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
CHECK = {"schema": "nccl-dns/check/1", "headline": "rank 64 cannot resolve node-0"}


def incident(**told: object) -> Incident:
    """Return an incident of job 48213 that was asked about."""
    asked = Incident(
        id=new_id(),
        key=job_key("alpha", "48213"),
        opened_at=AT,
        asked_by="U0KIM",
        team="T0ACME",
        channel="C0TRAIN",
        cluster="alpha",
        job_id="48213",
        check=CHECK,
        checked_at=AT,
    )
    return replace(asked, **told)  # type: ignore[arg-type]


async def opened(store: Store, **told: object) -> Incident:
    """Return a new open incident in the store."""
    change = await store.incidents.open(incident(**told))
    assert change.made
    return change.incident


def message(incident_id: str, purpose: str = PARENT, **told: object) -> Message:
    """Return a message to be said about an incident."""
    wanted = Message(
        id=new_id(LONG),
        incident_id=incident_id,
        purpose=purpose,
        team="T0ACME",
        channel="C0TRAIN",
        created_at=AT,
    )
    return replace(wanted, **told)  # type: ignore[arg-type]


def delivery(name: str, **told: object) -> Delivery:
    """Return a delivery of a click."""
    click = Delivery(id=name, type="interactive", payload={"value": name}, received_at=AT)
    return replace(click, **told)  # type: ignore[arg-type]


def approval(incident_id: str, **told: object) -> Approval:
    """Return a question that is ready to be decided for half an hour."""
    asked = Approval(
        id=new_id(),
        incident_id=incident_id,
        step="reboot",
        chain=("backup", "reboot"),
        vm_id="6f1c9a52",
        vm_name="node-8",
        proposed_by="U0KIM",
        proposed_at=AT,
        digest="sha256:9f86d081",
        ready_at=AT,
        expires_at=AT + 30 * MINUTE,
    )
    return replace(asked, **told)  # type: ignore[arg-type]
