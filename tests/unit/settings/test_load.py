"""Prove how settings are found, read and refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.settings import Level, SettingsError, config_path, load
from bot.settings.secrets import secret

SSH = '[ssh]\nuser = "probe"\n'


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    for name in list(os.environ):
        if name.upper().startswith(("NCCL_DNS_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def write(text: str) -> Path:
    """Write a file of settings."""
    path = Path("some.toml")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("", Level.PASTE),
        ('[cloud]\nkind = "crusoe"\n', Level.LOOK),
        ('[clusters.a]\nkind = "slurm"\n', Level.LOOK),
        (SSH, Level.PROBE),
        (SSH + '[ssh.repair]\nuser = "mend"\n', Level.PROBE),
        (SSH + "[actions]\nenabled = true\n", Level.PROBE),
        (SSH + '[ssh.repair]\nuser = "mend"\n[actions]\nenabled = true\n', Level.ACT),
    ],
)
def test_the_level_follows_from_what_is_set(text: str, level: Level) -> None:
    """Acting needs an account for it and the switch; neither alone is enough."""
    assert load(write(text)).level is level


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """One value is replaced, its neighbours stay."""
    path = write('[cloud]\nkind = "crusoe"\nproject = "a"\n[clusters.hall]\nproject = "b"\n')
    monkeypatch.setenv("NCCL_DNS_CLOUD__PROJECT", "c")
    monkeypatch.setenv("NCCL_DNS_CLUSTERS__HALL__DOMAIN", "hall.internal")

    settings = load(path)

    assert (settings.cloud.kind, settings.cloud.project) == ("crusoe", "c")
    assert settings.clusters["hall"].domain == "hall.internal"
    assert settings.project_of("hall") == "b"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colud = 1\n", "colud: there is no such setting"),
        ('[cloud]\nkind = "gcp"\n', "cloud.kind: Input should be 'none' or 'crusoe'"),
        ("[ssh]\nport = 22\n", "ssh.user: it has to be set"),
        ('[clusters.a]\nnodes = ["n[0-"]\n', "clusters.a.nodes: 'n[0-' is no node list"),
        ('[clusters."a b"]\n', "clusters.a b"),
        ("[cloud\n", "is not valid TOML (at line 1"),
        ('[actions]\nprotected = "all"\n', "actions.protected"),
    ],
)
def test_what_cannot_be_used_is_named(text: str, sentence: str) -> None:
    """A person learns which setting it is and what it takes."""
    with pytest.raises(SettingsError) as refused:
        load(write(text))
    assert sentence in str(refused.value)


def test_a_refusal_repeats_no_value() -> None:
    """What stands in a file of settings may be a secret."""
    text = '[cloud]\nsecret_key = ["hunter2hunter2"]\naccess_key_id = 77031\n'

    with pytest.raises(SettingsError) as refused:
        load(write(text))

    assert "cloud.secret_key" in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "77031" not in str(refused.value)
    assert "hunter2" not in repr(load(write('[cloud]\nsecret_key = "hunter2hunter2"\n')))


def test_a_misspelled_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would otherwise change nothing, and nobody would know."""
    monkeypatch.setenv("NCCL_DNS_CLUODS__PROJECT", "x")
    with pytest.raises(SettingsError, match="NCCL_DNS_CLUODS__PROJECT is no setting"):
        load()


def test_a_named_file_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Falling back to another file would use settings that nobody asked for."""
    with pytest.raises(SettingsError, match="named by --config, is no file"):
        load(Path("none.toml"))
    monkeypatch.setenv("NCCL_DNS_CONFIG", "gone.toml")
    with pytest.raises(SettingsError, match="named by NCCL_DNS_CONFIG"):
        config_path()


def test_the_nearest_file_is_taken(tmp_path: Path) -> None:
    """Without any, everything has its default and the level is paste."""
    assert config_path() is None
    home = tmp_path / "home" / ".config" / "nccl-dns" / "nccl-dns.toml"
    home.parent.mkdir(parents=True)
    home.write_text("")
    assert config_path() == home
    Path("nccl-dns.toml").write_text("")
    assert config_path() == Path("nccl-dns.toml")


def test_a_secret_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    """It is read anew each time, so that it can be replaced; a missing one is named."""
    file = tmp_path / "token"
    file.write_text("first\n")
    assert secret(SecretStr("other"), file, "a.b") == "first"
    file.write_text("second\n")
    assert secret(SecretStr("other"), file, "a.b") == "second"
    assert secret(SecretStr("plain"), None, "a.b") == "plain"
    with pytest.raises(SettingsError, match=r"named by a\.b, cannot be read"):
        secret(SecretStr(""), tmp_path / "none", "a.b")


def test_the_stores_address_may_stand_in_a_file(tmp_path: Path) -> None:
    """It holds a password; both databases are then that one, and a lost file is named."""
    held = tmp_path / "store_url"
    held.write_text("postgresql://nccl_dns:pass@store/nccl_dns\n", encoding="utf-8")
    settings = load(write(f'[store]\nurl_file = "{held}"\n'))
    assert settings.store_url == "postgresql://nccl_dns:pass@store/nccl_dns"
    assert settings.engine_url == settings.store_url
    held.unlink()
    with pytest.raises(SettingsError, match=r"store\.url_file"):
        _ = settings.store_url
