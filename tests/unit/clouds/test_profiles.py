"""Prove how the key is found, in the order that Crusoe's own tools use."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.clouds.crusoe.endpoint import DEFAULT
from bot.clouds.crusoe.profiles import CONFIG, read_profile
from bot.clouds.errors import CloudSetupError

SECRET = "----ABEiM0RVZneImaq7zN3u_w"  # noqa: S105 - made up
OTHER = "uZFGf918DmiBUwBWv8lnEg"

FILE = f"""
profile = "work"

[default]
access_key_id = "DEFAULTKEY000001"
secret_key = "{SECRET}"

[work]
access_key_id = "WORKKEY000000002"
secret_key = "{OTHER}"
ssh_public_key_file = "~/.ssh/id_ed25519.pub"
api_endpoint = "https://api.crusoecloud.com/v1alpha5"
default_project = "training"

[half]
access_key_id = "HALFKEY000000003"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write a file as Crusoe's CLI does, below a home folder."""
    path = tmp_path / CONFIG
    path.parent.mkdir()
    path.write_text(FILE, encoding="utf-8")
    return path


def test_the_file_lies_where_crusoes_tools_put_it() -> None:
    """Below the home folder."""
    assert CONFIG.as_posix() == ".crusoe/config"


@pytest.mark.parametrize(
    ("asked", "environ", "key_id"),
    [
        (None, {}, "WORKKEY000000002"),
        (None, {"CRUSOE_PROFILE": "default"}, "DEFAULTKEY000001"),
        ("work", {"CRUSOE_PROFILE": "default"}, "WORKKEY000000002"),
        (None, {"CRUSOE_ACCESS_KEY_ID": "VARIABLE00000004"}, "VARIABLE00000004"),
    ],
)
def test_the_order_of_precedence(
    config: Path, asked: str | None, environ: dict[str, str], key_id: str
) -> None:
    """The profile asked for, CRUSOE_PROFILE, the file's `profile`; and variables over all."""
    found = read_profile(config, environ=environ, profile=asked)

    assert found.credentials.access_key_id == key_id


def test_without_a_stated_profile_it_is_the_default_one(config: Path) -> None:
    """A file of one profile need not name it."""
    config.write_text(FILE.replace('profile = "work"', ""), encoding="utf-8")

    found = read_profile(config, environ={})

    assert (found.name, found.credentials.secret_key) == ("default", SECRET)


def test_a_profile_carries_endpoint_and_project(config: Path) -> None:
    """A legacy address is moved to the present one."""
    found = read_profile(config, environ={})

    assert str(found.endpoint) == DEFAULT
    assert found.default_project == "training"


def test_variables_win_over_the_file(config: Path) -> None:
    """Each of the four, one by one."""
    environ = {
        "CRUSOE_ACCESS_KEY_ID": "VARIABLE00000004",
        "CRUSOE_SECRET_KEY": SECRET,
        "CRUSOE_API_ENDPOINT": "https://crusoe.example/v1",
        "CRUSOE_DEFAULT_PROJECT": "research",
    }

    found = read_profile(config, environ=environ)

    assert found.credentials.access_key_id == "VARIABLE00000004"
    assert found.credentials.secret_key == SECRET
    assert str(found.endpoint) == "https://crusoe.example/v1"
    assert found.default_project == "research"


def test_variables_alone_do(tmp_path: Path) -> None:
    """A container needs no file."""
    environ = {"CRUSOE_ACCESS_KEY_ID": "VARIABLE00000004", "CRUSOE_SECRET_KEY": SECRET}

    found = read_profile(tmp_path / "none", environ=environ)

    assert found.credentials.access_key_id == "VARIABLE00000004"
    assert str(found.endpoint) == DEFAULT


@pytest.mark.parametrize(
    ("text", "profile", "words"),
    [
        (FILE, "wrok", r"no profile 'wrok'\. It has: default, half, work"),
        (FILE, "half", "secret_key is neither in profile 'half'.*CRUSOE_SECRET_KEY"),
        ("", None, "no Crusoe API key: access_key_id"),
        ("[default]\naccess_key_id = 7\n", None, "access_key_id in profile 'default'.*quoted text"),
        (f'[default]\nsecret_key = "{SECRET}\n', None, r"not valid TOML \(at line 2"),
    ],
)
def test_what_is_wrong_is_said(config: Path, text: str, profile: str | None, words: str) -> None:
    """The error names file, profile and key, and what to put there."""
    config.write_text(text, encoding="utf-8")

    with pytest.raises(CloudSetupError, match=words) as caught:
        read_profile(config, environ={}, profile=profile)

    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_file_that_cannot_be_read_is_named(config: Path) -> None:
    """A folder or bytes that are no text in its place are not taken for an absent file."""
    config.write_bytes(b"\xff\xfe")
    with pytest.raises(CloudSetupError, match="not UTF-8"):
        read_profile(config, environ={})
    with pytest.raises(CloudSetupError, match="cannot be read"):
        read_profile(config.parent, environ={})


@pytest.mark.parametrize("secret", ["not+base64/url==", "ABCDE", "has space in it"])
def test_a_secret_that_cannot_be_used_is_not_shown(config: Path, secret: str) -> None:
    """The key is named by its end, its secret not at all."""
    config.write_text(
        f'[default]\naccess_key_id = "DEFAULTKEY000001"\nsecret_key = "{secret}"\n',
        encoding="utf-8",
    )

    with pytest.raises(CloudSetupError, match=r"key …0001 cannot be used") as caught:
        read_profile(config, environ={})

    assert secret not in str(caught.value)


@pytest.mark.parametrize("key_id", ["two words", "with:colon", "line\nend"])
def test_a_key_id_that_cannot_stand_in_a_header(tmp_path: Path, key_id: str) -> None:
    """It is refused before a request could be malformed by it."""
    environ = {"CRUSOE_ACCESS_KEY_ID": key_id, "CRUSOE_SECRET_KEY": SECRET}

    with pytest.raises(CloudSetupError, match="access key id"):
        read_profile(tmp_path / "none", environ=environ)
