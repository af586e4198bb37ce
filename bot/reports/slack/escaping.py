"""Make foreign text fit for each place that it is shown in: redacted first, then escaped.

Foreign is whatever a log, a job, a cloud, a machine or a person wrote. In none of these places can
it ping, link, style or break out of where it was put.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache

from bot.diagnosis.peeling import strip_ansi
from bot.diagnosis.redact import redact

#: Stands where a character was that nobody would have seen.
MARK = "\N{REPLACEMENT CHARACTER}"
#: Shown where there is nothing to show: Slack refuses empty texts.
NOTHING = "–"

#: What is drawn as nothing, or reorders what stands around it (tabs and line feeds stay).
_UNSEEN = re.compile(
    "["
    # controls, format marks (UAX 9's among them), line separators, halves of surrogate pairs:
    # the general categories Cc, Cf, Zl, Zp and Cs
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb\U000110bd"
    "\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    # letters and marks that Unicode's Default_Ignorable_Code_Point and blank symbols add
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff"
    "]"
)
_NEWLINE = re.compile(r"\r\n?")
_LINE_END = re.compile(r"[\r\n]+")
_SPACE = re.compile(r"\s+")
#: Characters of a text that is worth remembering.
_SHORT = 300


def clean(text: str) -> str:
    """Return a text without secrets, in which every character is one that can be seen.

    Line ends and tabs stay. A secret that unseen characters were meant to hide is found, too.
    """
    return _cleaned_before(text) if len(text) <= _SHORT else _cleaned(text)


@lru_cache(maxsize=4096)
def _cleaned_before(text: str) -> str:
    # names, states and sentences come again with each edit and in each list
    return _cleaned(text)


def _cleaned(text: str) -> str:
    text = _NEWLINE.sub("\n", strip_ansi(text))
    known = redact(_UNSEEN.sub(MARK, text))
    if MARK not in known.text:
        return known.text
    bare = redact(_UNSEEN.sub("", text))
    found, seen = sum(bare.counts.values()), sum(known.counts.values())
    return bare.text if found > seen else known.text


def clean_lines(texts: Iterable[str]) -> list[str]:
    """Return as many lines as given, cleaned together: a private key has several."""
    rows = [_LINE_END.sub(" ", strip_ansi(text)).replace("\x1b", MARK) for text in texts]
    return clean("\n".join(rows)).split("\n") if rows else []


def one_line(text: str) -> str:
    """Return a clean text in one line; `–` for an empty one."""
    return _in_one_line(clean(text))


def _in_one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip() or NOTHING


#: Read as no markup, replaced all the same for whatever turns a label into a notification.
_ANGLES = str.maketrans(
    {
        "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
        ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
    }
)


def plain_text(text: str) -> str:
    """Escape for a `plain_text` object: labels, headers, menus, titles.

    Emoji codes are switched off by the object's `emoji: false`.
    """
    return one_line(text).translate(_ANGLES)


def plain_texts(texts: Iterable[str]) -> list[str]:
    """Escape many labels, such as a menu's, in a tenth of the time that each alone would take."""
    return [_in_one_line(each).translate(_ANGLES) for each in clean_lines(texts)]


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: What mrkdwn cannot escape is replaced by its likeness: styles, mentions, links, emoji, quotes.
_LIKENESSES = (
    (re.compile(r"^>"), "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"),
    (re.compile(r"\*"), "\N{ASTERISK OPERATOR}"),
    (re.compile(r"~"), "\N{TILDE OPERATOR}"),
    (re.compile(r"`"), "\N{MODIFIER LETTER GRAVE ACCENT}"),
    (re.compile(r"_(?:(?![^\W_])|(?<![^\W_]_))"), "\N{MODIFIER LETTER LOW MACRON}"),
    (re.compile(r"@"), "\N{FULLWIDTH COMMERCIAL AT}"),
    (re.compile(r"#(?=\w)"), "\N{FULLWIDTH NUMBER SIGN}"),
    (re.compile(r":(?:(?=//)|(?<=mailto:)|(?<=tel:))", re.IGNORECASE), "\N{RATIO}"),
    # a code has at most 100 characters; a bound keeps long words from costing their square
    (re.compile(r":(?=(?:(?=[\w+'-]{0,99}[^\W\d])[\w+'-]{1,100}|100|1234):)"), "\N{RATIO}"),
)


def mrkdwn(text: str) -> str:
    """Escape for a `mrkdwn` object and for the `text` that notifications and screen readers use.

    https://docs.slack.dev/messaging/formatting-message-text: three characters are escaped as
    entities; for the marks of styles there is no escape.
    """
    text = one_line(text)
    for mark, likeness in _LIKENESSES:
        text = mark.sub(likeness, text)
    return re.sub("[&<>]", lambda found: _ENTITIES[found[0]], text)


_WWW = re.compile(r"(www)\.", re.IGNORECASE)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def markdown(text: str) -> str:
    """Escape for a `markdown` block, by CommonMark's backslashes and entities.

    https://spec.commonmark.org/0.31.2/#backslash-escapes
    """
    text = one_line(text).replace("://", "\N{RATIO}//").replace("@", "\N{FULLWIDTH COMMERCIAL AT}")
    text = _WWW.sub("\\1\N{ONE DOT LEADER}", text)
    return _PUNCTUATION.sub(lambda found: _ENTITIES.get(found[1], "\\" + found[1]), text)


def rich(text: str) -> str:
    """Escape for a `text` element of rich text, which is shown as it is: one line of it."""
    return one_line(text)


def preformatted(text: str) -> str:
    """Escape for preformatted rich text and for table cells: lines and tabs stay."""
    return clean(text).strip("\n") or NOTHING


def file(text: str) -> bytes:
    """Escape for the content of a text file: UTF-8, lines ended by a line feed."""
    text = clean(text)
    return (text if text.endswith("\n") else text + "\n").encode()


_NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 100


def file_name(text: str) -> str:
    """Escape for a file's name: letters, digits, `._-`; no folder, never hidden, never empty."""
    name = _NOT_A_NAME.sub("-", one_line(text)).strip(".-")
    return name[-_LONGEST_NAME:].lstrip(".-") or "attachment"


def html_text(text: str) -> str:
    """Escape for HTML, as text or as a quoted attribute's value; lines stay."""
    return html.escape(clean(text), quote=True)


_LONGEST_HEADER = 200


def mail_header(text: str) -> str:
    """Escape for the value of a mail header: one short line, nothing that reads as encoded.

    RFC 5322 ends a header at a line end; RFC 2047 reads `=?…?=` as encoded words.
    """
    line = one_line(text).replace("=?", "=\N{FULLWIDTH QUESTION MARK}")
    return line if len(line) <= _LONGEST_HEADER else line[:_LONGEST_HEADER].rstrip() + " …"
