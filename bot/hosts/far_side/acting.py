"""The words of the repair helper in place of `inside.py`: who this machine is, and nothing else.

What it may run beside that are the command lines that were written into it when it was made.
"""

from __future__ import annotations

from bot.hosts.far_side.looks import identity

WORDS = {"@identity": identity}
