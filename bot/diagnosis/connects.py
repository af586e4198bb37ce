"""Connects that failed: to peers that cannot be reached, that refuse, or of another family."""

from __future__ import annotations

from bot.diagnosis.kinds import Kind
from bot.diagnosis.model import Observation
from bot.diagnosis.voices import Voice

#: errno values of Linux, macOS and Windows
UNREACHABLE = frozenset(
    {"113", "101", "110", "112", "100", "65", "60", "51", "10060", "10065", "10051"}
)
REFUSED = frozenset({"111", "61", "10061", "104", "10054", "54"})
OTHER_FAMILY = frozenset({"97", "99", "22", "47", "49", "10047", "10049", "10022"})


def connects(voice: Voice) -> tuple[set[str], set[str], set[str]]:
    """Return the peers that a voice found unreachable, refusing, of another family."""
    blocked: set[str] = set()
    refused: set[str] = set()
    family: set[str] = set()
    peers = {"blocked": blocked, "refused": refused, "family": family}
    for (peer, _, why), seen in voice.connects.items():
        bucket = peers.get(_bucket(why, seen))
        if bucket is not None:
            bucket.add(peer)
    return blocked, refused, family


_BUCKET_BY_KIND = {
    Kind.CONNECT_TIMEOUT: "deadline",
    Kind.CONNECT_FAILED_ALL: "deadline",
    Kind.SERVER_TIMEOUT: "blocked",
    Kind.NOT_LISTENING_YET: "refused",
}


def _bucket(why: str, seen: Observation) -> str:
    by_kind = _BUCKET_BY_KIND.get(seen.kind)
    if by_kind is not None:
        return by_kind
    if why in OTHER_FAMILY:
        return "family"
    text = seen.fields.get("text", "").lower()
    if why in REFUSED or "refused" in text or "reset by peer" in text:
        return "refused"
    if why in UNREACHABLE or any(
        words in text for words in ("no route", "timed out", "unreachable", "host is down")
    ):
        return "blocked"
    return "other"
