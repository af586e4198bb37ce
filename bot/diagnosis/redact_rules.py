"""What a rule about secrets is, and how the lines that may hold one are found fast.

The rows themselves: `redact_shapes` (secrets known by their own shape), `redact_names` (known by
what stands before them). Add a format by adding a row there. Three things keep a row fast and safe:
a literal that every match contains, so that the pattern runs in few places; a run of characters
without an upper bound only at the end of a pattern (one that can fail after it is tried again from
each start, and 1 MB of `eyJ` takes hours); no fixed length that could be followed by a next secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from bot.diagnosis.patterns import Pattern

#: What stands in place of a secret.
MARK = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")

#: Filler of the examples: mixed case and digits, without meaning.
FILL = "Zx9Qw7Lm2Kd4Vb8Rn3Ht6Yp1Gs5Jc" * 12
#: The same of hexadecimal digits.
HEX = "9c0a7e13d5b84f26" * 12

#: A rejected value of this length is not searched for names again: a line could be made of them.
_LONG_VALUE = 200


def lowered(text: str) -> str:
    """Return the text in lower case, each character where it was.

    `str.lower` makes two characters of one, the dotted capital I, and of no other.
    """
    return text.replace("\u0130", "i").lower()


def lines_with(
    literals: Iterable[str], text: str, hint: Pattern | None = None
) -> list[tuple[int, int]]:
    """Find the lines that hold one of some literals: where each begins and ends, in order.

    `hint`: what must match where the literal stands.
    """
    found: set[tuple[int, int]] = set()
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            after = at + 1
            if not hint or hint.match(text, at):
                line = line_around(text, at)
                found.add(line)
                after = line[1]
            at = text.find(literal, after)
    return sorted(found)


def line_around(text: str, at: int) -> tuple[int, int]:
    """Tell where the line at a position begins and ends."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


def anything(_value: str) -> bool:
    """Accept every value that the pattern finds."""
    return True


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One kind of secret, how it is found, and what shows that it is."""

    #: Goes into `[redacted:<kind>]`; several rows may share one.
    kind: str
    #: At least one is in every match; lower case where the pattern ignores case.
    literals: tuple[str, ...]
    #: What a secret and its surroundings look like; its group `secret` (or `quoted`) is replaced.
    regex: str
    flags: re.RegexFlag = re.NOFLAG
    #: Whether every match begins with a literal: then it is tried only where one stands.
    anchored: bool = True
    #: Otherwise, what must match where a literal stands for the line to be searched.
    hint: Pattern | None = None
    #: Judges the value that the pattern found.
    accepts: Callable[[str], bool] = anything
    #: What of a match stays readable.
    keeps: str
    #: Where the format is described.
    source: str
    #: A line that must lose its middle part: before, secret, after.
    caught: tuple[str, str, str]
    #: A line that must stay as it is.
    spared: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compile the row when it is first needed: most texts need few, and all take a while."""
        return re.compile(self.regex, self.flags)

    @cached_property
    def ignores_case(self) -> bool:
        """Tell whether the literals are looked for in the lowered text."""
        return bool(self.flags & re.IGNORECASE)

    def suspects(self, text: str, low: str) -> Iterable[tuple[int, int]]:
        """Find the lines worth a search: where each begins and ends."""
        searched = low if self.ignores_case else text
        for literal in self.literals:
            if literal in searched:
                break
        else:
            return ()
        if not self.anchored:
            return lines_with(self.literals, searched, self.hint)
        found: set[tuple[int, int]] = set()
        line = (0, -1)
        for start, _ in self._from_literals(text, low):
            if not line[0] <= start <= line[1]:
                line = line_around(text, start)
                found.add(line)
        return found

    def secrets(self, line: str, low: str) -> Iterator[tuple[int, int]]:
        """Find the secrets of a line: where each begins and ends; they may overlap."""
        if self.anchored:
            yield from self._from_literals(line, low)
        else:
            found = map(self._secret_of, self.pattern.finditer(line))
            yield from (secret for secret in found if secret)

    def _from_literals(self, text: str, low: str) -> Iterator[tuple[int, int]]:
        searched = low if self.ignores_case else text
        for literal in self.literals:
            at = searched.find(literal)
            while at >= 0:
                after = at + 1
                match = self.pattern.match(text, at)
                if match:
                    secret = self._secret_of(match)
                    if secret:
                        yield secret
                    # What looked like a value and is none may hold the next name and its value.
                    after = match.end() if secret or match.end() - at > _LONG_VALUE else after
                at = searched.find(literal, after)

    def _secret_of(self, match: re.Match[str]) -> tuple[int, int] | None:
        group = match.lastgroup or "secret"
        return match.span(group) if self.accepts(match[group]) else None
