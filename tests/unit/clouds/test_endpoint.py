"""Prove where requests may go."""

from __future__ import annotations

import httpx
import pytest

from bot.clouds.crusoe.endpoint import DEFAULT, endpoint
from bot.clouds.errors import CloudSetupError


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("", DEFAULT),
        (" https://api.cloud.crusoe.ai/v1/ ", DEFAULT),
        ("https://api.crusoecloud.com/v1alpha5", DEFAULT),
        ("https://api.crusoecloud.com/v1", DEFAULT),
        ("https://API.example:443/v1", "https://api.example/v1"),
        ("https://api.example:8443/crusoe/v1", "https://api.example:8443/crusoe/v1"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://localhost/v1", "http://localhost/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_url_is_read(given: str, used: str) -> None:
    """Empty is the public one, legacy ones are moved, others are taken as they are."""
    assert str(endpoint(given)) == used


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("http://api.cloud.crusoe.ai/v1", "not encrypted"),
        ("http://127.0.0.1.example/v1", "not encrypted"),
        ("https://api.cloud.crusoe.ai", "has no version.*/v1"),
        ("https://ada:secretword@api.example/v1", "must not hold a user"),
        ("ftp://api.example/v1", "not of the form"),
        ("api.cloud.crusoe.ai/v1", "not of the form"),
        ("https://api.example/v1?x=1", "not of the form"),
        ("https://api.example/v1#x", "not of the form"),
        ("https://api.example:port/v1", "not a URL"),
    ],
)
def test_a_base_url_that_is_no_good(given: str, words: str) -> None:
    """The error says what is wrong and shows no password."""
    with pytest.raises(CloudSetupError, match=words) as caught:
        endpoint(given)

    assert "secretword" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        (f"{DEFAULT}/users/identities", True),
        ("https://api.cloud.crusoe.ai:443/v1/x", True),
        ("http://api.cloud.crusoe.ai/v1/x", False),
        ("https://api.cloud.crusoe.ai:8443/v1/x", False),
        ("https://api.cloud.crusoe.ai.example/v1/x", False),
        ("https://api.cloud.crusoe.ai/v2/x", False),
        ("https://api.cloud.crusoe.ai/v1x", False),
    ],
)
def test_whose_a_url_is(url: str, ours: bool) -> None:  # noqa: FBT001
    """Scheme, host, port and version prefix all have to fit."""
    assert endpoint().owns(httpx.URL(url)) is ours
