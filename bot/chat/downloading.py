"""Read shared files from Slack's file host, part by part; the token goes nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urljoin, urlsplit

import aiohttp

from bot.chat.errors import AwayError, DownloadError
from bot.chat.port import SharedFile
from bot.network.telling import why
from bot.network.way import Network
from bot.network.with_aiohttp import session

#: Where Slack keeps private files (https://docs.slack.dev/reference/objects/file-object).
FILE_HOSTS = frozenset({"files.slack.com", "files-edge.slack.com"})
#: As large as Slack lets a file be.
MOST_BYTES = 1 << 30
_PART_BYTES = 1 << 16
_MOST_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OK, _NOT_FOUND, _SERVER = 200, 404, 500
_SIGN_IN = (
    "{name} was not read: Slack asked to sign in instead. The app lacks the scope files:read, or "
    "its token was revoked; see manifest.yml and install the app again."
)
_WAITS = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=30)


class Downloader:
    """Reads files with a token."""

    def __init__(self, token: str, *, base_url: str = "", network: Network | None = None) -> None:
        self._token = token
        self._network = network or Network()
        #: an emulator serves its files itself
        self._own = _origin(base_url) if base_url else ""

    async def parts(self, file: SharedFile) -> AsyncIterator[bytes]:
        """Yield a file's bytes; raises DownloadError with a sentence, or AwayError."""
        url = file.url
        try:
            async with session(self._network, timeout=_WAITS) as opened:
                for _ in range(_MOST_REDIRECTS + 1):
                    self._refuse_elsewhere(url, file.name)
                    async with opened.get(
                        url,
                        headers={"Authorization": f"Bearer {self._token}"},
                        allow_redirects=False,
                        proxy=self._network.proxy_for(url),
                    ) as answer:
                        if answer.status in _REDIRECTS:
                            url = urljoin(url, answer.headers.get("Location", ""))
                            continue
                        _refuse(answer, file)
                        async for part in _counted(answer, file.name):
                            yield part
                        return
        except (aiohttp.ClientError, TimeoutError) as error:
            said = why(error) or type(error).__name__
            raise AwayError(f"The download of {file.name} broke off ({said}).") from error
        raise DownloadError(f"{file.name} was not read: Slack led from one address to the next.")

    def _refuse_elsewhere(self, url: str, name: str) -> None:
        """Raise DownloadError for any address that is not Slack's file host."""
        parts = urlsplit(url)
        secure = parts.scheme == "https" and parts.port in {None, 443}
        if self._own == _origin(url) if self._own else secure and parts.hostname in FILE_HOSTS:
            return
        host = parts.hostname or ""
        if host.endswith(".slack.com") and host not in FILE_HOSTS:
            raise DownloadError(_SIGN_IN.format(name=name))
        raise DownloadError(
            f"{name} was not read: its address leads to {parts.hostname or 'nowhere'}, which is "
            "not Slack's file host, and the bot's token goes nowhere else. Paste the text, or "
            "upload the file to Slack itself."
        )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _refuse(answer: aiohttp.ClientResponse, file: SharedFile) -> None:
    """Raise for whatever is not the file: a login page has status 200, too."""
    if answer.status >= _SERVER:
        raise AwayError(f"Slack's file host answered {file.name} with status {answer.status}.")
    if answer.status == _NOT_FOUND:
        raise DownloadError(f"{file.name} was deleted: share it again.")
    page = answer.content_type == "text/html" and file.mimetype != "text/html"
    if answer.status != _OK or page:
        raise DownloadError(_SIGN_IN.format(name=file.name))


async def _counted(answer: aiohttp.ClientResponse, name: str) -> AsyncIterator[bytes]:
    read = 0
    async for part in answer.content.iter_chunked(_PART_BYTES):
        read += len(part)
        if read > MOST_BYTES:
            raise DownloadError(f"{name} has more than 1 GB: share the part around the failure.")
        yield part
