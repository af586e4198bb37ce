"""Foreign text stays text in every context, by the reader of that context where there is one."""

from __future__ import annotations

import re
import unicodedata
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.reports.slack import escaping
from tests.unit.reports.hostile import BITS, FOREIGN, LEAKED

#: Every escaper, as a function to text.
ESCAPERS = {
    "plain_text": escaping.plain_text,
    "mrkdwn": escaping.mrkdwn,
    "markdown": escaping.markdown,
    "rich": escaping.rich,
    "preformatted": escaping.preformatted,
    "file": lambda text: escaping.file(text).decode(),
    "file_name": escaping.file_name,
    "html": escaping.html_text,
    "mail_header": escaping.mail_header,
}
ONE_LINE = ("plain_text", "mrkdwn", "markdown", "rich", "file_name", "mail_header")
_KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    "MIIEpAIBAAKCAQEA04up8hoqzS1+APIB0RhjXyObwHQnOzhAk5Bd7mhkSbPkyhP1\n"
    "-----END RSA PRIVATE KEY-----"
)


@pytest.mark.parametrize("context", ESCAPERS)
@given(text=FOREIGN)
def test_every_character_can_be_seen(context: str, text: str) -> None:
    """No control, no mark that reorders or joins, no half of a pair is left in any context."""
    escaped = ESCAPERS[context](text)
    escaped.encode()
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not [c for c in escaped if c not in "\n\t" and unicodedata.category(c) in unseen]
    if context in ONE_LINE:
        assert "\n" not in escaped
        assert escaped.strip()


def test_all_of_unicode_that_is_not_seen_is_known() -> None:
    """The table of unseen characters misses none of this Python's Unicode."""
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    every = (chr(code) for code in range(0x110000))
    wanted = [c for c in every if unicodedata.category(c) in unseen and c not in "\n\t\r\x1b"]
    assert not [c for c in wanted if c in escaping.clean(f"a{c}b")]


@pytest.mark.parametrize("context", ESCAPERS)
@pytest.mark.parametrize(
    "text",
    [
        f"key={LEAKED} ",
        f"{LEAKED[:4]}\u200b{LEAKED[4:]}",
        f"{LEAKED[:4]}\x1b[1m{LEAKED[4:]}",
        f"{LEAKED[:9]}\u202e{LEAKED[9:]}",
        _KEY,
    ],
)
def test_secrets_are_taken_out_before_anything_is_escaped(context: str, text: str) -> None:
    """Also where unseen characters or colours stand in the middle of one."""
    escaped = ESCAPERS[context](text)
    assert LEAKED not in escaped
    assert "MIIEpAIBAAKCAQEA" not in escaped
    assert "redacted" in escaped


def test_a_name_with_an_unseen_mark_shows_it() -> None:
    """A zero-width mark in a host name is a cause of failed look-ups: nobody must miss it."""
    assert escaping.rich("gpu-1\u200b.internal") == f"gpu-1{escaping.MARK}.internal"


@given(FOREIGN)
@example("".join(BITS))
def test_mrkdwn_holds_no_token_and_no_style(text: str) -> None:
    """Slack's three characters are entities; marks of styles, links and emoji are likenesses."""
    escaped = escaping.mrkdwn(text)
    assert not {"<", ">", "*", "~", "`", "@"} & set(escaped)
    assert not re.search(r"&(?!(?:amp|lt|gt);)", escaped)
    assert not re.search(r"(?<!\w)_|_(?!\w)", escaped)
    assert not re.search(r"(?i)://|mailto:|tel:", escaped)
    assert not re.search(r":[\w+'-]*[a-z][\w+'-]*:", escaped)
    assert not escaped.startswith("&gt;")


@pytest.mark.parametrize(
    "text", ["gpu-8 my_host_name", "10:00:00", "10.0.0.1:29500", "a & b", "é", "3 of 4"]
)
def test_what_a_diagnosis_consists_of_stays_readable(text: str) -> None:
    """Names, times and addresses can be copied out of every context."""
    assert escaping.mrkdwn(text).replace("&amp;", "&") == text
    assert escaping.rich(text) == text
    assert escaping.plain_text(text) == text


@given(FOREIGN)
@example("".join(BITS))
def test_markdown_is_one_paragraph_of_text(text: str) -> None:
    """A CommonMark reader with tables, strikethrough and linkifying sees nothing but the text."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = reader.parse(f"Said: {escaping.markdown(text)}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    kinds = {token.type for token in tokens[1].children or ()}
    assert kinds <= {"text", "text_special"}
    shown = "".join(token.content for token in tokens[1].children or ())
    assert "://" not in shown
    assert "www." not in shown.lower()


@given(FOREIGN)
def test_markdown_says_what_the_text_says(text: str) -> None:
    """Nothing but links, mentions and unseen marks is changed for a reader."""
    tokens = MarkdownIt("commonmark").parse(f"x{escaping.markdown(text)}")
    shown = "".join(token.content for token in tokens[1].children or ())
    same = str.maketrans({"\N{RATIO}": ":", "\N{FULLWIDTH COMMERCIAL AT}": "@"})
    plain = shown[1:].translate(same).replace("\N{ONE DOT LEADER}", ".")
    assert plain == escaping.one_line(text).translate(same).replace("\N{ONE DOT LEADER}", ".")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[str] = []
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(f"{tag} {attrs}")

    def handle_comment(self, data: str) -> None:
        self.seen.append(data)

    def handle_decl(self, decl: str) -> None:
        self.seen.append(decl)

    def handle_data(self, data: str) -> None:
        self.said += data


@given(FOREIGN)
@example("".join(BITS))
def test_html_is_text_and_an_attribute_stays_closed(text: str) -> None:
    """An HTML reader sees the one tag around it, and the text as it was."""
    reader = _Reader()
    escaped = escaping.html_text(text)
    reader.feed(f'<p title="{escaped}">{escaped}</p>')
    reader.close()
    assert len(reader.seen) == 1
    assert reader.said == escaping.clean(text)


@given(FOREIGN)
@example("".join(BITS))
def test_a_mail_header_is_one_header(text: str) -> None:
    """A mail reader finds one subject and no other header, and decodes nothing in it."""
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"] = escaping.mail_header(text)
    mail.set_content("body")
    back = message_from_bytes(mail.as_bytes(), policy=policy.SMTP)
    names = {"subject", "content-type", "content-transfer-encoding", "mime-version"}
    assert {name.lower() for name in back} == names
    assert str(back["Subject"]).split() == escaping.mail_header(text).split()
    assert "=?" not in escaping.mail_header(text)


def test_a_mail_header_is_short() -> None:
    """A subject of any length leaves a subject that can be read."""
    assert len(escaping.mail_header("x" * 5000)) < 210


@given(st.text())
def test_a_file_name_names_one_file_here(text: str) -> None:
    """No folder, nothing hidden, nothing empty, nothing that a shell would read."""
    name = escaping.file_name(text)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", name)


@given(FOREIGN)
def test_a_file_keeps_its_lines(text: str) -> None:
    """A line of the text is a line of the file, ended by a line feed."""
    content = escaping.file(text)
    assert content.endswith(b"\n")
    assert b"\r" not in content


@pytest.mark.parametrize("context", ESCAPERS)
def test_an_empty_text_is_shown_as_one(context: str) -> None:
    """Slack refuses an empty text, so something stands there."""
    if context not in {"html", "file"}:
        assert ESCAPERS[context]("")
        assert ESCAPERS[context](" \n\0"[:2])


@given(st.lists(FOREIGN, min_size=1, max_size=6))
@example(["a\rb", "\x1b]0;c", "\x07", "\r\n", "-----BEGIN RSA PRIVATE KEY-----"])
def test_lines_that_are_cleaned_together_stay_as_many(texts: list[str]) -> None:
    """A line keeps its number whatever it holds, also where an escape sequence never ends."""
    assert len(escaping.clean_lines(texts)) == len(texts)


@pytest.mark.parametrize("context", ESCAPERS)
@pytest.mark.parametrize("bit", [":", ":a", "a", "_", "<", "&", "\\", "`", "\x1b]", "@", "www."])
def test_no_text_is_long_enough_to_hold_the_bot_up(context: str, bit: str) -> None:
    """Time grows with the length alone; its square would run into the test's time-out."""
    assert ESCAPERS[context](f":{bit * 300_000}")


@given(st.lists(FOREIGN, min_size=1, max_size=6))
def test_labels_of_a_menu_are_escaped_like_single_ones(texts: list[str]) -> None:
    """Only secrets of several lines are looked for in all of them together."""
    for label in escaping.plain_texts(texts):
        assert label == escaping.plain_text(label)
