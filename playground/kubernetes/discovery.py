"""What clients ask first: versions, groups and kinds."""

from __future__ import annotations

from playground.kubernetes.resources import KINDS, Kind
from playground.kubernetes.statuses import Json

#: The version that the server claims to be: old and new clients accept it.
VERSION: Json = {
    "major": "1",
    "minor": "27",
    "gitVersion": "v1.27.0",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2023-04-11T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "linux/amd64",
}
_VERBS = ["get", "list", "patch", "watch"]


def document(path: str) -> Json | None:  # noqa: PLR0911 - one a path
    """Return what is served at a path of discovery; None where nothing is."""
    match path.strip("/").split("/"):
        case ["version"]:
            return VERSION
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": _groups()}
        case ["api", "v1"]:
            return _resources("v1", [kind for kind in KINDS if not kind.group])
        case ["apis", group]:
            return next((one for one in _groups() if one["name"] == group), None)
        case ["apis", group, version]:
            named = f"{group}/{version}"
            kinds = [kind for kind in KINDS if kind.group and kind.api_version == named]
            return _resources(named, kinds) if kinds else None
    return None


def _groups() -> list[Json]:
    versions = dict.fromkeys((kind.group, kind.version) for kind in KINDS if kind.group)
    return [
        {
            "kind": "APIGroup",
            "apiVersion": "v1",
            "name": group,
            "versions": [{"groupVersion": f"{group}/{version}", "version": version}],
            "preferredVersion": {"groupVersion": f"{group}/{version}", "version": version},
        }
        for group, version in versions
    ]


def _resources(named: str, kinds: list[Kind]) -> Json:
    rows = [
        {
            "name": kind.plural,
            "singularName": kind.kind.lower(),
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": _VERBS,
            **({"shortNames": list(kind.short)} if kind.short else {}),
        }
        for kind in kinds
    ]
    if named == "v1":
        rows.append(
            {
                "name": "pods/log",
                "singularName": "",
                "namespaced": True,
                "kind": "Pod",
                "verbs": ["get"],
            }
        )
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": named, "resources": rows}
