"""Serve the page: its files, and the policy that keeps it to this server.

The page is made of text nodes alone and asks no other server for anything: the policy forbids
scripts, styles, pictures and requests from elsewhere, and making markup out of text
(www.w3.org/TR/CSP3, www.w3.org/TR/trusted-types).
"""

from __future__ import annotations

from importlib.resources import files

from aiohttp import web

#: What is served, and by whom: this server or nobody.
_DIRECTIVES = (
    ("default-src", "'none'"),
    ("script-src", "'self'"),
    ("style-src", "'self'"),
    ("img-src", "'self'"),
    ("connect-src", "'self'"),
    ("form-action", "'none'"),
    ("base-uri", "'none'"),
    ("frame-ancestors", "'none'"),
    ("require-trusted-types-for", "'script'"),
    ("trusted-types", "'none'"),
)
POLICY = "; ".join(f"{name} {allowed}" for name, allowed in _DIRECTIVES)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # A newer version of the page is seen at the next look.
    "Cache-Control": "no-cache",
}

#: What is served, by the ending of its name.
_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
_STATIC = files(__package__) / "static"


def routes() -> list[web.RouteDef]:
    """Return the page's addresses: `/` and its files below `/_page/`."""
    return [web.get("/", _index), web.get("/_page/{name}", _file)]


async def _index(request: web.Request) -> web.Response:
    del request
    return _served("index.html")


async def _file(request: web.Request) -> web.Response:
    return _served(request.match_info["name"])


def _served(name: str) -> web.Response:
    there = {one.name: one for one in _STATIC.iterdir() if one.is_file()}
    content_type = _TYPES.get(name.rpartition(".")[2])
    if name not in there or content_type is None:
        raise web.HTTPNotFound
    text = there[name].read_text(encoding="utf-8")
    return web.Response(text=text, content_type=content_type, charset="utf-8", headers=HEADERS)
