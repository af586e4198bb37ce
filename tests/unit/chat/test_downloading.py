"""Where the token may go, and what is no file."""

from __future__ import annotations

import pytest

from bot.chat.downloading import Downloader
from bot.chat.errors import DownloadError

SLACK = Downloader("xoxb-1")
EMULATOR = Downloader("xoxb-1", base_url="http://127.0.0.1:4000/api/")


@pytest.mark.parametrize("url", ["https://files.slack.com/files-pri/T1-F1/job.log"])
def test_slacks_file_host_gets_the_token(url: str) -> None:
    """Private files are read from Slack's file host, over TLS."""
    SLACK._refuse_elsewhere(url, "job.log")


@pytest.mark.parametrize(
    "url",
    [
        "http://files.slack.com/files-pri/T1-F1/job.log",
        "https://files.slack.com:8443/job.log",
        "https://files.slack.com.example/job.log",
        "https://example/files.slack.com",
        "https://files.slack.com@example/job.log",
        "file:///etc/passwd",
        "",
    ],
)
def test_nobody_else_does(url: str) -> None:
    """An address that only looks like Slack's, or has no TLS, is refused before it is asked."""
    with pytest.raises(DownloadError, match="not Slack's file host"):
        SLACK._refuse_elsewhere(url, "job.log")


def test_a_page_of_the_workspace_is_the_sign_in() -> None:
    """Slack sends who may not read a file to its workspace's page: that is said as such."""
    with pytest.raises(DownloadError, match="asked to sign in"):
        SLACK._refuse_elsewhere("https://team.slack.com/?redir=x", "job.log")


def test_an_emulator_serves_its_own_files() -> None:
    """With a base URL of its own, its origin alone gets the token."""
    EMULATOR._refuse_elsewhere("http://127.0.0.1:4000/files-pri/x", "job.log")
    for url in ("http://127.0.0.1:4001/x", "https://files.slack.com/x"):
        with pytest.raises(DownloadError):
            EMULATOR._refuse_elsewhere(url, "job.log")
