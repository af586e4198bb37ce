"""The kinds of objects that run ranks: how each names its pods, ends, and is held. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.schedulers.kubernetes import calls
from bot.schedulers.kubernetes.calls import Resource
from bot.schedulers.model import JobState

#: Label that Jobs put on their pods; every version has the short one.
JOB_NAME = "job-name"
JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
#: Queues of Kueue hold and start the objects that carry this label, whatever anybody else does.
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One kind of object that runs ranks."""

    #: as IDs have it
    word: str
    #: as people and manifests write it
    shown: str
    resource: Resource
    #: labels that carry the object's name on its pods; the first that finds any is taken
    pod_labels: tuple[str, ...]
    #: its pods belong to Jobs of its own
    by_jobs: bool = False
    #: what the conditions of its status mean, strongest first
    conditions: Mapping[str, JobState] = field(default_factory=dict)
    #: path of the switch that holds it; empty where it has none
    suspend: tuple[str, ...] = ("spec", "suspend")
    #: what else can hold, end or start it anew
    otherwise: str = ""


_BATCH = {"Failed": JobState.FAILED, "Complete": JobState.COMPLETED}

KINDS: Mapping[str, Kind] = {
    kind.word: kind
    for kind in (
        # kubernetes/api batch/v1 types.go
        Kind(
            word="job",
            shown="Job",
            resource=calls.JOBS,
            pod_labels=(JOB_NAME,),
            conditions=_BATCH,
        ),
        # kubernetes-sigs/jobset api/jobset/v1alpha2
        Kind(
            word="jobset",
            shown="JobSet",
            resource=calls.JOBSETS,
            pod_labels=(JOBSET_NAME,),
            by_jobs=True,
            conditions={"Failed": JobState.FAILED, "Completed": JobState.COMPLETED},
        ),
        # kubeflow/trainer pkg/apis/trainer/v1alpha1: it makes a JobSet of its own name
        Kind(
            word="trainjob",
            shown="TrainJob",
            resource=calls.TRAINJOBS,
            pod_labels=(JOBSET_NAME,),
            by_jobs=True,
            conditions=_BATCH,
        ),
        # kubeflow/training-operator pkg/apis/kubeflow.org/v1/common_types.go
        Kind(
            word="pytorchjob",
            shown="PyTorchJob",
            resource=calls.PYTORCHJOBS,
            pod_labels=("training.kubeflow.org/job-name", "pytorch-job-name", JOB_NAME),
            conditions={
                "Failed": JobState.FAILED,
                "Succeeded": JobState.COMPLETED,
                "Running": JobState.RUNNING,
            },
            suspend=("spec", "runPolicy", "suspend"),
        ),
        # volcano.sh/apis pkg/apis/batch/v1alpha1/job.go; it has phases and no conditions
        Kind(
            word="vcjob",
            shown="Volcano Job",
            resource=calls.VCJOBS,
            pod_labels=("volcano.sh/job-name",),
            suspend=(),
            otherwise="use vcctl job suspend or vcctl job resume",
        ),
    )
}

#: Phases of a Volcano Job (`status.state.phase`).
PHASES: Mapping[str, JobState] = {
    "Pending": JobState.PENDING,
    "Aborting": JobState.COMPLETING,
    "Aborted": JobState.CANCELLED,
    "Running": JobState.RUNNING,
    "Restarting": JobState.CONFIGURING,
    "Completing": JobState.COMPLETING,
    "Completed": JobState.COMPLETED,
    "Terminating": JobState.COMPLETING,
    "Terminated": JobState.FAILED,
    "Failed": JobState.FAILED,
}
