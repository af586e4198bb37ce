"""The paths that the product uses, as strict about parameters as the API's description allows."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from playground.crusoe.faults import json_reply, refused
from playground.crusoe.http1 import Reply, Request
from playground.crusoe.judge import Key
from playground.crusoe.world import ENDS_IN, Machine, World

PREFIX = "/v1"
PROJECT = f"{PREFIX}/projects/(?P<project>[^/]+)"
VMS = f"{PROJECT}/compute/vms/instances"

#: Members of a PATCH body; all but `action` belong to actions that the product never asks for.
PATCH_MEMBERS = frozenset(
    {
        "action",
        "type",
        "maintenance_policy",
        "network_interfaces",
        "host_channel_adapters",
        "reservation_id",
        "commitment_period",
    }
)
LIST_QUERY = frozenset(
    {
        "ids",
        "names",
        "types",
        "locations",
        "states",
        "nvlink_domain_ids",
        "limit",
        "sort",
        "next_token",
        "prev_token",
    }
)

INVALID_ACTION = json_reply(
    400,
    {
        "code": "bad_request",
        "message": "bad request, check request parameters: invalid action",
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request whose signature was good."""

    request: Request
    key: Key
    #: the parts of the path
    at: Mapping[str, str]
    query: Mapping[str, str]


#: Method, pattern of the path, parameters that it takes, what answers.
Route = tuple[str, str, AbstractSet[str], Callable[[Asked], Reply]]


@dataclass(kw_only=True)
class Api:
    """Answer signed requests from a world."""

    world: World
    #: VMs a page at most, whatever `limit` says
    page: int = 500
    #: whether `names` finds names that begin so: the description does not say that it is exact
    names_are_prefixes: bool = True

    def reply(self, request: Request, key: Key) -> Reply:
        """Return the answer to a request that was signed with this key."""
        self.world.settle()
        path, _, raw = request.target.partition("?")
        pairs = parse_qsl(raw, keep_blank_values=True)
        query = dict(pairs)
        for method, pattern, known, answer in self._routes():
            if (match := re.fullmatch(pattern, path)) and request.method == method:
                if len(query) != len(pairs) or not query.keys() <= known:
                    return refused(400)
                asked = Asked(request=request, key=key, at=match.groupdict(), query=query)
                if asked.at.get("project", "") not in ("", *self.world.projects):
                    return refused(403)
                return answer(asked)
        return refused(404)

    def _routes(self) -> tuple[Route, ...]:
        none: frozenset[str] = frozenset()
        return (
            ("GET", f"{PREFIX}/users/identities", none, self._identity),
            ("GET", f"{PREFIX}/organizations/projects", {"org_id", "project_name"}, self._projects),
            ("GET", VMS, LIST_QUERY, self._list),
            ("GET", f"{VMS}/operations", {"resource_id", "state", "lower_time_bound"}, self._works),
            ("GET", f"{VMS}/operations/(?P<operation>[^/]+)", none, self._work),
            ("GET", f"{VMS}/(?P<vm>[^/]+)", none, self._get),
            ("PATCH", f"{VMS}/(?P<vm>[^/]+)", none, self._patch),
        )

    def _identity(self, asked: Asked) -> Reply:
        user = asked.key.user
        identity = {"id": user, "name": user, "email": f"{user}@example.com", "role": "Admin"}
        return json_reply(200, {"identity": identity})

    def _projects(self, asked: Asked) -> Reply:
        wanted = asked.query.get("project_name", "")
        items = [
            {
                "id": project,
                "name": name,
                "organization_id": "org-1",
                "relation": "owner",
                "resources": {},
            }
            for project, name in self.world.projects.items()
            if wanted in ("", name)
        ]
        return json_reply(200, {"items": items})

    def _list(self, asked: Asked) -> Reply:
        try:
            limit = min(int(asked.query.get("limit") or self.page), self.page)
            first = _page_start(asked.query.get("next_token", ""))
        except ValueError:
            return refused(400)
        if limit < 1 or "prev_token" in asked.query:
            return refused(400)
        fitting = [m for m in self._machines(asked) if self._fits(m, asked.query)]
        rest = fitting[first + limit :]
        return json_reply(
            200,
            {
                "items": [machine.shown() for machine in fitting[first : first + limit]],
                "next_page_token": _token(first + limit) if rest else "",
                "prev_page_token": _token(max(first - limit, 0)) if first else "",
            },
        )

    def _fits(self, machine: Machine, query: Mapping[str, str]) -> bool:
        names = _words(query, "names")
        named = machine.name in names or (
            self.names_are_prefixes and machine.name.startswith(tuple(names))
        )
        shown = {
            "ids": machine.id,
            "types": machine.type,
            "locations": machine.location,
            "states": machine.state,
        }
        return (not names or named) and all(
            not query.get(key) or value in _words(query, key) for key, value in shown.items()
        )

    def _get(self, asked: Asked) -> Reply:
        machine = self._machine(asked)
        return refused(404) if machine is None else json_reply(200, machine.shown())

    def _patch(self, asked: Asked) -> Reply:
        if [v.partition(";")[0] for v in asked.request.header("content-type")] != [
            "application/json"
        ]:
            return refused(400)
        try:
            body = json.loads(asked.request.body)
        except ValueError:
            return refused(400)
        if not isinstance(body, dict) or not body.keys() <= PATCH_MEMBERS:
            return refused(400)
        if body.get("action") not in ENDS_IN:
            return INVALID_ACTION
        machine = self._machine(asked)
        if machine is None:
            return refused(404)
        work = self.world.begin(machine, body["action"], user=asked.key.user)
        return refused(409) if work is None else json_reply(200, {"operation": work.shown()})

    def _works(self, asked: Asked) -> Reply:
        """List what is in flight, and what has ended and was not asked for since."""
        vm, states = asked.query.get("resource_id"), _words(asked.query, "state")
        try:
            since = asked.query.get("lower_time_bound")
            bound = datetime.fromisoformat(since) if since else None
        except ValueError:
            return refused(400)
        items = [
            work.shown()
            for work in self.world.works.values()
            if work.vm.project == asked.at["project"]
            and not work.queried
            and vm in (None, work.vm.id)
            and (not states or work.state in states)
            and (bound is None or work.started_at >= bound)
        ]
        return json_reply(200, {"items": items})

    def _work(self, asked: Asked) -> Reply:
        work = self.world.works.get(asked.at["operation"])
        if work is None or work.user != asked.key.user or work.vm.project != asked.at["project"]:
            return refused(403)
        work.queried = work.completed_at is not None
        return json_reply(200, work.shown())

    def _machines(self, asked: Asked) -> list[Machine]:
        return [m for m in self.world.machines.values() if m.project == asked.at["project"]]

    def _machine(self, asked: Asked) -> Machine | None:
        return next((m for m in self._machines(asked) if m.id == asked.at["vm"].lower()), None)


def _words(query: Mapping[str, str], key: str) -> list[str]:
    return [word for word in query.get(key, "").split(",") if word]


def _token(place: int) -> str:
    return base64.urlsafe_b64encode(f"vm-{place}".encode()).decode().rstrip("=")


def _page_start(token: str) -> int:
    if not token:
        return 0
    text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    return int(text.removeprefix("vm-"))
