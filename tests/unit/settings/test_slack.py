"""The settings of Slack, and its usual variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import SettingsError, load


def written(folder: Path, text: str) -> Path:
    """Write a settings file."""
    path = folder / "nccl-dns.toml"
    path.write_text(text)
    return path


def test_slacks_usual_variables(tmp_path: Path) -> None:
    """SLACK_BOT_TOKEN and the like fill in what the file does not say."""
    usual = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_API_URL": "http://127.0.0.1/api/"}
    slack = load(written(tmp_path, '[slack]\ncommand = "/dns"\n'), environ=usual).slack
    assert slack is not None
    assert slack.bot_token.get_secret_value() == "xoxb-1"
    assert (slack.base_url, slack.command) == ("http://127.0.0.1/api/", "/dns")


def test_ours_win(tmp_path: Path) -> None:
    """A token in the file, or a file of its own, goes before Slack's variable."""
    usual = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
    text = '[slack]\nbot_token = "xoxb-2"\napp_token_file = "/run/secrets/app"\n'
    slack = load(written(tmp_path, text), environ=usual).slack
    assert slack is not None
    assert slack.bot_token.get_secret_value() == "xoxb-2"
    assert slack.app_token.get_secret_value() == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('command = "no slash"', "slack.command"),
        ('approvers = { users = ["@ada"] }', "slack.approvers.users"),
        ('mode = "carrier pigeon"', "slack.mode"),
    ],
)
def test_what_cannot_be(tmp_path: Path, text: str, place: str) -> None:
    """A value that Slack could not mean is refused, and its place named."""
    with pytest.raises(SettingsError, match=place):
        load(written(tmp_path, f"[slack]\n{text}\n"), environ={})


def test_tokens_are_never_shown(tmp_path: Path) -> None:
    """Settings that are printed or logged hide their secrets."""
    told = load(written(tmp_path, '[slack]\nbot_token = "xoxb-hide-me"\n'), environ={})
    assert "xoxb-hide-me" not in repr(told)
