"""The table of read-only probes, and what a caller asks about. A new probe is a new row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from bot.hosts import readings
from bot.hosts.model import Probe, Row, Slot
from bot.hosts.words import Address, HostName, Port, Proof

_SHORT = timedelta(seconds=3)
_LONG = timedelta(seconds=5)
_SHOW = "ActiveState,SubState,Result,NRestarts,ExecMainStatus,MainPID"

IDENTITY = Probe(
    name="identity",
    argv=("@identity", Slot.PROOF_KIND, Slot.PROOF),
    timeout=_SHORT,
    gate=True,
    parse=readings.identity,
    meaning="Another machine answers at this address where it differs; nothing else is asked.",
)
UNIT = Probe(
    name="resolver_unit",
    argv=("systemctl", "show", "systemd-resolved", "-p", _SHOW),
    timeout=_SHORT,
    parse=readings.unit,
    meaning="failed, inactive: names that go through the stub fail. active proves little.",
)
UNIT_STATUS = Probe(
    name="resolver_status",
    argv=("systemctl", "status", "systemd-resolved", "--no-pager", "--full", "--lines=20"),
    timeout=_SHORT,
    parse=readings.text,
    meaning="The unit as a person would look at it.",
)
# Newest first: with --since, systemd 252 counts -n from the oldest line on.
JOURNAL = Probe(
    name="resolver_journal",
    argv=(
        "journalctl", "-u", "systemd-resolved", "--since", "1 hour ago", "--no-pager",
        "-o", "short-unix", "--reverse", "-n", "300",
    ),
    timeout=_LONG,
    most_bytes=65536,
    parse=readings.journal,
    meaning="`Watchdog timeout`: it hung, and systemd restarted it by itself.",
)  # fmt: skip
RESOLVER_PROCESS = Probe(
    name="resolver_process",
    argv=("@process", "systemd-resolved"),
    timeout=_SHORT,
    parse=readings.processes,
    meaning="No line: it does not run. T: stopped. D: it waits for a disk.",
)
RESOLV_CONF = Probe(
    name="resolv_conf",
    argv=("@file", "/etc/resolv.conf"),
    timeout=_SHORT,
    parse=readings.resolv_conf,
    meaning="A plain file where peers have a link was overwritten.",
)
UPLINK_CONF = Probe(
    name="uplink_conf",
    argv=("@file", "/run/systemd/resolve/resolv.conf"),
    timeout=_SHORT,
    parse=readings.resolv_conf,
    meaning="The servers behind the stub, known even when the resolver does not answer.",
)
NSSWITCH = Probe(
    name="nsswitch",
    argv=("@file", "/etc/nsswitch.conf"),
    timeout=_SHORT,
    parse=readings.hosts_order,
    meaning="`resolve` in it: glibc asks systemd-resolved past resolv.conf while it runs.",
)
HOSTS_FILE = Probe(
    name="hosts_file",
    argv=("@file", "/etc/hosts"),
    timeout=_SHORT,
    parse=readings.file_text,
    meaning="A name in it never reaches DNS.",
)
RESOLVECTL = tuple(
    Probe(
        name=f"resolvectl_{word}",
        argv=("@resolvectl", word, "--no-pager"),
        timeout=_SHORT,
        parse=readings.text,
        meaning="What the resolver says of itself; no answer in time means that it hangs.",
    )
    for word in ("status", "dns", "domain", "statistics")
)
LOOKUPS = Probe(
    name="lookups",
    argv=("@lookups", Slot.NAMES),
    timeout=_LONG,
    # Both names of two thousand machines, an address each.
    most_bytes=524288,
    parse=readings.lookups,
    meaning="What a rank gets: 0 found, -3 nobody answered, -2 told that there is none.",
)
STUB = Probe(
    name="stub",
    argv=("@dns", "127.0.0.53", "localhost"),
    timeout=_SHORT,
    parse=readings.dns,
    meaning="The resolver answers `localhost` by itself: a time-out means that it hangs.",
)
UPLINKS = Probe(
    name="uplinks",
    argv=("@dns", "uplinks", Slot.NAMES),
    timeout=_LONG,
    parse=readings.dns,
    meaning="The servers behind the stub, asked past it: none reached means upstream is gone.",
)
DIRECT = Probe(
    name="direct",
    argv=("@dns", "resolv.conf", Slot.NAMES),
    timeout=_LONG,
    parse=readings.dns,
    meaning="Servers that resolv.conf names itself, past any stub.",
)
RENDEZVOUS = Probe(
    name="rendezvous",
    argv=("@tcp", Slot.ADDRESS, Slot.PORT),
    timeout=_SHORT,
    parse=readings.connect,
    meaning="refused: reachable, nobody listens. timeout: blocked, or the machine is gone.",
)
BOOT_ID = Probe(
    name="boot_id",
    argv=("@file", "/proc/sys/kernel/random/boot_id"),
    timeout=_SHORT,
    parse=readings.file_text,
    meaning="Changes with each boot.",
)
# A container has its host's boot id; when its own first process began tells its boots apart.
INIT = Probe(
    name="init",
    argv=("@file", "/proc/1/stat"),
    timeout=_SHORT,
    parse=readings.started_ticks,
    meaning="When process 1 began, in ticks since the kernel did.",
)
UPTIME = Probe(
    name="uptime",
    argv=("@file", "/proc/uptime"),
    timeout=_SHORT,
    parse=readings.uptime,
    meaning="Shorter than the job: the machine was booted meanwhile.",
)
MOUNTS = Probe(
    name="mounts",
    argv=("@file", "/proc/self/mountinfo"),
    timeout=_SHORT,
    most_bytes=131072,
    parse=readings.mounts,
    meaning="What a reboot has to bring back; remote ones are never touched.",
)
PROCESSES = Probe(
    name="processes",
    argv=("@processes",),
    timeout=_SHORT,
    parse=readings.processes,
    meaning="Who else would lose work.",
)
GPU_PROCESSES = Probe(
    name="gpu_processes",
    argv=(
        "nvidia-smi", "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader",
    ),
    timeout=_LONG,
    parse=readings.text,
    meaning="What computes now; no answer in time is a GPU or driver that hangs.",
)  # fmt: skip
CONTAINERS = Probe(
    name="containers",
    argv=("@containers", Slot.NAMES),
    timeout=_LONG,
    parse=readings.containers,
    meaning="A container has its own resolv.conf and libc: what its ranks get.",
)
DISK = Probe(
    name="disk",
    argv=("@disk",),
    timeout=_SHORT,
    parse=readings.disk,
    meaning="A full disk stops resolvers and logins.",
)

PROBES: tuple[Probe[Any], ...] = (
    IDENTITY, UNIT, UNIT_STATUS, JOURNAL, RESOLVER_PROCESS, RESOLV_CONF, UPLINK_CONF, NSSWITCH,
    HOSTS_FILE, *RESOLVECTL, LOOKUPS, STUB, UPLINKS, DIRECT, RENDEZVOUS, BOOT_ID, UPTIME, MOUNTS,
    PROCESSES, GPU_PROCESSES, CONTAINERS, DISK,
)  # fmt: skip

Table = tuple[Probe[Any], ...]
#: Which boot of a machine this is.
BOOT: Table = (IDENTITY, BOOT_ID, INIT)
#: Who resolves whom, before a job is started; the identity is always proven first.
PREFLIGHT: Table = (IDENTITY, LOOKUPS, STUB, UNIT)

ProofKind = Literal["product_uuid", "machine_id", "host_name"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is to be found out; every word in it is checked already."""

    #: as they stand in the log, short and full
    names: tuple[HostName, ...] = ()
    #: the rendezvous by address, where one is known
    address: Address | None = None
    port: Port | None = None


def rows(
    question: Question, kind: ProofKind, proof: Proof, table: Table = PROBES
) -> tuple[Row, ...]:
    """Return the table's rows with their words filled in; without a word, a row is left out."""
    words: Mapping[Slot, tuple[str, ...]] = {
        Slot.NAMES: question.names,
        Slot.ADDRESS: (question.address,) if question.address else (),
        Slot.PORT: (str(int(question.port)),) if question.port else (),
        Slot.PROOF_KIND: (kind,),
        Slot.PROOF: (proof,),
    }
    return tuple(
        Row(
            name=probe.name,
            argv=tuple(
                str(word)
                for part in probe.argv
                for word in (words[part] if isinstance(part, Slot) else (part,))
            ),
            timeout=probe.timeout,
            most_bytes=probe.most_bytes,
            gate=probe.gate,
        )
        for probe in table
        if all(words[part] for part in probe.argv if isinstance(part, Slot))
    )
