"""Prove how the page is served, and how its markdown is read."""

from __future__ import annotations

import aiohttp
import pytest

from playground.slack.page import markdown
from playground.slack.page.guide import Guide, Step
from playground.slack.page.serving import POLICY
from playground.slack.server import SlackServer, running
from tests.behaviour.slack_playground.apps import listening

pytestmark = pytest.mark.anyio


async def test_the_page_is_served_with_its_policy(slack: SlackServer) -> None:
    """Each file of the page forbids what is not this server's; other files are not served."""
    async with aiohttp.ClientSession(base_url=slack.base_url) as session:
        for path, kind in (("/", "text/html"), ("/_page/main.js", "text/javascript")):
            async with session.get(path) as answer:
                assert answer.status == 200
                assert answer.content_type == kind
                assert answer.headers["Content-Security-Policy"] == POLICY
        for path in ("/_page/serving.py", "/_page/..%2Fserving.py", "/_page/none.js"):
            async with session.get(path) as answer:
                assert answer.status == 404


async def test_the_state_says_whether_anybody_would_answer(slack: SlackServer) -> None:
    """A page can tell an app that is connected from one that is not, and is told of the change."""
    async with aiohttp.ClientSession(base_url=slack.base_url) as session:

        async def reachable() -> object:
            async with session.get("/_play/state?as=ada") as answer:
                return (await answer.json())["reachable"]

        assert await reachable() is False
        with slack.world.feed.watching() as changes:
            async with listening(slack):
                assert await reachable() is True
                assert changes.get_nowait()["kind"] == "app"
    async with running(request_url="http://127.0.0.1:9/slack/events") as by_http:
        assert by_http.play.by_http is True


async def test_the_state_has_the_guide() -> None:
    """The steps stand in the state as they were given."""
    guide = Guide(line="/nccl-dns 1", steps=(Step(text="Press Enter.", done="said"),))
    async with (
        running(guide=guide) as slack,
        aiohttp.ClientSession(slack.base_url) as session,
        session.get("/_play/state?as=ada") as answer,
    ):
        shown = (await answer.json())["guide"]
    assert shown == {"line": "/nccl-dns 1", "steps": [{"text": "Press Enter.", "done": "said"}]}


async def test_another_site_cannot_act(slack: SlackServer) -> None:
    """Neither another origin nor a name that leads here may act: whoever acts needs no password."""
    said = {"as": "ada", "channel": "training-oncall", "text": "hello"}
    named = f"evil.example:{slack.port}"
    strange: tuple[dict[str, str], ...] = (
        {"Origin": "http://evil.example"},
        {"Origin": f"http://{named}", "Host": named},
    )
    async with aiohttp.ClientSession(base_url=slack.base_url) as session:
        for headers in strange:
            async with session.post("/_play/message", json=said, headers=headers) as answer:
                assert answer.status == 403
    assert not slack.channel("training-oncall").messages


MARKDOWN = (
    ("**b** ~~s~~", [{"tag": "strong", "children": [{"text": "b"}]}, {"text": " "},
                     {"tag": "del", "children": [{"text": "s"}]}]),
    ("`c`", [{"tag": "code", "children": [{"text": "c"}]}]),
    ("<b>x</b>", [{"text": "<b>x</b>"}]),
    ("a\nb", [{"text": "a"}, {"tag": "br"}, {"text": "b"}]),
    ("[t](https://example.com/a)", [{"href": "https://example.com/a",
                                     "children": [{"text": "t"}]}]),
    ("![alt](https://example.com/a.png)", [{"href": "https://example.com/a.png",
                                            "children": [{"text": "alt"}]}]),
    ("[t](javascript:alert(1))", [{"text": "[t](javascript:alert(1))"}]),
)  # fmt: skip


@pytest.mark.parametrize(("text", "inside"), MARKDOWN)
def test_markdown_in_a_line(text: str, inside: list[object]) -> None:
    """Styles, code and links become nodes; markup and a script's address stay text."""
    assert markdown.tree(text) == [{"tag": "p", "children": inside}]


def test_markdown_blocks() -> None:
    """A heading, a fence, a list and a table become their elements."""
    read = markdown.tree("# h\n\n```py\nx < 1\n```\n\n- a\n\n|k|\n|-|\n|v|")
    assert [one["tag"] for one in read] == ["h1", "pre", "ul", "table"]
    assert read[1]["children"] == [{"text": "x < 1"}]
