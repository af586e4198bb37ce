"""The conditions of the ladder's rungs: each answers with a reason against, or with nothing."""

from __future__ import annotations

from datetime import timedelta

from bot.clouds.model import VmState
from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.meanings import MEANINGS, NO_LOGIN
from bot.hosts.model import Finding, Rung
from bot.recovery.facts import MAY_GO, Facts, Limits, Tried

#: Causes that no step on a VM mends: harmless, a name, a port, a process.
NOT_THE_VM = frozenset(
    {
        Cause.HARMLESS_WARNING,
        Cause.NO_STARTUP_FAILURE,
        Cause.NAME_NOT_FOUND,
        Cause.OWN_NAME_UNRESOLVABLE,
        Cause.PORT_IN_USE,
        Cause.PEER_NOT_LISTENING,
        Cause.INTERFACE_MISCONFIGURED,
        Cause.PROCESS_FAILED_FIRST,
    }
)
HARMLESS = frozenset({Cause.HARMLESS_WARNING, Cause.NO_STARTUP_FAILURE})


def _helped_by(facts: Facts, rung: Rung) -> frozenset[Finding]:
    """Return the findings about this VM, and not about all, that a rung can help against."""
    own = facts.findings - facts.fleet_wide
    return frozenset(finding for finding in own if rung in MEANINGS[finding].helps)


def _already(facts: Facts, rung: Rung) -> str:
    """Say that a rung was tried, unless a person asks for it again."""
    if facts.asked_for.get(rung):
        return ""
    if facts.tried.get(rung) is Tried.FAILED:
        return "It was tried in this incident and did not help."
    if facts.tried.get(rung) is Tried.IMPOSSIBLE:
        return "It could not be carried out when it was tried."
    return ""


def _no_help(facts: Facts, rung: Rung) -> str:
    if _helped_by(facts, rung):
        return ""
    if any(rung in MEANINGS[finding].helps for finding in facts.fleet_wide):
        return "A peer fails the same way, so the fault is not this VM's."
    known = [MEANINGS[finding].advice for finding in sorted(facts.findings)]
    return known[0] if known else "No probe has found anything on this VM that it would mend."


def nothing_to_repair(facts: Facts, _limits: Limits) -> str:
    """Fit rung 0 to what no step on the VM mends: harmless, a name, a port, a process."""
    everywhere = facts.findings and facts.findings <= facts.fleet_wide
    if facts.cause in NOT_THE_VM or everywhere or _helped_by(facts, Rung.NOTHING):
        return ""
    return "The cause may be one that a step on this VM mends."


def resolver_is_down(facts: Facts, _limits: Limits) -> str:
    """Fit rung 1 when a probe says that the resolver has failed or hangs."""
    return _no_help(facts, Rung.RESTART_RESOLVER) or _already(facts, Rung.RESTART_RESOLVER)


def restart_did_not_help(facts: Facts, _limits: Limits) -> str:
    """Fit rung 2 when rung 1 failed or was impossible, and the finding still stands."""
    against = _no_help(facts, Rung.REBOOT) or _already(facts, Rung.REBOOT)
    if against:
        return against
    if facts.tried.get(Rung.RESTART_RESOLVER) in {Tried.FAILED, Tried.IMPOSSIBLE}:
        return ""
    return "Restarting the resolver comes first: it loses nothing, and it has not been tried."


def host_is_silent(facts: Facts, _limits: Limits) -> str:
    """Fit rung 3 to a host proven silent; one whose login hangs only by explicit choice."""
    against = _no_help(facts, Rung.RESET) or _already(facts, Rung.RESET)
    if against:
        return against
    if Finding.HOST_SILENT in facts.findings:
        if facts.peer_answers:
            return ""
        return "The VM's silence means nothing until a peer has answered on the same route."
    if facts.asked_for.get(Rung.RESET):
        return ""
    return "The VM still answers connections: a reset needs somebody to choose it explicitly."


def rest_failed_or_asked(facts: Facts, _limits: Limits) -> str:
    """Fit rung 4 when rungs 1 to 3 failed, or when a person asked for it and said why."""
    if facts.asked_for.get(Rung.STOP_START):
        return ""
    against = _no_help(facts, Rung.STOP_START) or _already(facts, Rung.STOP_START)
    if against:
        return against
    lesser = (Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.RESET)
    if any(facts.tried.get(rung) is Tried.FAILED for rung in lesser):
        return ""
    return "No lesser step has been tried, and nobody has asked for this one with a reason."


def beyond_us(facts: Facts, _limits: Limits) -> str:
    """Fit rung 5 to a VM in ERROR, a cause upstream or in the host, and a rung 4 that failed."""
    upstream = Finding.UPSTREAM_UNREACHABLE in facts.findings
    failed = facts.tried.get(Rung.STOP_START) in {Tried.FAILED, Tried.IMPOSSIBLE}
    if facts.in_error or upstream or facts.host_level or failed:
        return ""
    return "Nothing points beyond the VM: no ERROR, no upstream or host fault, no failed stop."


def vm_in_error(facts: Facts, _limits: Limits) -> str:
    """Fit stop for support to a VM in ERROR alone."""
    return "" if facts.in_error else "The VM is not in ERROR."


def vm_stopped(facts: Facts, _limits: Limits) -> str:
    """Fit start to a stopped VM."""
    return "" if facts.condition is VmState.STOPPED else "The VM is not stopped."


def not_in_error(facts: Facts, _limits: Limits) -> str:
    """Do nothing in ERROR but stop for support."""
    if not facts.in_error:
        return ""
    return "The VM is in ERROR: nothing is done to it but stopping it for support."


def guest_runs(facts: Facts, _limits: Limits) -> str:
    """Ask for a guest that runs and lets us in, for a step inside it."""
    if facts.condition not in {None, VmState.RUNNING}:
        return f"The VM is {facts.state}, so nothing can be done inside it."
    if facts.findings & NO_LOGIN:
        return "There is no way into the VM over SSH."
    return ""


def cloud_says_running(facts: Facts, _limits: Limits) -> str:
    """Ask for a cloud, and for a VM that is not between two states, for a lifecycle call."""
    if facts.state is None:
        return "No cloud is configured, so there is no API to ask."
    if facts.condition is VmState.RUNNING:
        return ""
    if facts.condition is VmState.DELETED:
        return f"The VM is {facts.state}: there is nothing left to act on."
    return f"The VM is {facts.state}; wait until the cloud reports it as running."


def _stale(age: timedelta | None, limits: Limits) -> bool:
    return age is None or age > limits.reading


def fresh_finding(facts: Facts, limits: Limits) -> str:
    """Ask for a new finding: what was true ten minutes ago may have mended itself."""
    if not _stale(facts.findings_age, limits):
        return ""
    return "The last probe is too old; probe again first."


def fresh_state(facts: Facts, limits: Limits) -> str:
    """Ask for a state that was read just now, where there is a cloud to read it from."""
    if facts.state is None or not _stale(facts.state_age, limits):
        return ""
    return "The VM's state was read too long ago; read it again first."


def fresh_or_asked(facts: Facts, limits: Limits) -> str:
    """Rest rung 4 on a new finding, or on the recorded reason of who asked for it."""
    return "" if facts.asked_for.get(Rung.STOP_START) else fresh_finding(facts, limits)


def data_may_go(facts: Facts, _limits: Limits) -> str:
    """Ask who decided about local NVMe, which is lost."""
    if facts.data in MAY_GO:
        return ""
    return (
        f"The data on the VM is {facts.data}: back it up and verify that, "
        "or record that there is nothing to keep."
    )


def ticket_entered(facts: Facts, _limits: Limits) -> str:
    """Ask for the ticket: support must know about a VM that is stopped for it."""
    return "" if facts.ticket else "Enter the number of the support ticket first."


def name_typed(facts: Facts, _limits: Limits) -> str:
    """Ask who stops a VM in ERROR to type its name."""
    return "" if facts.typed_name == facts.vm else f"Type the VM's name, {facts.vm}, to confirm."


def out_of_error(facts: Facts, limits: Limits) -> str:
    """Ask for two good reads after ERROR: states flicker."""
    if not facts.was_in_error:
        return ""
    reads = sorted(facts.reads_outside_error)
    if len(reads) > 1 and reads[-1] - reads[0] >= limits.error_reads:
        return ""
    seconds = int(limits.error_reads.total_seconds())
    return f"The VM was in ERROR: two reads outside it, {seconds} s apart, are needed."


def support_spoke(facts: Facts, _limits: Limits) -> str:
    """Leave it to support to confirm the host after ERROR, or to an approver to go on without."""
    if not facts.was_in_error or facts.support_confirmed or facts.proceed_without:
        return ""
    return (
        "Record that support confirmed the host healthy, or let an approver decide to go on "
        "without."
    )


def within_reach(facts: Facts, _limits: Limits) -> str:
    """Never touch what settings do not name, or protect."""
    return facts.untouchable


def not_held(facts: Facts, _limits: Limits) -> str:
    """Leave a node alone that somebody else drained, reserved or wants rebooted, and quote them."""
    return f"Somebody else has taken the node: “{facts.held}”." if facts.held else ""


def not_harmless(facts: Facts, _limits: Limits) -> str:
    """Give a harmless failure no restart, only the reason why not."""
    if facts.cause not in HARMLESS:
        return ""
    return "The warnings did no harm; a restart would destroy a healthy job."


def no_progress(facts: Facts, _limits: Limits) -> str:
    """See in any progress since that there is no failure."""
    return "The job has gone on since: there is nothing to repair." if facts.progress_since else ""


def not_a_mere_claim(facts: Facts, _limits: Limits) -> str:
    """Rest no step on a paste alone, a start neither."""
    if facts.from_paste_alone:
        return "Only pasted text names this VM: the scheduler has to confirm the job first."
    return ""


def placed_for_sure(facts: Facts, _limits: Limits) -> str:
    """Rest no step on a guess."""
    if facts.placement is Known.GUESS and not facts.picked_by:
        return "That the rank runs on this VM is a guess: a person has to pick the VM."
    return ""


def nobody_else_there(facts: Facts, _limits: Limits) -> str:
    """Spare what else runs on the VM, unless a person names it as of no account."""
    left = sorted(facts.others - facts.others_accepted)
    if not left:
        return ""
    return f"Also on the VM: {', '.join(left)}. Somebody has to name them as dispensable."


def reason_for(rung: Rung, facts: Facts) -> str:
    """Say why a rung is offered."""
    if reason := facts.asked_for.get(rung):
        return f"Asked for: {reason}"
    helped = sorted(_helped_by(facts, rung))
    if helped:
        return MEANINGS[helped[0]].advice
    return _OTHERWISE[rung]


_OTHERWISE = {
    Rung.NOTHING: "No step on this VM mends the cause.",
    Rung.SUPPORT: "The VM is in ERROR, or the fault lies beyond it.",
    Rung.STOP_FOR_SUPPORT: "The VM is in ERROR and support is at work on it.",
    Rung.START: "The VM is stopped.",
}
