"""From a verdict to sentences: the summary and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.diagnosis.kinds import Cause, Severity
from bot.diagnosis.model import Affected, Verdict

SEVERITY: dict[Cause, Severity] = {
    Cause.HARMLESS_WARNING: "warning",
    Cause.NO_STARTUP_FAILURE: "none",
}

#: The only cause for which stopping and starting the VM can be what helps.
RESTART_MAY_HELP = frozenset({Cause.RESOLVER_FAILED})

_PEER_IS_NOT_SICK = "The host named in the lines is only the peer that was looked for."

#: What to do, in order, per cause; `{who}` and `{subject}` are filled in.
NEXT_STEPS: dict[Cause, tuple[str, ...]] = {
    Cause.RESOLVER_FAILED: (
        (
            "Check the state of {who} in the console or the API. In ERROR: no "
            "restart, a support ticket "
            "with the VM id and these lines."
        ),
        (
            "On {who}: `systemctl status systemd-resolved` and `journalctl -u "
            "systemd-resolved --since "
            '"1 hour ago"`; compare `getent ahosts {subject}` there and on a healthy VM of the job.'
        ),
        (
            "If the service has failed: `systemctl reset-failed systemd-resolved && "
            "systemctl restart "
            "systemd-resolved` costs nothing, and a job that still waits goes on by itself."
        ),
        (
            "Before any reboot or stop and start: save checkpoints and data to a "
            "persistent disk; local "
            "disks may be lost."
        ),
        "Run the job again: the warnings must be gone and NCCL must initialise.",
    ),
    Cause.DNS_OUTAGE: (
        "Do not restart VMs: everybody gets the same non-answer.",
        (
            "Check the name server: `resolvectl query {subject}` on two machines, "
            "and the server's own "
            "health."
        ),
        "To start meanwhile: give the master as an IP address, or put its name into /etc/hosts.",
    ),
    Cause.NAME_NOT_FOUND: (
        (
            "Check the master address in the launch command for a typing error or a placeholder: "
            "{subject}."
        ),
        (
            "`getent ahosts {subject}` on two machines: if both say no, the record "
            "is missing (or its "
            "service is not ready); with nss-resolve in nsswitch.conf an upstream "
            "outage says the same."
        ),
        (
            "A restart does not help: publish the record, use the full name or the "
            "IP address, or wait "
            "for the service."
        ),
    ),
    Cause.OWN_NAME_UNRESOLVABLE: (
        (
            "Add the machine's own name to its /etc/hosts (`127.0.0.1 <name>` for "
            "one machine), or pass "
            "`--master-addr 127.0.0.1` or `--local-addr <IP>`."
        ),
        "A restart does not help: {subject} is in no hosts file and no DNS.",
    ),
    Cause.PEER_UNREACHABLE: (
        (
            "From the machine that logs: `nc -vz <address> <port>` towards "
            "{subject}; refused means "
            "reachable, silence means blocked."
        ),
        (
            "Check firewall and security group rules, and that both sides use the same network "
            "interface."
        ),
        "Names resolve: a restart of the resolver or VM does not help.",
    ),
    Cause.PEER_NOT_LISTENING: (
        "Check that rank 0's process runs and listens where the others look: {subject}.",
        "Read rank 0's log first; it is late, dead, or was given another port.",
    ),
    Cause.PROCESS_FAILED_FIRST: (
        "Read the log of the rank that died first; fix that, the other errors follow from it.",
        "Nothing here speaks for a fault of the machine or the network.",
    ),
    Cause.PORT_IN_USE: (
        (
            "On the machine of rank 0: `ss -ltnp` shows which process holds the "
            "port; a former run often "
            "does."
        ),
        "End it, or choose another `--master-port`.",
    ),
    Cause.INTERFACE_MISCONFIGURED: (
        "Check NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME against `ip -br addr` on that machine.",
        "Check that the machine's own name resolves to an address that peers can reach.",
    ),
    Cause.RENDEZVOUS_TIMEOUT: (
        (
            "Find out what {who} did: the log does not say why it never joined. A "
            "hung resolver, a slow "
            "start and a process that never began look the same from here."
        ),
        "On it: is the process there, and does `getent ahosts <master>` answer at once?",
        "Do not restart a VM on this alone.",
    ),
    Cause.HARMLESS_WARNING: (
        "Nothing to do: the warnings did not stop the job.",
        "If the job did stop, paste what follows these lines.",
    ),
    Cause.NO_STARTUP_FAILURE: (
        (
            "Nothing of the kind in this log. If a job failed, paste the part around "
            "its first error, of "
            "the rank that failed."
        ),
    ),
}


#: So many machines are named in a sentence.
_MOST_NAMED = 6


def spelled(numbers: Sequence[int], most: int = 8) -> str:
    """Spell numbers as ranges: `4, 5`, `64-71`, `0-3, 8 and 12 more`."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in runs[:most]]
    left = sum(high - low + 1 for low, high in runs[most:])
    return ", ".join(shown) + (f" and {left} more" if left else "")


def who_is(affected: Iterable[Affected]) -> str:
    """Name machines and ranks for a sentence."""
    parts = []
    for one in affected:
        ranks = ""
        if one.ranks:
            ranks = ("rank " if len(one.ranks) == 1 else "ranks ") + spelled(one.ranks)
        elif one.node_rank is not None:
            ranks = f"node rank {one.node_rank}"
        if one.host and ranks:
            parts.append(f"{one.host} ({ranks})")
        elif one.host or ranks:
            parts.append(one.host or ranks)
    if not parts:
        return ""
    more = len(parts) - _MOST_NAMED
    return ", ".join(parts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


#: The first words of a summary; `{who}`, `{subject}` and `{of}` are filled in. The second form is
#: for a log that names nobody.
HEADS: dict[Cause, tuple[str, str]] = {
    Cause.RESOLVER_FAILED: (
        "Name resolution has failed on {who}",
        "Name resolution has failed on the machine that logs this",
    ),
    Cause.DNS_OUTAGE: ("The name service answers nobody",) * 2,
    Cause.NAME_NOT_FOUND: ("The name {subject} does not exist",) * 2,
    Cause.OWN_NAME_UNRESOLVABLE: (
        "{who} cannot look up its own name",
        "The machine cannot look up its own name",
    ),
    Cause.PEER_UNREACHABLE: ("{who} cannot reach {subject}", "Nobody gets through to {subject}"),
    Cause.PEER_NOT_LISTENING: ("Nothing listens at {subject}",) * 2,
    Cause.PROCESS_FAILED_FIRST: ("A process failed first on {who}", "A process failed first"),
    Cause.PORT_IN_USE: (
        "The port of the store is taken on {who}",
        "The port of the store is taken",
    ),
    Cause.INTERFACE_MISCONFIGURED: (
        "No usable network interface on {who}",
        "No usable network interface",
    ),
    Cause.RENDEZVOUS_TIMEOUT: ("{who} never joined{of}", "Somebody never joined{of}"),
    Cause.HARMLESS_WARNING: ("Harmless warnings",) * 2,
    Cause.NO_STARTUP_FAILURE: ("No start-up failure in this log",) * 2,
}
_SURE = {"high": "", "medium": " Probable, not certain.", "low": " This is a guess."}


def summary(verdict: Verdict, world_size: int | None) -> str:
    """Say in one or two sentences what happened, to whom, and why this is thought."""
    who = who_is(verdict.affected)
    named, unnamed = HEADS[verdict.cause]
    head = (named if who else unnamed).format(
        who=who,
        subject=verdict.subject,
        of=f" (of {world_size} ranks)" if world_size else "",
    )
    tail = f" {_PEER_IS_NOT_SICK}" if verdict.cause is Cause.RESOLVER_FAILED else ""
    return f"{head}: {verdict.why.rstrip('.')}.{tail}{_SURE[verdict.confidence]}"


def _machines(affected: Iterable[Affected]) -> str:
    """Name the machines alone, as far as they are named; else the ranks."""
    hosts = [one.host for one in affected if one.host]
    return ", ".join(hosts[:_MOST_NAMED]) if hosts else who_is(affected)


def next_steps(verdict: Verdict) -> tuple[str, ...]:
    """Return what to do, in order; what to paste to be surer comes last."""
    values = {
        "who": _machines(verdict.affected) or "the machine that logs this",
        "subject": verdict.subject or "<name>",
    }
    steps = tuple(step.format(**values) for step in NEXT_STEPS[verdict.cause])
    return (*steps, f"To be surer, add: {verdict.ask}.") if verdict.ask else steps
