"""The values that the store keeps."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

#: Fields by which one run of a job is told from the next under the same ID. Slurm gives a requeued
#: job a new submit time or counts its restarts, and a controller that lost its state starts
#: counting jobs from 1 again.
_RUN = ("submitted_at", "restarts")


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenJob:
    """What was seen of one run of a job while its scheduler showed it; None is "not told".

    A scheduler without accounting forgets a job minutes after its end (Slurm's MinJobAge), and a
    step's distribution as soon as it ends, so this is all there will ever be.
    """

    cluster: str
    #: as the scheduler writes it: `48213`, `48213_7`, `48213+1`, `namespace/kind/name`
    job_id: str
    #: when this was read; aware
    first_seen: datetime
    last_seen: datetime
    #: the scheduler's word
    state: str | None = None
    name: str | None = None
    user: str | None = None
    #: node list as the scheduler writes it, in its order
    nodes: str | None = None
    #: `8(x31),4`
    tasks_per_node: str | None = None
    #: `block:cyclic`, `plane=4`
    distribution: str | None = None
    #: paths as the scheduler gives them, patterns (`%j`) included
    stdout_path: str | None = None
    stderr_path: str | None = None
    work_dir: str | None = None
    #: node on which the batch script ran
    batch_host: str | None = None
    exit_code: int | None = None
    #: number of the signal that ended it
    exit_signal: int | None = None
    #: how often the scheduler has started it again
    restarts: int | None = None
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse times without a zone: they would be read as another hour elsewhere."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, datetime) and value.tzinfo is None:
                raise ValueError(f"{field.name} of job {self.job_id} has no time zone.")

    def same_run(self, other: SeenJob) -> bool:
        """Tell whether both can be one run: nothing that tells runs apart differs."""
        return all(
            getattr(self, name) is None
            or getattr(other, name) is None
            or getattr(self, name) == getattr(other, name)
            for name in _RUN
        )

    def merged(self, other: SeenJob) -> SeenJob:
        """Return what both looks at one run tell together.

        The later look wins where both tell something; nothing that either tells is lost.
        """
        early, late = sorted((self, other), key=lambda job: job.last_seen)
        told: dict[str, Any] = {}
        for field in fields(self):
            newer = getattr(late, field.name)
            told[field.name] = getattr(early, field.name) if newer is None else newer
        told["first_seen"] = min(self.first_seen, other.first_seen)
        return SeenJob(**told)
