"""One tree of errors; every message is a sentence that a person can act on.

BotError
├── InputError          what was given cannot be used: missing file, directory, no log
│   ├── UsageError      the command line itself is wrong
│   └── PlacementError  a node list, hostfile or launch that says no consistent placement
├── MatchError          a host that is not exactly one VM
└── StoreError          the database cannot be used
"""


class BotError(Exception):
    """Base of all errors that this product raises on purpose."""


class InputError(BotError):
    """What was given cannot be used; the message says what to give instead."""


class UsageError(InputError):
    """The command line is wrong; the message says which option and what it takes."""


class PlacementError(InputError):
    """A node list, a hostfile or a launch cannot be read; the message quotes the part at fault."""


class MatchError(BotError):
    """A host is not exactly one VM; the message names the candidates and says what settles it."""


class StoreError(BotError):
    """The database cannot be reached or read; the message names it, without its password."""
