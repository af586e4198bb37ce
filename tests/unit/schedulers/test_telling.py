"""Prove what is read of Slurm's own words about itself, for all versions."""

from __future__ import annotations

import pytest

from bot.schedulers.slurm import telling

ON = {"AccountingStorageType": "accounting_storage/slurmdbd", "SlurmUser": "slurm(64030)"}
OFF = {"AccountingStorageType": "accounting_storage/none", "SlurmUser": "slurm(64030)"}


@pytest.mark.parametrize(
    ("config", "user", "level", "may", "words"),
    [
        (OFF, "root", "", True, "root is root"),
        (OFF, "slurm", "", True, "slurm is SlurmUser"),
        (OFF, "bot", "", False, "admin levels need accounting"),
        (ON, "bot", "Operator", True, "admin level Operator"),
        (ON, "bot", "Administrator", True, "admin level Administrator"),
        (ON, "bot", "None", False, "admin level None"),
        (ON, "bot", "", None, "did not tell the admin level"),
        (ON, "", "", None, "which user we are"),
    ],
)
def test_who_may_drain(
    config: dict[str, str],
    user: str,
    level: str,
    may: bool | None,  # noqa: FBT001
    words: str,
) -> None:
    """Not told is neither yes nor no."""
    told, why = telling.rights_of(config, user, level)

    assert told is may
    assert words in why


@pytest.mark.parametrize("kind", ["(null)", "accounting_storage/none", ""])
def test_no_accounting_has_several_spellings(kind: str) -> None:
    """Slurm prints the plugin's name, or its word for nothing."""
    assert not telling.accounted({"AccountingStorageType": kind})
    assert telling.accounted(ON)


def test_every_controller_is_named_once() -> None:
    """A backup, too; the address in brackets is not part of the name."""
    config = {
        "SlurmctldHost[0]": "ctl-a(10.0.0.1)", "SlurmctldHost[1]": "ctl-b", "MinJobAge": "300 sec",
        "SLURM_VERSION": "23.11.4", **ON,
    }  # fmt: skip

    told = telling.of_config("login node", config, "bot", "Operator")

    assert told.controllers == ("ctl-a", "ctl-b")
    assert told.version == "23.11.4"
    assert told.forgets_after is not None
    assert told.forgets_after.total_seconds() == 300


@pytest.mark.parametrize(
    ("body", "release", "up"),
    [
        ({"meta": {"Slurm": {"release": "22.05.8"}}, "pings": [{"ping": "UP"}]}, "22.05.8", True),
        ({"meta": {"slurm": {"release": "23.11.4"}}, "pings": [{"pinged": "UP"}]}, "23.11.4", True),
        (
            {
                "meta": {"slurm": {"release": "24.11.0"}},
                "pings": [{"pinged": "DOWN", "responding": False}, {"responding": True}],
            },
            "24.11.0",
            True,
        ),
        ({"pings": [{"ping": "DOWN"}]}, "", False),
        ({"pings": "none", "meta": []}, "", False),
    ],
)
def test_a_ping_in_each_version(body: dict[str, object], release: str, up: bool) -> None:  # noqa: FBT001
    """One controller that answers is enough."""
    assert telling.release(body) == release
    assert telling.is_up(body) is up
