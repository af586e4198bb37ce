"""What one speaker said: counts, first and last lines, never the lines themselves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from bot.diagnosis.kinds import Kind
from bot.diagnosis.model import Observation
from bot.diagnosis.origin import Origin

#: Ways in which a missing or unreachable peer, or a dead store, surfaces in a process.
NETWORK_KINDS = frozenset(
    {
        Kind.LOOKUP_FAILED,
        Kind.PY_LOOKUP_FAILED,
        Kind.HOST_NOT_FOUND,
        Kind.CONNECT_FAILED,
        Kind.CONNECT_FAILED_ALL,
        Kind.CONNECT_TIMEOUT,
        Kind.STORE_RETRY,
        Kind.STORE_REACHED,
        Kind.STORE_GONE,
        Kind.CLIENTS_JOINED,
        Kind.KEYS_TIMEOUT,
        Kind.BARRIER_TIMEOUT,
        Kind.RDZV_CONNECTION,
        Kind.RDZV_TIMEOUT,
        Kind.RDZV_CLOSED,
        Kind.NCCL_CONNECT_FAILED,
        Kind.PEER_CLOSED,
        Kind.MESH_FAILED,
    }
)
#: Those of them that do not end the process.
WARNING_KINDS = frozenset({Kind.LOOKUP_FAILED, Kind.CONNECT_FAILED, Kind.STORE_REACHED})
#: Signs that a process goes on living.
LIFE_KINDS = frozenset(
    {
        Kind.LOOKUP_FAILED,
        Kind.STORE_REACHED,
        Kind.KEYS_TIMEOUT,
        Kind.CLIENTS_JOINED,
        Kind.CONNECT_FAILED,
        Kind.CONNECT_TIMEOUT,
        Kind.PROGRESS,
        Kind.CONNECTED,
        Kind.REVERSE_LOOKUP_FAILED,
    }
)
#: Signs that a look-up of the store's name has worked in this process.
REACHED_KINDS = frozenset(
    {
        Kind.STORE_REACHED,
        Kind.CONNECTED,
        Kind.KEYS_TIMEOUT,
        Kind.BARRIER_TIMEOUT,
        Kind.STORE_GONE,
    }
)


#: What only a process prints whose look-up of the store has ended: c10d looks up before anything
#: else, and does nothing else meanwhile.
BEYOND_KINDS = frozenset(
    {
        Kind.OWN_ERROR,
        Kind.NO_INTERFACE,
        Kind.LOOPBACK_USED,
        Kind.NCCL_CONNECT_FAILED,
        Kind.NCCL_RETRYING,
        Kind.NCCL_GAVE_UP,
        Kind.STORE_GONE,
        Kind.INIT_DONE,
    }
)


@dataclass(kw_only=True, slots=True)
class Lookup:
    """Failed look-ups of one name by one voice."""

    host: str
    port: int | None
    codes: set[int] = field(default_factory=set)
    text: str = ""
    count: int = 0
    last_seq: int = -1


@dataclass(kw_only=True, slots=True)
class Voice:
    """What one speaker said."""

    origin: Origin
    #: per kind: how often, the first and the last observations
    counts: dict[Kind, int] = field(default_factory=lambda: defaultdict(int))
    first: dict[Kind, Observation] = field(default_factory=dict)
    last: dict[Kind, Observation] = field(default_factory=dict)
    lookups: dict[tuple[str, int | None], Lookup] = field(default_factory=dict)
    #: addresses that its own sockets had, those of the store it reached
    locals: set[str] = field(default_factory=set)
    remotes: set[tuple[str, int | None]] = field(default_factory=set)
    #: observations of connect failures by (peer, port, errno or text)
    connects: dict[tuple[str, int | None, str], Observation] = field(default_factory=dict)
    #: what a torchrun agent says of its node
    group_rank: int | None = None
    global_ranks: tuple[int, ...] = ()
    own_errors: list[Observation] = field(default_factory=list)
    first_network: int | None = None
    #: the first failure that ends a process: not a warning, nor a look-up that is tried again
    first_fatal: int | None = None
    last_life: int = -1
    last_progress: int = -1
    #: where it was seen to print other things after its last failing look-up, -1 for nowhere
    quiet: int = -1

    @property
    def anonymous(self) -> bool:
        """Tell whether this may be the merged output of several speakers."""
        origin = self.origin
        return origin.rank is None and origin.task is None and origin.host is None

    @property
    def last_lookup(self) -> int:
        """Return the position of the last failing look-up, -1 for none."""
        last = max((lookup.last_seq for lookup in self.lookups.values()), default=-1)
        for kind in (Kind.PY_LOOKUP_FAILED, Kind.HOST_NOT_FOUND):
            if kind in self.last:
                last = max(last, self.last[kind].seq)
        return last

    @property
    def last_reached(self) -> int:
        """Return the position of the last proof that the store was reached, -1 for none."""
        return max((self.last[kind].seq for kind in REACHED_KINDS if kind in self.last), default=-1)

    @property
    def last_startup_failure(self) -> int:
        """Return the position of the last sign that this voice could not start, -1 for none."""
        last = self.last_lookup
        for kind in (Kind.CONNECT_TIMEOUT, Kind.CONNECT_FAILED_ALL, Kind.STORE_RETRY):
            if kind in self.last:
                last = max(last, self.last[kind].seq)
        return last

    @property
    def last_beyond(self) -> int:
        """Return the position of the last sign of a process past its start-up, -1 for none."""
        return max((self.last[kind].seq for kind in BEYOND_KINDS if kind in self.last), default=-1)

    @property
    def gave_up(self) -> bool:
        """Tell whether this voice's last attempt to reach the store has failed for good."""
        retry = self.last.get(Kind.STORE_RETRY)
        if retry is not None:
            return retry.fields.get("what") == "timed out"
        return self.has(Kind.CONNECT_TIMEOUT, Kind.CONNECT_FAILED_ALL)

    def has(self, *kinds: Kind) -> bool:
        """Tell whether any of the kinds was observed."""
        return any(kind in self.first for kind in kinds)
