"""The image's recipe and the services beside it keep the rules of containers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.behaviour.shipping.recipes import ROOT, instructions, last_stage, services

HADOLINT = Path(sys.executable).with_name("hadolint")


@pytest.fixture(name="services")
def services_fixture() -> dict[str, Any]:
    """Return the services of compose.yaml."""
    return services()


def test_the_linter_has_nothing_to_say() -> None:
    """Hadolint finds nothing, and does find something in a bad recipe."""
    good = subprocess.run(
        [HADOLINT, ROOT / "Dockerfile"], capture_output=True, check=False, text=True
    )
    assert (good.returncode, good.stdout) == (0, "")
    bad = subprocess.run(
        [HADOLINT, "-"], input="FROM debian\nRUN apt install x\n", check=False, text=True
    )
    assert bad.returncode


def test_it_runs_as_nobody_in_particular() -> None:
    """What is shipped names a user that is not root, a health check, and `nccl-dns serve`."""
    told = last_stage()
    user = told["USER"].split(":")[0]
    assert user.isdigit()
    assert int(user) >= 10_000
    assert told["CMD"] == '["nccl-dns", "serve"]'
    assert "nccl-dns" in told["HEALTHCHECK"]
    assert told["VOLUME"] == "/var/lib/nccl-dns"
    assert not re.search(r"\bpip\b", told["RUN"])


def test_everything_is_pinned() -> None:
    """Images have exact versions, and whatever pip installs from the index has a hash."""
    for word, rest in instructions():
        if word == "FROM":
            assert re.search(r":\d+\.\d+\.\d+", rest)
        for install in re.findall(r"/pip\b[^&]*", rest):
            assert "--require-hashes" in install or "/build/dist/" in install


def test_what_the_recipe_copies_is_let_in() -> None:
    """Everything that is copied exists, and the ignore list lets it in."""
    let_in = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    for word, rest in instructions():
        if word != "COPY" or rest.startswith("--from"):
            continue
        for name in rest.split()[:-1]:
            assert (ROOT / name).exists()
            assert name in let_in


def test_services_have_no_more_than_they_need(services: dict[str, Any]) -> None:
    """Read-only roots, no capabilities but named ones, and no new privileges."""
    for one in services.values():
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
    assert "cap_add" not in services["bot"]
    assert services["bot"]["depends_on"]["store"]["condition"] == "service_healthy"


def test_secrets_are_files(services: dict[str, Any]) -> None:
    """No secret stands in an environment variable: each is a file that is named by one."""
    for one in services.values():
        for name, value in one["environment"].items():
            if re.search("TOKEN|PASSWORD|SECRET|URL", name):
                assert name.endswith("_FILE")
                assert value.removeprefix("/run/secrets/") in one["secrets"]
    for port in services["bot"]["ports"]:
        assert port.startswith("127.0.0.1:")


def test_the_readme_makes_what_they_mount(services: dict[str, Any]) -> None:
    """Whoever follows the README has every file and folder that is mounted from beside it."""
    commands = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .partition("### Run it")[2]
        .partition("\n## ")[0]
    )
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    paths = [one["file"] for one in compose["secrets"].values()]
    paths += [one.split(":")[0] for one in services["bot"]["volumes"] if one.startswith("./")]
    assert len(paths) > 1
    for path in paths:
        assert path.removeprefix("./") in commands


def test_its_variables_are_settings(services: dict[str, Any]) -> None:
    """Every NCCL_DNS_… variable that recipe and services set is one that the settings know."""
    from bot.settings import Settings

    named = set(services["bot"]["environment"])
    named |= {one for _, rest in instructions() for one in re.findall(r"(NCCL_DNS_\w+)=", rest)}
    assert named
    for name in named:
        model: Any = Settings
        for part in name.removeprefix("NCCL_DNS_").lower().split("__"):
            fields = model.model_fields
            assert part in fields, name
            kinds = [fields[part].annotation, *getattr(fields[part].annotation, "__args__", ())]
            model = next((one for one in kinds if hasattr(one, "model_fields")), model)
