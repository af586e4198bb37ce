"""What has to be done on the machines and here before we can log in, as texts to run. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.hosts.grants import BACKING_UP, PROBING, REPAIRING, Grant, installed_helper, sudoers


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """An account of ours on the machines."""

    user: str
    grant: Grant
    #: the private key that logs in to it, as a shell here spells its path
    key: str

    @property
    def program(self) -> str:
        """Return the name of its helper, which is also that of its sudoers file."""
        return self.grant.path.rpartition("/")[2]


def probing(user: str, key: str) -> Account:
    """Return the account that looks."""
    return Account(user=user, grant=PROBING, key=key)


def repairing(user: str, key: str) -> Account:
    """Return the account that repairs."""
    return Account(user=user, grant=REPAIRING, key=key)


def backing_up(user: str, key: str) -> Account:
    """Return the account that backs up."""
    return Account(user=user, grant=BACKING_UP, key=key)


_INSTALL = """\
#!/bin/sh
# Run as root on each machine, in an image, or from configuration management:
#     sh install.sh {given}
# With - in place of a key only certificates let the account in (`nccl-dns init --print keys`).
# It may be run again; it changes nothing else. To take it back:
#     userdel {users}
#     rm {paths}
set -eu
umask 022
[ "$(id -u)" = 0 ] || {{ echo "Run this as root." >&2; exit 1; }}
[ $# = {count} ] || {{ echo "Give the public keys: sh install.sh {given}" >&2; exit 2; }}
command -v visudo >/dev/null || {{ echo "Install sudo first." >&2; exit 1; }}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

account() {{
    [ "$2" = - ] || [ -s "$2" ] || {{ echo "$2 is no public key." >&2; exit 2; }}
    id "$1" >/dev/null 2>&1 ||
        useradd --system --no-create-home --home-dir "/var/lib/$1" --shell /bin/sh \\
            --password '*' "$1"
    # Root owns the home, so that the account cannot let anybody else in.
    install -d -o root -g root -m 0755 "/var/lib/$1" "/var/lib/$1/.ssh"
    : >"$new/authorized_keys"
    [ "$2" = - ] || printf 'restrict %s\\n' "$(cat "$2")" >"$new/authorized_keys"
    install -o root -g root -m 0644 "$new/authorized_keys" "/var/lib/$1/.ssh/authorized_keys"
}}

grant() {{
    visudo -cqf "$new/$1.sudoers"
    install -d -o root -g root -m 0755 {folder}
    install -o root -g root -m 0755 "$new/$1" "{folder}/$1"
    install -o root -g root -m 0440 "$new/$1.sudoers" "/etc/sudoers.d/$1"
}}
"""

_ONE = """
cat >"$new/{program}" <<'END OF {program}'
{helper}END OF {program}
cat >"$new/{program}.sudoers" <<'END OF {program}'
{sudoers}END OF {program}
account {user} "${number}"
grant {program}
"""


def install(accounts: tuple[Account, ...]) -> str:
    """Return the script that root runs on each machine; raises UnsafeWordError for a bad account.

    Its arguments are the accounts' public keys, in order.
    """
    paths = [path for one in accounts for path in (one.grant.path, f"/etc/sudoers.d/{one.program}")]
    head = _INSTALL.format(
        given=" ".join(f"{one.key.rpartition('/')[2]}.pub" for one in accounts),
        paths=" ".join(paths),
        users="; userdel ".join(one.user for one in accounts),
        count=len(accounts),
        folder=PROBING.path.rpartition("/")[0],
    )
    parts = (
        _ONE.format(
            program=one.program,
            helper=installed_helper(one.grant),
            sudoers=sudoers(one.user, one.grant),
            user=one.user,
            number=number,
        )
        for number, one in enumerate(accounts, 1)
    )
    return head + "".join(parts)


_MAKE_KEY = "ssh-keygen -t ed25519 -N '' -C {user} -f {key}\n"
_SIGN = "ssh-keygen -s CA -I {user} -n {user} -O clear -V +1h {key}.pub\n"


def keys(accounts: tuple[Account, ...], folder: str) -> str:
    """Return the commands that make the keys, and those for certificates that end by themselves."""
    return (
        "# On this machine, as the account that nccl-dns runs as:\n"
        f"mkdir -p -m 700 {folder}\n"
        + "".join(_MAKE_KEY.format(user=one.user, key=one.key) for one in accounts)
        + "\n"
        "# Better than a key that holds for ever: a certificate that ends within the hour, made\n"
        "# from a timer where the authority's key (CA) is kept, which is not this machine.\n"
        "# Through a jump host add -O permit-port-forwarding:\n"
        + "".join("# " + _SIGN.format(user=one.user, key=one.key) for one in accounts)
        + "# The …-cert.pub beside a key is used with it. The machines then trust the authority\n"
        "# instead of the key, in sshd_config:\n"
        "# TrustedUserCAKeys /etc/ssh/nccl-dns-ca.pub\n"
    )


def known_hosts(file: str, *, by_id: bool) -> str:
    """Return how host keys are collected over a path that is trusted already.

    `by_id`: the first column is the VM's id, which moves with the machine as no address does; else
    the node's name.
    """
    who = "$(tr A-F a-f </sys/class/dmi/id/product_uuid)" if by_id else "$(hostname -s)"
    what = "its VM id, which is its SMBIOS UUID" if by_id else "its name"
    line = f"""printf '%s %s\\n' "{who}" "$(cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub)\""""
    return (
        f"# Each machine prints its line for {file}:\n"
        f"# {what}, and its host key. Run this as root over a path that you trust already\n"
        "# (configuration management, an image, the serial console, an SSH session whose host key\n"
        "# was checked), and put the lines together:\n"
        f"{line}\n"
        "\n"
        "# Jump hosts and login nodes stand there by the name that the settings use for them:\n"
        "# ssh-keyscan -t ed25519 NAME    shows a key and proves nothing: compare it there with\n"
        "# ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub\n"
        "\n"
        "# With a host authority one line stands for all machines:\n"
        "# @cert-authority * ssh-ed25519 AAAA…\n"
    )
