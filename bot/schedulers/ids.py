"""Read what people write for a job: `48213_7`, `hall-a:48213.0`, `k8s:ns/kind/name`, URLs. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, unquote, urlsplit

from bot.schedulers.errors import AmbiguousJobError, JobIdError, UnknownClusterError
from bot.schedulers.model import JobId, Kind

#: Slurm's largest job number (`MaxJobId` is at most 0x03FFFFFF; federations set higher bits).
_MOST = 0xFFFFFFFF
_MOST_TEXT = 2000
_MOST_QUOTED = 80

_SLURM = re.compile(
    r"(?P<number>\d{1,10})(?:_(?P<task>\d{1,10})|_\[(?P<tasks>[^\]]*)\]|\+(?P<het>\d{1,4}))?"
    r"(?:\.(?P<step>\d{1,10}|batch|extern|interactive))?",
    re.ASCII,
)
#: A DNS label or subdomain, as Kubernetes names objects (RFC 1123).
_LABEL = r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?"
_OBJECT = re.compile(rf"(?P<ns>{_LABEL})/(?P<kind>[A-Za-z.]+)/(?P<name>{_LABEL})", re.ASCII)
_PREFIX = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9_.-]{0,63}):(?P<rest>.*)", re.ASCII | re.DOTALL)

#: Spellings of the kinds that run ranks, lower case without the API group.
_KINDS = {
    **dict.fromkeys(("pytorchjob", "pytorchjobs", "ptjob"), "pytorchjob"),
    **dict.fromkeys(("trainjob", "trainjobs"), "trainjob"),
    **dict.fromkeys(("jobset", "jobsets"), "jobset"),
    **dict.fromkeys(("vcjob", "vcjobs", "vj"), "vcjob"),
    **dict.fromkeys(("job", "jobs"), "job"),
}
#: Volcano's kind is `Job` too; its API group tells it from the plain one.
_VOLCANO_GROUP = "batch.volcano.sh"

_FORMS = (
    "Write it as 48213, 48213_7 (array task), 48213+1 (het component), 48213.0 (step), "
    "CLUSTER:48213, k8s:namespace/pytorchjob/name, or paste a URL of it."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """One scheduler of the settings, as far as IDs care."""

    name: str
    kind: Kind
    #: host names (with a port where it matters) of its API and its web pages
    hosts: tuple[str, ...] = ()


def parse(text: str, clusters: Sequence[Cluster] = ()) -> JobId:
    """Return the job that a text names; the cluster stays open where none is named.

    `clusters` gives the names and hosts that may stand in it. Raises JobIdError for anything else,
    UnknownClusterError for a prefix that is neither a kind nor a cluster.
    """
    shown = text.strip().strip("<>`").strip()
    if not shown or len(shown) > _MOST_TEXT:
        raise JobIdError(f"There is no job ID in {_quoted(text)}. {_FORMS}")
    if "://" in shown:
        return _of_url(shown.split("|", 1)[0], clusters)
    if found := _slurm(shown):
        return found
    if found := _kubernetes(shown):
        return found
    prefixed = _PREFIX.fullmatch(shown)
    if prefixed is None:
        raise JobIdError(f"{_quoted(text)} is no job ID. {_FORMS}")
    return _prefixed(prefixed["prefix"], prefixed["rest"].strip(), text, clusters)


def _prefixed(prefix: str, rest: str, text: str, clusters: Sequence[Cluster]) -> JobId:
    cluster = _named(prefix, clusters)
    kind = cluster.kind if cluster else _kind(prefix)
    if kind is None:
        names = ", ".join(one.name for one in clusters) or "none"
        message = (
            f"{_quoted(prefix)} in {_quoted(text)} is no cluster of the settings (known: {names}), "
            "nor slurm or k8s. Nobody was asked."
        )
        raise UnknownClusterError(message)
    name = cluster.name if cluster else None
    if name is None and (inner := _PREFIX.fullmatch(rest)) and _named(inner["prefix"], clusters):
        found = _prefixed(inner["prefix"], inner["rest"].strip(), text, clusters)
    else:
        read = _slurm(rest) if kind is Kind.SLURM else _kubernetes(rest)
        if read is None:
            raise JobIdError(f"{_quoted(rest)} is no job of {kind.value}. {_FORMS}")
        found = replace(read, cluster=name)
    if found.kind is not kind:
        raise JobIdError(f"{_quoted(text)} names a cluster of another kind. {_FORMS}")
    return found


def resolve(job: JobId, clusters: Sequence[Cluster]) -> Cluster:
    """Return the one cluster that an ID is about.

    Raises UnknownClusterError where the settings have none that fits, AmbiguousJobError where
    several do and the ID names none of them.
    """
    fits = [one for one in clusters if one.kind is job.kind]
    if job.cluster is not None:
        fits = [one for one in fits if one.name == job.cluster]
    if not clusters:
        message = (
            f"No cluster is in the settings, so {job} was not asked. Make settings with "
            "`nccl-dns init`, or name them with --config."
        )
        raise UnknownClusterError(message)
    if not fits:
        known = ", ".join(f"{one.name} ({one.kind.value})" for one in clusters)
        wanted = f"{job.cluster!r}" if job.cluster else f"of kind {job.kind.value}"
        message = f"No cluster {wanted} is in the settings (known: {known}); {job} was not asked."
        raise UnknownClusterError(message)
    if len(fits) > 1:
        choices = ", ".join(str(replace(job, cluster=one.name)) for one in fits)
        message = (
            f"{job.job} could be a job of any of {len(fits)} clusters; write one of {choices}."
        )
        raise AmbiguousJobError(message)
    return fits[0]


def _slurm(text: str) -> JobId | None:
    found = _SLURM.fullmatch(text)
    if found is None or not 0 < int(found["number"]) <= _MOST:
        return None
    if found["tasks"] is not None:
        first = re.match(r"\d+", found["tasks"])
        such = f", such as {found['number']}_{first[0]}" if first else ""
        message = f"{text} stands for several tasks of an array; name one of them{such}."
        raise AmbiguousJobError(message)
    return JobId(
        kind=Kind.SLURM,
        number=int(found["number"]),
        array_task=_number(found["task"]),
        het_offset=_number(found["het"]),
        step=found["step"],
    )


def _kubernetes(text: str) -> JobId | None:
    found = _OBJECT.fullmatch(text)
    if found is None:
        return None
    return _object(found["ns"], found["kind"], found["name"])


def _object(namespace: str, kind: str, name: str, group: str = "") -> JobId:
    plain, _, own_group = kind.lower().partition(".")
    known = _KINDS.get(plain)
    if known is None:
        message = (
            f"{_quoted(kind)} is no kind that runs ranks; known are "
            f"{', '.join(sorted(set(_KINDS.values())))}."
        )
        raise JobIdError(message)
    if known == "job" and _VOLCANO_GROUP in {group, own_group}:
        known = "vcjob"
    return JobId(kind=Kind.KUBERNETES, namespace=namespace, object_kind=known, name=name)


#: `/job/48213` of slurmrestd and of most web pages over Slurm.
_JOB_PATH = re.compile(r"/jobs?/(?P<id>\d[\d_+.a-z]*)(?:/|$)", re.ASCII)
#: `/apis/GROUP/VERSION/namespaces/NS/KIND/NAME` and the like.
_OBJECT_PATH = re.compile(
    r"(?:/apis/(?P<group>[a-z0-9.-]+)/[a-z0-9]+)?/namespaces/(?P<ns>[^/]+)/(?P<kind>[^/]+)/"
    r"(?P<name>[^/]+)",
    re.ASCII,
)
#: names of a query's field that carries a job's number
_QUERY = ("job_id", "jobid", "job", "id")


def _of_url(text: str, clusters: Sequence[Cluster]) -> JobId:
    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        raise JobIdError(f"{_quoted(text)} is no URL. {_FORMS}") from None
    found = _in_path(f"{unquote(url.path)}/{unquote(url.fragment)}") or _in_query(url.query)
    if found is None:
        raise JobIdError(f"There is no job in the URL {_quoted(text)}. {_FORMS}")
    of_host = [
        one
        for one in clusters
        if one.kind is found.kind and {host, f"{host}:{port}"} & set(one.hosts)
    ]
    return replace(found, cluster=of_host[0].name) if len(of_host) == 1 else found


def _in_path(path: str) -> JobId | None:
    if found := _OBJECT_PATH.search(path):
        named = f"{found['ns']}/{found['kind']}/{found['name']}"
        if _OBJECT.fullmatch(named):
            return _object(found["ns"], found["kind"], found["name"], found["group"] or "")
        return None
    found = _JOB_PATH.search(path)
    return _slurm(found["id"]) if found else None


def _in_query(query: str) -> JobId | None:
    fields = parse_qs(query)
    for name in _QUERY:
        for value in fields.get(name, ()):
            # a plus sign in a query stands for a space
            if found := _slurm(value.strip().replace(" ", "+")):
                return found
    return None


def _named(name: str, clusters: Sequence[Cluster]) -> Cluster | None:
    return next((one for one in clusters if one.name == name), None)


def _kind(word: str) -> Kind | None:
    if word.lower() in {"k8s", "kubernetes"}:
        return Kind.KUBERNETES
    return Kind.SLURM if word.lower() == "slurm" else None


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _quoted(text: str) -> str:
    return ascii(text[:_MOST_QUOTED]) + ("…" if len(text) > _MOST_QUOTED else "")
