"""What a failed login means, which only a peer on the same way can tell. Pure."""

from __future__ import annotations

from bot.hosts.meanings import meant
from bot.hosts.model import Evidence, Finding, Judgement, LoginFailure

#: How a failure reads once a peer has shown that the way there works.
_PROVEN = {
    LoginFailure.SILENT: Finding.HOST_SILENT,
    LoginFailure.HANGS: Finding.LOGIN_HANGS,
}


def judge(vm: Evidence, peer: Evidence | None) -> Judgement:
    """Return what a failed login comes to.

    A refusal is our own fault whatever a peer says. Silence means nothing by itself: with a peer
    that is let in it is the machine's, with one that fails too it is the way there.
    """
    if vm.failure is LoginFailure.ACCESS:
        return _one(Finding.NO_ACCESS, vm.detail)
    if vm.failure is LoginFailure.ROUTE:
        return _one(Finding.NO_ROUTE, vm.detail, fleet_wide=True)
    if vm.failure is None:
        return Judgement(found=(), untold=f"{vm.name} let us in.")
    if peer is None:
        return _unproven(f"{vm.detail} No peer was asked by the same way, so this proves nothing.")
    if peer.failure in {None, LoginFailure.ACCESS}:
        reached = "let us in" if peer.failure is None else "answered"
        why = f"{vm.detail} {peer.name} {reached} by the same way."
        return _one(_PROVEN[vm.failure], why)
    why = f"{vm.detail} {peer.name} fails by the same way, too."
    return _one(Finding.NO_ROUTE, why, fleet_wide=True)


def _one(finding: Finding, why: str, *, fleet_wide: bool = False) -> Judgement:
    return Judgement(found=(meant(finding, why, fleet_wide=fleet_wide),))


def _unproven(why: str) -> Judgement:
    return Judgement(found=(), untold=why, amiss=True)
