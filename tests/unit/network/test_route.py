"""Which addresses go through the proxy."""

from __future__ import annotations

import pytest

from bot.network.errors import NetworkSetupError
from bot.network.route import route

PROXY = "http://proxy.corp:3128"


@pytest.mark.parametrize(
    ("direct", "url"),
    [
        ("", "https://slack.com/api/"),
        ("", "wss://wss-primary.slack.com/link"),
        ("lack.com", "https://slack.com/"),
        ("slack.com:8443", "https://slack.com/"),
        ("10.0.0.0/8", "https://11.0.0.1/"),
        ("nonsense/99", "https://10.0.0.1/"),
        (" , ,", "https://slack.com/"),
    ],
)
def test_through_the_proxy(direct: str, url: str) -> None:
    """What is encrypted goes through it, unless an entry of NO_PROXY is for its host."""
    assert route("", (), {"HTTPS_PROXY": PROXY, "NO_PROXY": direct}).proxy_for(url) == PROXY


@pytest.mark.parametrize(
    ("direct", "url"),
    [
        ("", "http://ctl:6820/slurm"),
        ("", "https://127.0.0.1:6443/"),
        ("", "https://[::1]/"),
        ("", "https://localhost:1/"),
        ("*", "https://slack.com/"),
        ("slack.com", "https://slack.com/"),
        ("slack.com", "https://files.slack.com/"),
        (".SLACK.com", "https://hooks.slack.com/"),
        ("*.slack.com", "wss://wss.slack.com/"),
        ("a, slack.com:443 ,b", "https://slack.com/"),
        ("10.0.0.0/8", "https://10.2.3.4:6443/"),
        ("10.2.3.4:6443", "https://10.2.3.4:6443/"),
        ("10.2.3.4", "https://10.2.3.4/"),
        ("fd00::/8", "https://[fd00::7]:6820/"),
    ],
)
def test_directly(direct: str, url: str) -> None:
    """What is plain, on this machine or named by NO_PROXY does not."""
    assert route("", (), {"https_proxy": PROXY, "no_proxy": direct}).proxy_for(url) is None


def test_the_settings_go_first() -> None:
    """The proxy of the settings takes the place of the variable; exceptions add up."""
    environ = {"HTTPS_PROXY": "http://other:1", "NO_PROXY": "a.example"}
    found = route(PROXY, ("b.example",), environ)
    assert found.proxy_for("https://slack.com/") == PROXY
    assert found.proxy_for("https://a.example/") is None
    assert found.proxy_for("https://b.example/") is None


def test_without_a_scheme() -> None:
    """A proxy may be given as host and port, as curl takes it."""
    assert route("", (), {"HTTPS_PROXY": "proxy.corp:3128"}).proxy == PROXY


@pytest.mark.parametrize("wrong", ["socks5://proxy:1080", "http://", "ftp://x"])
def test_what_is_no_proxy(wrong: str) -> None:
    """Another kind of proxy is refused, by the name of its setting and without its password."""
    with pytest.raises(NetworkSetupError, match=r"network\.proxy"):
        route(wrong, (), {})
    with pytest.raises(NetworkSetupError, match="HTTPS_PROXY") as refused:
        route("", (), {"HTTPS_PROXY": "socks5://me:secret@proxy:1080"})
    assert "secret" not in str(refused.value)
