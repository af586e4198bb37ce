"""What each kind of observation adds to the view; one function a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bot.diagnosis import names
from bot.diagnosis.gai import code_of, number
from bot.diagnosis.kinds import Kind
from bot.diagnosis.model import Observation
from bot.diagnosis.voices import Lookup, Voice

if TYPE_CHECKING:
    from bot.diagnosis.view import View

#: More speakers than any job has; what comes beyond is counted with the unlabelled.
MOST_VOICES = 70_000
#: More names, ports or hosts than one speaker has any use for.
MOST_NAMES = 64
_KEPT = 3
_LONGEST_TIME = 12


def _lookup(_view: View, voice: Voice, seen: Observation) -> None:
    host, port = seen.fields["host"], number(seen.fields.get("port"))
    key = (host, port)
    if key not in voice.lookups and len(voice.lookups) >= MOST_NAMES:
        key = next(iter(voice.lookups))
    lookup = voice.lookups.setdefault(key, Lookup(host=host, port=port))
    code = code_of(seen)
    if code is not None:
        lookup.codes.add(code)
    lookup.text = seen.fields.get("text", "")
    lookup.count += seen.repeats
    lookup.last_seq = seen.seq


def _not_a_launcher(_view: View, voice: Voice, _seen: Observation) -> None:
    for key in [key for key in voice.lookups if key[1] is None]:
        del voice.lookups[key]


def _timeout(view: View, _voice: Voice, seen: Observation) -> None:
    value = seen.fields.get("time")
    if value is not None and len(value) < _LONGEST_TIME:
        seconds = int(value) / (1000 if seen.fields.get("unit") == "ms" else 1)
        if seen.kind is Kind.CLIENTS_JOINED:
            # the store's server counts one second more than its time-out
            if view.timeout_seconds is None:
                view.timeout_seconds = seconds - 1
        else:
            view.timeout_seconds = seconds


def _joined(view: View, voice: Voice, seen: Observation) -> None:
    _timeout(view, voice, seen)
    joined, world = int(seen.fields["joined"]), int(seen.fields["world"])
    if 0 < world <= MOST_VOICES:
        view.joined.append((joined, world, seen))
        view.world_size = world


def _world(view: View, _voice: Voice, seen: Observation) -> None:
    world = int(seen.fields["world"])
    if view.world_size is None and 0 < world <= MOST_VOICES:
        view.world_size = world


def _socket(_view: View, voice: Voice, seen: Observation) -> None:
    if len(voice.locals) < MOST_NAMES * 64:
        local = seen.fields.get("local")
        if local and not voice.has(Kind.REVERSE_LOOKUP_FAILED):
            voice.locals.add(names.short(local))
        remote = seen.fields.get("remote")
        if remote and len(voice.remotes) < MOST_NAMES:
            voice.remotes.add((remote.strip("[]"), number(seen.fields.get("port"))))


def _connect(view: View, voice: Voice, seen: Observation) -> None:
    peer = seen.fields.get("host") or seen.fields.get("remote") or ""
    why = seen.fields.get("errno") or seen.fields.get("text") or ""
    if len(voice.connects) < MOST_NAMES:
        key = (peer.strip("[]"), number(seen.fields.get("port")), why.strip())
        voice.connects.setdefault(key, seen)
    _timeout(view, voice, seen)


def _own_error(_view: View, voice: Voice, seen: Observation) -> None:
    if len(voice.own_errors) < _KEPT:
        voice.own_errors.append(seen)


def _task_ended(view: View, _voice: Voice, seen: Observation) -> None:
    tasks = tuple(_expand(seen.fields["tasks"]))
    for task in tasks:
        view.task_host[task] = seen.fields["node"]
    if len(view.exits) < MOST_VOICES:
        view.exits.append((seen, tasks))


def _cancelled(view: View, _voice: Voice, seen: Observation) -> None:
    if view.cancelled_at is None:
        view.cancelled_at = seen.seq


def _agent(view: View, _voice: Voice, seen: Observation) -> None:
    view.elastic = True
    if seen.kind is not Kind.ELASTIC_AGENT or "rendezvous" in seen.text:
        view.dynamic = True


def _node_named(view: View, voice: Voice, seen: Observation) -> None:
    _agent(view, voice, seen)
    voice.locals.add(names.short(seen.fields["local"]))


def _launched(view: View, voice: Voice, seen: Observation) -> None:
    fields = seen.fields
    view.standalone = view.standalone or "standalone" in fields
    for key in ("most", "nnodes", "nodes"):
        if key in fields:
            view.nnodes = int(fields[key][:6])
            break
    if "own" in fields:
        view.own_ranks.add(int(fields["own"][:7]))
    if "lone" in fields:
        view.nnodes = 1
        view.prompts.add(fields["lone"])
    if "prompt" in fields and len(view.prompts) < MOST_NAMES:
        view.prompts.add(fields["prompt"])
    if "global_ranks" in fields:
        voice.global_ranks = tuple(_expand(fields["global_ranks"].replace(" ", "")))
    if "group_rank" in fields:
        voice.group_rank = int(fields["group_rank"][:6])
    for key in ("endpoint", "master"):
        value = fields.get(key, "").strip("'\"")
        if value and not value.startswith("$") and len(view.endpoints) < MOST_NAMES:
            view.endpoints.add(_host_of(value))


def _root_cause(view: View, _voice: Voice, seen: Observation) -> None:
    if "exit" not in seen.fields or len(view.failures) >= MOST_NAMES * 64:
        return
    view.failures.append(seen)
    if "root" in seen.fields:
        view.root_causes.append(seen)
    if "rank" in seen.fields and seen.fields.get("host"):
        view.rank_host[int(seen.fields["rank"])] = names.short(seen.fields["host"])


def _nodes(view: View, _voice: Voice, seen: Observation) -> None:
    view.nodes_text = view.nodes_text or seen.fields["nodes"]


def _progress(view: View, voice: Voice, seen: Observation) -> None:
    voice.last_progress = max(voice.last_progress, seen.seq)
    file = seen.origin.file
    view.progress[file] = max(view.progress.get(file, -1), seen.seq)
    view.first_progress[file] = min(view.first_progress.get(file, seen.seq), seen.seq)


def _expand(tasks: str) -> Iterator[int]:
    """Yield the numbers of Slurm's task list (`4-5`, `[0,3-7]`, `1,3`)."""
    for part in tasks.strip("[]").split(","):
        low, _, high = part.partition("-")
        first, last = number(low), number(high or low)
        if first is not None and last is not None:
            yield from range(first, min(last, first + MOST_VOICES) + 1)


def _host_of(endpoint: str) -> str:
    if endpoint.startswith("["):
        return endpoint[1:].partition("]")[0]
    return endpoint.rpartition(":")[0] if endpoint.count(":") == 1 else endpoint


NOTES: dict[Kind, Callable[[View, Voice, Observation], None]] = {
    Kind.LOOKUP_FAILED: _lookup,
    Kind.SSH_LOOKUP_FAILED: _lookup,
    Kind.NOT_A_LAUNCHER: _not_a_launcher,
    Kind.CLIENTS_JOINED: _joined,
    Kind.BARRIER_TIMEOUT: _joined,
    Kind.WORLD_SIZE: _world,
    Kind.STORE_REACHED: _socket,
    Kind.STORE_GONE: _socket,
    Kind.CONNECTED: _socket,
    Kind.CONNECT_FAILED: _connect,
    Kind.CONNECT_FAILED_ALL: _connect,
    Kind.CONNECT_TIMEOUT: _connect,
    Kind.STORE_RETRY: _timeout,
    Kind.KEYS_TIMEOUT: _timeout,
    Kind.SERVER_TIMEOUT: _connect,
    Kind.NOT_LISTENING_YET: _connect,
    Kind.NCCL_CONNECT_FAILED: _connect,
    Kind.OWN_ERROR: _own_error,
    Kind.TASK_ENDED: _task_ended,
    Kind.CANCELLED: _cancelled,
    Kind.ELASTIC_AGENT: _agent,
    Kind.RDZV_CONNECTION: _agent,
    Kind.RDZV_TIMEOUT: _agent,
    Kind.RDZV_CLOSED: _agent,
    Kind.NODE_NAMED: _node_named,
    Kind.LAUNCH: _launched,
    Kind.ROOT_CAUSE: _root_cause,
    Kind.NODES: _nodes,
    Kind.PROGRESS: _progress,
    Kind.RENDEZVOUS_DONE: _progress,
}
