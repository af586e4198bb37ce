"""Foreign text that would ping, link, style or break out where nothing stops it."""

from __future__ import annotations

from hypothesis import strategies as st

LEAKED = "AKIAIOSFODNN7EXAMPLE"

#: Bits that mean something to Slack, Markdown, HTML, mail or a terminal.
BITS = [
    "<!channel>", "<!here>", "<!everyone>", "<@U024BE7LA>", "<#C024BE91L>", "<!subteam^S0614TZR8>",
    "@here", "@channel", "<https://evil.example|gpu-8>", "[gpu-8](https://evil.example)",
    "https://evil.example", "www.evil.example", "mailto:a@evil.example", "`", "```", "*bold*",
    "_it_", "~no~", "> quote", "# head", "- item", "1. item", "| a | b |", "<b>",
    "&amp;", "&lt;!channel&gt;", ":fire:", "\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad",
    "\0", "\r\n", "\n", "\t",
    "\x1b[31m", "\u2028", "\ud800", "=?utf-8?b?aGk=?=", "\nBcc: a@evil.example", "'\"", "\\",
    "<!date^0^{date}^https://evil.example|x>", "]]>", "<script>alert(1)</script>", "\u00e9",
    "\U0001f525", "<mailto:a@evil.example|x>", "![x](https://evil.example/x.png)", "***", "---",
    "<U024BE7LA>", "__x__", "~~x~~", "&#60;", "javascript:alert(1)", "    code", "\u3164", "\ufe0f",
]  # fmt: skip

FOREIGN = st.lists(st.sampled_from(BITS) | st.text(max_size=8), min_size=1, max_size=8).map("".join)
