"""Prove what is read as a job ID, and what is refused with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.schedulers.errors import AmbiguousJobError, JobIdError, UnknownClusterError
from bot.schedulers.ids import Cluster, parse, resolve
from bot.schedulers.model import JobId, Kind

HALLS = (
    Cluster(name="hall-a", kind=Kind.SLURM, hosts=("slurm-a.example:6820", "portal.example")),
    Cluster(name="hall-b", kind=Kind.SLURM, hosts=("slurm-b.example",)),
    Cluster(name="kube", kind=Kind.KUBERNETES, hosts=("api.kube.example:6443",)),
)


def slurm(number: int, **more: object) -> JobId:
    """Return a job of Slurm."""
    return JobId(kind=Kind.SLURM, number=number, **more)  # type: ignore[arg-type]


def kubernetes(namespace: str, kind: str, name: str, cluster: str | None = None) -> JobId:
    """Return an object of Kubernetes."""
    return JobId(
        kind=Kind.KUBERNETES, cluster=cluster, namespace=namespace, object_kind=kind, name=name
    )


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("48213", slurm(48213)),
        ("  <48213> ", slurm(48213)),
        ("`48213_7`", slurm(48213, array_task=7)),
        ("48213+1", slurm(48213, het_offset=1)),
        ("48213.0", slurm(48213, step="0")),
        ("48213_7.batch", slurm(48213, array_task=7, step="batch")),
        ("slurm:48213", slurm(48213)),
        ("SLURM: 48213_0", slurm(48213, array_task=0)),
        ("hall-b:48213.1", slurm(48213, cluster="hall-b", step="1")),
        ("slurm:hall-b:48213", slurm(48213, cluster="hall-b")),
        ("k8s:ml/pytorchjob/llama", kubernetes("ml", "pytorchjob", "llama")),
        ("kubernetes:ml/PyTorchJobs/llama-2.x", kubernetes("ml", "pytorchjob", "llama-2.x")),
        ("ml/trainjob/llama", kubernetes("ml", "trainjob", "llama")),
        ("kube:ml/jobset/llama", kubernetes("ml", "jobset", "llama", "kube")),
        ("ml/jobs/eval", kubernetes("ml", "job", "eval")),
        ("ml/vcjob/eval", kubernetes("ml", "vcjob", "eval")),
        ("ml/job.batch.volcano.sh/eval", kubernetes("ml", "vcjob", "eval")),
        ("http://slurm-a.example:6820/slurm/v0.0.38/job/48213", slurm(48213, cluster="hall-a")),
        ("https://portal.example/jobs/48213_7?x=1", slurm(48213, cluster="hall-a", array_task=7)),
        ("<https://slurm-b.example/#/job/48213|the job>", slurm(48213, cluster="hall-b")),
        ("https://other.example/view?cluster=x&jobid=48213", slurm(48213)),
        ("https://other.example/view?job_id=48213+1", slurm(48213, het_offset=1)),
        (
            "https://api.kube.example:6443/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs/llama",
            kubernetes("ml", "pytorchjob", "llama", "kube"),
        ),
        (
            "https://x.example/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs/eval",
            kubernetes("ml", "vcjob", "eval"),
        ),
    ],
)
def test_every_form_of_an_id_is_read(text: str, job: JobId) -> None:
    """Numbers, tasks, components, steps, prefixes, objects and URLs, as people paste them."""
    assert parse(text, HALLS) == job


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "0",
        "99999999999",
        "48213_",
        "48213-1",
        "48213.0.1",
        "48213; reboot",
        "$(reboot)",
        "-48213",
        "\uff14\uff18",
        "k8s:48213",
        "slurm:ml/pytorchjob/llama",
        "ml/deployment/web",
        "ml/pytorchjob/../x",
        "https://example.org/",
        "https://x.example/job/abc",
        "http://[bad/job/1",
        "pretrain",
        "x" * 3000,
    ],
)
def test_what_is_no_id_is_refused_with_the_forms(text: str) -> None:
    """Nothing is guessed; the sentence shows how to write one."""
    with pytest.raises(JobIdError, match=r"48213_7|no kind that runs ranks") as refused:
        parse(text, HALLS)

    assert len(str(refused.value)) < 400


def test_an_unknown_prefix_is_no_cluster() -> None:
    """A cluster that the settings do not have is named with those that they have."""
    with pytest.raises(UnknownClusterError, match=r"'hall-c'.*hall-a, hall-b, kube"):
        parse("hall-c:48213", HALLS)


def test_a_range_of_tasks_is_ambiguous() -> None:
    """`48213_[3-7]` is what squeue prints for waiting tasks, and no single job."""
    with pytest.raises(AmbiguousJobError, match="such as 48213_3"):
        parse("48213_[3-7%2]")


def test_a_bare_number_needs_one_cluster() -> None:
    """With one cluster of the kind there is no choice; with two the ID has to name it."""
    job = parse("48213_7", HALLS)

    assert resolve(job, HALLS[1:]).name == "hall-b"
    with pytest.raises(AmbiguousJobError, match="hall-a:48213_7, hall-b:48213_7"):
        resolve(job, HALLS)
    assert resolve(parse("hall-a:48213", HALLS), HALLS).name == "hall-a"


def test_an_id_without_a_cluster_of_its_kind_is_not_asked() -> None:
    """No fitting cluster is an error that lists what there is, or says how to begin."""
    with pytest.raises(UnknownClusterError, match=r"kind k8s.*hall-a \(slurm\)"):
        resolve(parse("k8s:ml/job/eval"), HALLS[:2])
    with pytest.raises(UnknownClusterError, match="'hall-z'"):
        resolve(slurm(1, cluster="hall-z"), HALLS)
    with pytest.raises(UnknownClusterError, match="nccl-dns init"):
        resolve(slurm(1), ())


def test_an_id_is_written_as_it_is_read() -> None:
    """The text form of an ID reads back as the same ID."""
    for text in ("hall-a:48213_7.batch", "hall-b:48213+1", "kube:ml/jobset/llama"):
        assert str(parse(text, HALLS)) == text
    assert str(parse("48213.0")) == "slurm:48213.0"


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    """Any text is an ID or one of our errors."""
    try:
        job = parse(text, HALLS)
    except (JobIdError, AmbiguousJobError, UnknownClusterError):
        return
    assert job.number is not None or job.name is not None
