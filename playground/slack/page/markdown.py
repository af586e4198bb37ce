"""Read markdown blocks, so that the page makes elements of a fixed list of tags and of texts.

Markup inside markdown stays text, as in Slack (docs.slack.dev/reference/block-kit/blocks/
markdown-block); a picture becomes a link to it.
"""

from __future__ import annotations

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

Tree = list[dict[str, Any]]

_TEXTS = ("text", "code_inline", "html_inline", "html_block")
_CODES = ("fence", "code_block")


def tree(text: str) -> Tree:
    """Return the nodes of a text: `{text}`, `{tag, children}` or `{href, children}`."""
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return _children(SyntaxTreeNode(reader.parse(text)))


def _children(node: SyntaxTreeNode) -> Tree:
    return [one for child in node.children for one in _node(child)]


def _node(node: SyntaxTreeNode) -> Tree:
    if node.type == "code_inline":
        return [{"tag": "code", "children": [{"text": node.content}]}]
    if node.type in _CODES:
        return [{"tag": "pre", "children": [{"text": node.content.removesuffix("\n")}]}]
    if node.type in _TEXTS:
        return [{"text": node.content}]
    if node.type == "softbreak":
        return [{"tag": "br"}]
    if node.type == "image":
        label = [{"text": node.content or str(node.attrs["src"])}]
        return [{"href": str(node.attrs["src"]), "children": label}]
    if node.type == "link":
        return [{"href": str(node.attrs["href"]), "children": _children(node)}]
    inside = _children(node)
    tag = {"s": "del"}.get(node.tag, node.tag)
    # The parser wraps texts in nodes without a tag.
    return [{"tag": tag, "children": inside}] if tag else inside
