"""Read markdown blocks, so that the page makes elements of a fixed list of tags and of texts.

Markup inside markdown stays text, as in Slack (docs.slack.dev/reference/block-kit/blocks/
markdown-block); a picture becomes a link to it.
"""

from __future__ import annotations

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

Tree = list[dict[str, Any]]

#: Kind of node with a text of its own → the tag around it.
_TEXTS = {
    "text": "",
    "html_inline": "",
    "html_block": "",
    "code_inline": "code",
    "fence": "pre",
    "code_block": "pre",
}
#: Kind of node that leads elsewhere → the attribute that says where.
_LINKS = {"link": "href", "image": "src"}


def tree(text: str) -> Tree:
    """Return the nodes of a text: `{text}`, `{tag, children}` or `{href, children}`."""
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return _children(SyntaxTreeNode(reader.parse(text)))


def _children(node: SyntaxTreeNode) -> Tree:
    return [one for child in node.children for one in _node(child)]


def _node(node: SyntaxTreeNode) -> Tree:
    if node.type in _TEXTS:
        if not node.content:
            return []
        return _around(_TEXTS[node.type], [{"text": node.content.removesuffix("\n")}])
    if node.type == "softbreak":
        return [{"tag": "br"}]
    inside = _children(node)
    if node.type in _LINKS:
        to = str(node.attrs[_LINKS[node.type]])
        return [{"href": to, "children": inside or [{"text": to}]}]
    return _around({"s": "del"}.get(node.tag, node.tag), inside)


def _around(tag: str, inside: Tree) -> Tree:
    """Return nodes in a tag; the parser wraps texts in some without one."""
    return [{"tag": tag, "children": inside}] if tag else inside
