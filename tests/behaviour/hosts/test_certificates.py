"""Prove short-lived user certificates on a real sshd, made as SECURITY.md says."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.hosts import grants
from bot.hosts.model import Evidence, Rung
from bot.hosts.port import Target
from bot.hosts.probes import Question
from bot.hosts.repairs import Result, outcome
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.ssh.options import Jump
from bot.hosts.words import Address, Proof
from tests.behaviour.hosts.account import USER, account
from tests.behaviour.hosts.sshd import ALIAS, Sshd, is_root, running_sshd

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.needs("sshd", "ssh-keygen"),
    pytest.mark.skipif(not is_root(), reason="sshd logs in only for root"),
]

TARGET = Target(
    vm_id=ALIAS,
    name="this-machine",
    address=Address("127.0.0.1"),
    proof_kind="host_name",
    proof=Proof(socket.gethostname().split(".")[0]),
)


@dataclass(frozen=True, kw_only=True)
class Authority:
    """A key that signs others, known to an sshd that knows no other key of ours."""

    sshd: Sshd
    folder: Path

    def sign(self, *options: str) -> None:
        """Make a certificate beside our key with ssh-keygen."""
        _keygen("-s", str(self.folder / "ca"), "-I", "nccl-dns", *options, "id.pub", at=self.folder)

    async def probe(self) -> Evidence:
        """Probe the machine with a fresh login."""
        async with ssh_hosts(self.sshd.options) as hosts:
            return await hosts.probe(TARGET, Question())


def _keygen(*words: str, at: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", *words], cwd=at, check=True, timeout=20)


def _lines(folder: Path) -> tuple[str, str]:
    """Make an authority; return sshd's lines that trust what it signs, and no key by itself."""
    _keygen("-t", "ed25519", "-N", "", "-f", "ca", at=folder)
    return f"TrustedUserCAKeys {folder / 'ca.pub'}", "AuthorizedKeysFile none"


def _our_public_key(folder: Path) -> None:
    shutil.copy(folder / "authorized", folder / "id.pub")


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[Authority]:
    """Run an sshd that lets in whom the authority has signed."""
    with running_sshd(tmp_path, *_lines(tmp_path), keys=False) as sshd:
        _our_public_key(tmp_path)
        yield Authority(sshd=sshd, folder=tmp_path)


async def test_a_certificate_beside_the_key_lets_us_in(authority: Authority) -> None:
    """Signed for an hour and for this account, the key needs no line on the machine."""
    without = await authority.probe()
    authority.sign("-n", "root", "-V", "+1h", "-O", "clear")
    found = await authority.probe()

    assert without.failure == "access"
    assert found.failure is None, found.detail
    assert "ID nccl-dns" in authority.sshd.log


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-n", "root", "-V", "20200101:20200102"), "expired"),
        (("-n", "root", "-V", "20990101:20990102"), "not yet valid"),
        (("-n", "somebody-else", "-V", "+1h"), "not for root but for somebody-else"),
        (("-V", "+1h"), "not for root but for nobody by name"),
        (("-h", "-n", "root", "-V", "+1h"), "a host's certificate"),
    ],
)
async def test_a_certificate_that_does_not_fit_is_named(
    options: tuple[str, ...], words: str, authority: Authority
) -> None:
    """Whoever has to renew it reads which file and what is wrong with it."""
    authority.sign(*options)

    found = await authority.probe()

    assert found.failure == "access"
    assert f"{authority.folder / 'id-cert.pub'} is {words}" in found.detail


async def test_a_new_certificate_is_taken_without_a_restart(authority: Authority) -> None:
    """It is read for each login, so a job that renews it needs nobody to tell us."""
    authority.sign("-n", "root", "-V", "20200101:20200102")
    async with ssh_hosts(authority.sshd.options) as hosts:
        before = await hosts.probe(TARGET, Question())
        authority.sign("-n", "root", "-V", "+1h")
        after = await hosts.probe(TARGET, Question())

    assert before.failure == "access"
    assert after.failure is None, after.detail


async def test_a_jump_host_needs_one_permit_more(authority: Authority) -> None:
    """A certificate that is clear of every permit leads nowhere further, and that is named."""
    options = authority.sshd.options
    known = options.known_hosts
    assert known is not None
    text = known.read_text(encoding="utf-8")
    known.write_text(text + text.replace(ALIAS, "127.0.0.1"), encoding="utf-8")
    jump = Jump(host="127.0.0.1", user="root", port=options.port)
    through = Authority(
        sshd=replace(authority.sshd, options=replace(options, jumps=(jump,))),
        folder=authority.folder,
    )

    authority.sign("-n", "root", "-V", "+1h", "-O", "clear")
    without = await through.probe()
    authority.sign("-n", "root", "-V", "+1h", "-O", "clear", "-O", "permit-port-forwarding")
    found = await through.probe()

    assert without.failure == "route"
    assert "does not forward" in without.detail
    assert found.failure is None, found.detail


@pytest.mark.needs("sudo", "unshare", "setpriv")
async def test_the_repair_account_from_login_to_command(tmp_path: Path) -> None:
    """Certificate, sshd, sudo and helper together run a repair's commands, and no probe."""
    with (
        account(tmp_path, grants.REPAIRING) as repairer,
        running_sshd(tmp_path, *_lines(tmp_path), keys=False, inside=repairer.inside) as sshd,
    ):
        _our_public_key(tmp_path)
        Authority(sshd=sshd, folder=tmp_path).sign("-n", USER, "-V", "+1h", "-O", "clear")
        options = replace(sshd.options, user=USER, sudo=True, helper=grants.REPAIR_PATH)
        async with ssh_hosts(options) as hosts:
            told = await hosts.repair(TARGET, Rung.RESTART_RESOLVER)
            looked = await hosts.probe(TARGET, Question())

    assert outcome(Rung.RESTART_RESOLVER, told).result is Result.RAN, told
    assert repairer.ran == ["0 reset-failed systemd-resolved", "0 restart systemd-resolved"]
    assert {one.rc for name, one in looked.results.items() if name != "identity"} == {126}
