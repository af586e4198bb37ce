"""The few kinds of rule that Block Kit's tables are made of.

A rule looks at a JSON value and adds a finding, worded as Slack words it, for what is wrong. Limits
count characters as Python does, which is Unicode code points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

#: A JSON object of Slack's; its shape is what these rules are about.
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong."""

    message: str
    #: where, such as `/blocks/0/text`
    pointer: str

    def __str__(self) -> str:
        """Word it as `response_metadata.messages` does."""
        return f"{self.message} [json-pointer:{self.pointer}]"


@dataclass(kw_only=True)
class Findings:
    """What is wrong with one payload."""

    #: `message`, `modal` or `home`
    surface: str
    found: list[Finding] = field(default_factory=list)

    def add(self, message: str, pointer: str) -> None:
        """Note one more."""
        self.found.append(Finding(message=message, pointer=pointer))


class Rule(Protocol):
    """What can be asked of a value."""

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Add what is wrong with a value that stands at a JSON pointer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A string with at least and at most so many characters."""

    most: int | None = None
    least: int = 0
    #: a regular expression, and what is said to be wanted where it does not fit
    pattern: str = ""
    form: str = "in the required format"

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Judge its type, then its length, then its form."""
        if not isinstance(value, str):
            findings.add("must be a string", at)
        elif len(value) < self.least:
            findings.add(f"must be more than {self.least - 1} characters", at)
        elif self.most is not None and len(value) > self.most:
            findings.add(f"must be less than {self.most + 1} characters", at)
        elif self.pattern and not re.fullmatch(self.pattern, value, re.DOTALL):
            findings.add(f"must be {self.form}", at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """True or false, and no word for either."""

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Judge its type."""
        if not isinstance(value, bool):
            findings.add("must be a boolean", at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """A whole number in a range."""

    least: int
    most: int

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Judge its type and its range."""
        if not isinstance(value, int) or isinstance(value, bool):
            findings.add("must be an integer", at)
        elif value < self.least:
            findings.add(f"must be greater than {self.least - 1}", at)
        elif value > self.most:
            findings.add(f"must be less than {self.most + 1}", at)


@dataclass(frozen=True, slots=True)
class Word:
    """One of a few words."""

    words: tuple[str | int, ...]

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Judge that it is one of them."""
        if value not in self.words or isinstance(value, bool):
            findings.add(f"must be one of: {', '.join(map(str, self.words))}", at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Items:
    """A list of so many values, each under one rule."""

    each: Rule
    most: int | None = None
    least: int = 0

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Judge the count, then each."""
        if not isinstance(value, list):
            findings.add("must be an array", at)
            return
        if len(value) < self.least:
            findings.add(f"must be at least {self.least} items", at)
        if self.most is not None and len(value) > self.most:
            findings.add(f"no more than {self.most} items allowed", at)
        for place, one in enumerate(value):
            self.each.check(one, f"{at}/{place}", findings)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """An object with known fields; any other one is refused, as Slack does."""

    fields: Mapping[str, Rule]
    required: tuple[str, ...] = ()
    #: of these, exactly one must be there
    one_of: tuple[str, ...] = ()
    #: of these, at least one must be there
    any_of: tuple[str, ...] = ()
    #: what no single field can tell
    also: Callable[[Json, str, Findings], None] | None = None

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Judge which fields there are, then each."""
        if not isinstance(value, dict):
            findings.add("must be an object", at)
            return
        for name in self.required:
            if name not in value:
                findings.add(f"missing required field: {name}", at)
        self._choices(value, at, findings)
        for name, one in value.items():
            rule = self.fields.get(name)
            if rule is None:
                findings.add(f"invalid additional property: {name}", at)
            else:
                rule.check(one, f"{at}/{name}", findings)
        if self.also:
            self.also(value, at, findings)

    def _choices(self, value: Json, at: str, findings: Findings) -> None:
        given = [name for name in self.one_of if name in value]
        if self.one_of and len(given) != 1:
            findings.add(f"must provide exactly one of: {', '.join(self.one_of)}", at)
        if self.any_of and not any(name in value for name in self.any_of):
            findings.add(f"must provide at least one of: {', '.join(self.any_of)}", at)


@dataclass(frozen=True, slots=True)
class ByType:
    """An object whose `type` says which shape it must have."""

    shapes: Mapping[str, Shape]

    def check(self, value: object, at: str, findings: Findings) -> None:
        """Find the shape, then judge by it."""
        if not isinstance(value, dict):
            findings.add("must be an object", at)
            return
        if "type" not in value:
            findings.add("missing required field: type", at)
            return
        shape = self.shapes.get(value["type"]) if isinstance(value["type"], str) else None
        if shape is None:
            findings.add(f"unsupported type: {value['type']}", f"{at}/type")
            return
        shape.check(value, at, findings)


def shape(
    kind: str,
    fields: Mapping[str, Rule],
    *required: str,
    one_of: tuple[str, ...] = (),
    any_of: tuple[str, ...] = (),
    also: Callable[[Json, str, Findings], None] | None = None,
) -> tuple[str, Shape]:
    """Return one row of a table: a type and its shape, which also has the field `type`."""
    known: dict[str, Rule] = {"type": Word((kind,)), **fields}
    return kind, Shape(fields=known, required=required, one_of=one_of, any_of=any_of, also=also)
