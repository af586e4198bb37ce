"""One tree of errors; every message is a sentence that a person can act on.

BotError
└── InputError      what was given cannot be used: missing file, directory, no log
    └── UsageError  the command line itself is wrong
"""


class BotError(Exception):
    """Base of all errors that this product raises on purpose."""


class InputError(BotError):
    """What was given cannot be used; the message says what to give instead."""


class UsageError(InputError):
    """The command line is wrong; the message says which option and what it takes."""
