"""A host is exactly one VM, or a person is told why not."""

from __future__ import annotations

import pytest

from bot.errors import MatchError
from bot.fleet.vms import Host, Vm, match, match_all

ID_A = "3f0c1f9e-4c1b-4a55-9d0a-0a1b2c3d4e5f"
ID_B = "8d2e6a10-77aa-4f0e-8c11-112233445566"
ID_C = "c0ffee00-1234-4abc-9def-001122334455"
A = Vm(id=ID_A, name="node-1", private_ips=("10.0.0.11",))
B = Vm(id=ID_B, name="node-2", private_ips=("10.0.0.12", "fd00::12"))
NAMESAKE = Vm(id=ID_C, name="Node-1.other", private_ips=("10.9.0.11",))
VMS = [A, B]


@pytest.mark.parametrize(
    ("host", "vm", "by"),
    [
        (Host(name="node-1"), A, ("name",)),
        (Host(name="NODE-1.cluster.example.com"), A, ("name",)),
        (Host(name="node-1", address="10.0.0.11"), A, ("name", "address")),
        (Host(name="10.0.0.12"), B, ("address",)),
        (Host(name="fd00:0::12"), B, ("address",)),
        (Host(name="k8s-7", provider_id=f"crusoe://{ID_B}"), B, ("providerID",)),
        (Host(name="k8s-7", provider_id=f"crusoe:///zone-a/{ID_B}"), B, ("providerID",)),
        (Host(name="node-2", uuid=ID_B.upper()), B, ("uuid", "name")),
        (
            Host(name="node-2", uuid=ID_B, provider_id=f"crusoe://{ID_B}"),
            B,
            ("uuid", "providerID", "name"),
        ),
    ],
)
def test_each_way_to_know_a_vm(host: Host, vm: Vm, by: tuple[str, ...]) -> None:
    """Name up to the first dot, address, providerID and SMBIOS UUID, and what bore it out."""
    found = match(host, VMS)

    assert found.vm is vm
    assert found.by == by


def test_two_vms_of_one_name_are_never_picked_from() -> None:
    """The message names both and says what settles it."""
    with pytest.raises(MatchError) as error:
        match(Host(name="node-1", address="10.0.0.11"), [A, B, NAMESAKE])

    assert ID_A in str(error.value)
    assert ID_C in str(error.value)
    assert "none is picked" in str(error.value)


def test_the_uuid_settles_two_of_one_name() -> None:
    """What the guest itself reports is the one VM."""
    assert match(Host(name="node-1", uuid=ID_C), [A, B, NAMESAKE]).vm is NAMESAKE


def test_one_vm_listed_twice_is_one() -> None:
    """Two pages of a list may overlap."""
    assert match(Host(name="node-1"), [A, B, A]).vm is A


@pytest.mark.parametrize(
    ("host", "message"),
    [
        (Host(name="node-9"), "No VM has the name node-9"),
        (Host(name="10.0.0.99"), "No VM has the address"),
        (Host(name="node-1", uuid=ID_C), "No VM has the uuid"),
        (Host(name="node-1", provider_id="crusoe://gone"), "No VM has the providerID"),
    ],
)
def test_no_vm_is_an_error_with_a_way_out(host: Host, message: str) -> None:
    """A host outside the watched projects is said, and a name never stands in for a failed ID."""
    with pytest.raises(MatchError, match=message):
        match(host, VMS)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        (Host(name="node-1", uuid=ID_A, provider_id=f"crusoe://{ID_B}"), "by its providerID"),
        (Host(name="node-1", uuid=ID_B), "bears its name"),
        (Host(name="node-1", address="10.0.0.12"), "namesake"),
    ],
)
def test_contradictions_are_errors(host: Host, message: str) -> None:
    """Two identities that point to different VMs stop everything until somebody has looked."""
    with pytest.raises(MatchError, match=message):
        match(host, VMS)


def test_a_list_of_hosts_gives_matches_and_errors() -> None:
    """One bad host does not hide the others."""
    matches = match_all([Host(name="node-1"), Host(name="node-9")], VMS)

    assert matches.found["node-1"].vm is A
    assert list(matches.errors) == ["node-9"]


def test_two_hosts_are_never_one_vm() -> None:
    """Hosts of different names that come out as one VM are both in doubt."""
    hosts = [Host(name="node-2"), Host(name="k8s-7", uuid=ID_B), Host(name="10.0.0.11")]

    matches = match_all(hosts, VMS)

    assert matches.errors.keys() == {"node-2", "k8s-7"}
    assert "k8s-7 and node-2 come out as one VM" in matches.errors["node-2"]
    assert matches.found.keys() == {"10.0.0.11"}
