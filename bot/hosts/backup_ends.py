"""Why a copy of a machine's storage ended before its end, and what a person does then. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Why(StrEnum):
    """Why a copy ended before its end."""

    FULL = "full"
    QUOTA = "quota"
    READ_ONLY = "read_only"
    VANISHED = "vanished"
    #: root is nobody there, and the owner may not write there either
    SQUASHED = "squashed"
    #: something else has the folder's name
    TAKEN = "taken"
    #: an earlier try is still at it
    BUSY = "busy"
    #: nothing of what was chosen is there any more
    GONE = "gone"
    REFUSED = "refused"
    NO_RSYNC = "no_rsync"
    RSYNC_FAILED = "rsync_failed"
    #: it is another machine
    IDENTITY = "identity"
    #: the connection ended
    CUT = "cut"
    FAILED = "failed"


#: What each reason means, and what to do.
_REASONS: Mapping[Why, str] = {
    Why.FULL: "The destination is full. Free room there or choose another destination, then back "
    "up again: it goes on where it stopped.",
    Why.QUOTA: "The quota at the destination is used up. Raise it or choose another destination, "
    "then back up again.",
    Why.READ_ONLY: "The destination is read-only. Choose another one.",
    Why.VANISHED: "The destination vanished: it is not mounted any more, or its server does not "
    "answer. Mount it again or choose another one, then back up again.",
    Why.SQUASHED: "Root is nobody at the destination (root squash), and the owner of the files may "
    "not write there either. Choose another destination, or let the owner have a folder there.",
    Why.TAKEN: "Something that is not ours has the name of the backup's folder at the destination. "
    "Nothing was overwritten; move it away or choose another destination.",
    Why.BUSY: "An earlier try is still copying. Wait until it has ended, then back up again.",
    Why.GONE: "Nothing of what was chosen is there any more. Look again at what the VM holds.",
    Why.REFUSED: "The machine refuses the destination.",
    Why.NO_RSYNC: "There is no rsync on the machine. Install it (`apt-get install rsync` or `dnf "
    "install rsync`), then back up again.",
    Why.RSYNC_FAILED: "rsync failed on the machine.",
    Why.IDENTITY: "The machine at this address is another one; nothing was read or copied.",
    Why.CUT: "The connection to the machine ended before the copy did. What is copied is kept: "
    "back up again, and it goes on where it stopped.",
    Why.FAILED: "The copy failed on the machine.",
}  # fmt: skip


def reason(why: Why, detail: str = "") -> str:
    """Return a sentence on why a copy ended, and what to do."""
    return f"{_REASONS[why]} ({detail})" if detail else _REASONS[why]
