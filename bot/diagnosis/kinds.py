"""The kinds of observation and the causes of a diagnosis."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Confidence = Literal["high", "medium", "low"]
Severity = Literal["failure", "warning", "none"]
#: How a machine is known: the log says it, the launch does, or it is a guess.
KnownFrom = Literal["log", "launch", "guess"]


class Kind(StrEnum):
    """What one recognised line says."""

    LOOKUP_FAILED = "lookup_failed"
    REVERSE_LOOKUP_FAILED = "reverse_lookup_failed"
    PY_LOOKUP_FAILED = "py_lookup_failed"
    OWN_NAME_FRAME = "own_name_frame"
    HOST_NOT_FOUND = "host_not_found"
    SSH_LOOKUP_FAILED = "ssh_lookup_failed"
    COMM_ID_LOOKUP_FAILED = "comm_id_lookup_failed"
    OTHER_LOOKUP_FAILED = "other_lookup_failed"
    CONNECT_FAILED = "connect_failed"
    CONNECT_FAILED_ALL = "connect_failed_all"
    CONNECT_TIMEOUT = "connect_timeout"
    SERVER_TIMEOUT = "server_timeout"
    NOT_LISTENING_YET = "not_listening_yet"
    NO_FAMILY = "no_family"
    STORE_RETRY = "store_retry"
    CONNECTED = "connected"
    STORE_REACHED = "store_reached"
    STORE_GONE = "store_gone"
    CLIENTS_JOINED = "clients_joined"
    KEYS_TIMEOUT = "keys_timeout"
    BARRIER_TIMEOUT = "barrier_timeout"
    LISTEN_FAILED = "listen_failed"
    BIND_FAILED = "bind_failed"
    RDZV_CONNECTION = "rdzv_connection"
    RDZV_TIMEOUT = "rdzv_timeout"
    RDZV_CLOSED = "rdzv_closed"
    RENDEZVOUS_DONE = "rendezvous_done"
    NODE_NAMED = "node_named"
    ELASTIC_AGENT = "elastic_agent"
    LAUNCH = "launch"
    HOSTNAME_ASKED = "hostname_asked"
    ROOT_CAUSE = "root_cause"
    TRACEBACK = "traceback"
    OWN_ERROR = "own_error"
    PROCESS_KILLED = "process_killed"
    NO_INTERFACE = "no_interface"
    OWN_ADDRESS_UNKNOWN = "own_address_unknown"
    MESH_FAILED = "mesh_failed"
    LOOPBACK_USED = "loopback_used"
    NCCL_CONNECT_FAILED = "nccl_connect_failed"
    NCCL_RETRYING = "nccl_retrying"
    NCCL_GAVE_UP = "nccl_gave_up"
    PEER_CLOSED = "peer_closed"
    TASK_ENDED = "task_ended"
    CANCELLED = "cancelled"
    SECTION = "section"
    NODES = "nodes"
    WORLD_SIZE = "world_size"
    NOT_A_LAUNCHER = "not_a_launcher"
    INIT_DONE = "init_done"
    PROGRESS = "progress"


class Cause(StrEnum):
    """What a log comes down to; the contract's list."""

    RESOLVER_FAILED = "resolver_failed"
    DNS_OUTAGE = "dns_outage"
    NAME_NOT_FOUND = "name_not_found"
    OWN_NAME_UNRESOLVABLE = "own_name_unresolvable"
    PEER_UNREACHABLE = "peer_unreachable"
    PEER_NOT_LISTENING = "peer_not_listening"
    PROCESS_FAILED_FIRST = "process_failed_first"
    PORT_IN_USE = "port_in_use"
    INTERFACE_MISCONFIGURED = "interface_misconfigured"
    RENDEZVOUS_TIMEOUT = "rendezvous_timeout"
    HARMLESS_WARNING = "harmless_warning"
    NO_STARTUP_FAILURE = "no_startup_failure"
