"""An API key, held so that it cannot slip into an error, a repr or a log line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.clouds.crusoe.signing import decode_secret
from bot.clouds.errors import CloudSetupError

HIDDEN = "[secret]"

#: An id goes into a header between colons.
_KEY_ID = re.compile(r"[!-9;-~]+")
_SIGNATURE = re.compile(r"(Bearer\s+1\.0:[^:\s]*:)[A-Za-z0-9_-]+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Credentials:
    """The pair that the console shows once: access key id and secret key."""

    access_key_id: str
    #: base64url without padding, as issued
    secret_key: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "access_key_id", self.access_key_id.strip())
        object.__setattr__(self, "secret_key", self.secret_key.strip())
        if not _KEY_ID.fullmatch(self.access_key_id):
            raise CloudSetupError(
                "The Crusoe access key id is empty or holds a space or a colon. "
                "Paste it as the console shows it."
            )
        try:
            decode_secret(self.secret_key)
        except ValueError as error:
            raise CloudSetupError(
                f"The Crusoe secret key of {self.label} cannot be used: {error}. "
                "Paste it as the console showed it."
            ) from None

    def __repr__(self) -> str:
        return f"Credentials({self.label})"

    @property
    def label(self) -> str:
        """Return enough of the id for a person to tell keys apart: its last four characters."""
        return f"key …{self.access_key_id[-4:]}" if len(self.access_key_id) > 8 else "key …"  # noqa: PLR2004

    @property
    def key(self) -> bytes:
        """Return the raw key that signs."""
        return decode_secret(self.secret_key)

    def hide(self, text: str) -> str:
        """Blank what must not be shown where foreign text repeats it back."""
        for secret in (self.secret_key, self.access_key_id):
            text = text.replace(secret, HIDDEN)
        return _SIGNATURE.sub(rf"\1{HIDDEN}", text)
