"""One request to the API before it is signed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_plus


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What is asked, below the version prefix, and the words that errors use for it."""

    method: str
    #: begins with `/` and holds nothing that would need escaping
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, str] | None = None
    #: completes "Crusoe did not …", such as `list the VMs of project 1111`
    what: str
    #: the VM that a 404 would be about
    vm_id: str = field(default="")

    @property
    def acts(self) -> bool:
        """Say whether it changes something, so that it is not safe to send twice."""
        return self.method != "GET"

    @property
    def target(self) -> str:
        """Return path and query, the query already in its canonical form."""
        if not self.query:
            return self.path
        pairs = sorted(self.query, key=lambda pair: pair[0].encode())
        return self.path + "?" + "&".join(f"{quote_plus(k)}={quote_plus(v)}" for k, v in pairs)

    @property
    def content(self) -> bytes | None:
        """Return the body as JSON."""
        return None if self.body is None else json.dumps(self.body).encode()
