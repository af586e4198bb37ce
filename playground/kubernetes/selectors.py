"""Label and field selectors, as the API server reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from playground.kubernetes.resources import Kind, Object
from playground.kubernetes.statuses import Refusal

_KEY = r"(?:[a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_REQUIREMENT = re.compile(
    rf"\s*(?:(?P<absent>!)\s*)?(?P<key>{_KEY})\s*"
    r"(?:(?P<op>==|=|!=)\s*(?P<value>[^,\s]*)|(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?\s*"
)
_FIELD = re.compile(r"(?P<key>[^=!]+)(?P<op>!=|==?)(?P<value>.*)")
_SPLIT = re.compile(r",(?![^(]*\))")

Test = Callable[[Object], bool]


def by_labels(selector: str) -> Test:
    """Return a test for objects; raises Refusal for what is no selector."""
    tests = [_requirement(part, selector) for part in _SPLIT.split(selector)] if selector else []
    return lambda one: all(test(one["metadata"].get("labels") or {}) for test in tests)


def _requirement(part: str, selector: str) -> Callable[[Mapping[str, str]], bool]:
    found = _REQUIREMENT.fullmatch(part)
    if found is None:
        message = f"unable to parse requirement: found '{part}' in selector \"{selector}\""
        raise Refusal(400, message)
    key = found["key"]
    if found["absent"]:
        return lambda labels: key not in labels
    if found["op"]:
        wanted = _checked(found["value"], key)
        if found["op"] == "!=":
            return lambda labels: labels.get(key) != wanted
        return lambda labels: labels.get(key) == wanted
    if found["set"]:
        values = {_checked(one.strip(), key) for one in found["values"].split(",")}
        if found["set"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    return lambda labels: key in labels


def _checked(value: str, key: str) -> str:
    if not _VALUE.fullmatch(value):
        message = (
            f'values[0][{key}]: Invalid value: "{value}": a valid label must be an empty string '
            "or consist of alphanumeric characters, '-', '_' or '.'"
        )
        raise Refusal(400, f"unable to parse requirement: {message}")
    return value


def by_fields(selector: str, kind: Kind) -> Test:
    """Return a test for objects; raises Refusal for a field that the kind cannot be selected by."""
    known = {
        "metadata.name": ("metadata", "name"),
        "metadata.namespace": ("metadata", "namespace"),
        **(kind.fields or {}),
    }
    tests: list[Test] = []
    for part in selector.split(",") if selector else ():
        found = _FIELD.fullmatch(part)
        if found is None:
            message = f"invalid selector: '{selector}'; can't understand '{part}'"
            raise Refusal(400, message)
        if found["key"] not in known:
            raise Refusal(400, f"field label not supported: {found['key']}")
        tests.append(_field(known[found["key"]], found["op"], found["value"]))
    return lambda one: all(test(one) for test in tests)


def _field(path: tuple[str, ...], operator: str, wanted: str) -> Test:
    def test(one: Object) -> bool:
        found: object = one
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        said = "" if found is None else str(found)
        same = (said.lower() if isinstance(found, bool) else said) == wanted
        return same is (operator != "!=")

    return test
