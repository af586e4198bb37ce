"""What containers wrote, and how the API server cuts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from playground.kubernetes.resources import Object
from playground.kubernetes.statuses import Refusal

#: Parameters of a log request (PodLogOptions).
TAKEN = frozenset(
    {
        "container", "previous", "sinceSeconds", "sinceTime", "timestamps", "tailLines",
        "limitBytes", "insecureSkipTLSVerifyBackend", "pretty",
    }
)  # fmt: skip


@dataclass(kw_only=True)
class Logs:
    """The logs of every container: of the run that is there now, and of the one before."""

    now: dict[tuple[str, str], bytes] = field(default_factory=dict)
    before: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def read(self, pod: Object, query: Mapping[str, str]) -> bytes:
        """Return what a request gets; raises Refusal as the kubelet and the server do."""
        name = pod["metadata"]["name"]
        container = _container(pod, query)
        tail, limit = _number(query, "tailLines", 0), _number(query, "limitBytes", 1)
        previous = query.get("previous") == "true"
        told = {one["name"]: one for one in pod.get("status", {}).get("containerStatuses", [])}
        if previous and not told.get(container, {}).get("restartCount"):
            message = f'previous terminated container "{container}" in pod "{name}" not found'
            raise Refusal(400, message)
        waiting = told.get(container, {}).get("state", {}).get("waiting")
        if not previous and (waiting or container not in told):
            why = (waiting or {}).get("reason", "ContainerCreating")
            message = f'container "{container}" in pod "{name}" is waiting to start: {why}'
            raise Refusal(400, message)
        key = pod["metadata"]["uid"], container
        data = (self.before if previous else self.now).get(key, b"")
        if tail is not None:
            data = b"".join(data.splitlines(keepends=True)[-tail:] if tail else [])
        return data if limit is None else data[:limit]


def _container(pod: Object, query: Mapping[str, str]) -> str:
    name = pod["metadata"]["name"]
    containers = [one["name"] for one in pod["spec"]["containers"]]
    wanted = query.get("container", "")
    if not wanted and len(containers) == 1:
        return str(containers[0])
    if not wanted:
        message = (
            f"a container name must be specified for pod {name}, choose one of: "
            f"[{' '.join(containers)}]"
        )
        raise Refusal(400, message)
    if wanted not in containers:
        raise Refusal(400, f"container {wanted} is not valid for pod {name}")
    return wanted


def _number(query: Mapping[str, str], key: str, least: int) -> int | None:
    told = query.get(key)
    if told is None:
        return None
    if not told.isdigit() or int(told) < least:
        message = f'PodLogOptions "" is invalid: {key}: Invalid value: "{told}"'
        raise Refusal(422, message)
    return int(told)
