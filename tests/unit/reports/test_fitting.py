"""What is too long for Slack is cut where it can be read, and attached whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models import blocks as sdk
from slack_sdk.models.blocks.block_elements import FileInputElement
from slack_sdk.models.views import View as SdkView

from bot.reports import limits
from bot.reports.errors import UnsendableError
from bot.reports.limits import Unit, length
from bot.reports.slack import cutting, fitting
from bot.reports.slack.message import Message
from bot.reports.slack.parts import lines, table
from tests.unit.reports.judge import judge

PLAIN = sdk.PlainTextObject
MARK = "… (whole text attached)"


def section(text: str) -> sdk.Block:
    """Return a section of plain text."""
    return sdk.SectionBlock(block_id="part.1", text=PLAIN(text=text, emoji=False))


def context(text: str) -> sdk.Block:
    """Return a context of one text."""
    return sdk.ContextBlock(block_id="part.1", elements=[PLAIN(text=text, emoji=False)])


def label(text: str) -> sdk.Block:
    """Return a button with a label."""
    made = sdk.ButtonElement(action_id="a", value="id", text=PLAIN(text=text, emoji=False))
    return sdk.ActionsBlock(block_id="part.1", elements=[made])


def entry(text: str) -> sdk.Block:
    """Return a menu of one entry."""
    options = [sdk.Option(value="id", text=PLAIN(text=text, emoji=False))]
    made = sdk.StaticSelectElement(
        action_id="a", placeholder=PLAIN(text="Pick", emoji=False), options=options
    )
    return sdk.ActionsBlock(block_id="part.1", elements=[made])


def header(text: str) -> sdk.Block:
    """Return a header."""
    return sdk.HeaderBlock(block_id="part.1", text=PLAIN(text=text, emoji=False))


def rich(text: str) -> sdk.Block:
    """Return rich text of one text."""
    part = sdk.RichTextElementParts.Text(text=text)
    made = sdk.RichTextSectionElement(elements=[part])
    return sdk.RichTextBlock(block_id="part.1", elements=[made])


def markdown(text: str) -> sdk.Block:
    """Return a markdown block."""
    return sdk.MarkdownBlock(text=text)


TEXTS: list[tuple[Callable[[str], sdk.Block], int]] = [
    (section, 3000),
    (context, 3000),
    (header, 150),
    (label, 75),
    (entry, 75),
    (rich, 3000),
    (markdown, 12_000),
]


@pytest.mark.parametrize(("block", "most"), TEXTS)
def test_a_text_at_its_limit_is_left_alone(block: Callable[[str], sdk.Block], most: int) -> None:
    """The longest text that Slack takes is sent as it is."""
    made = fitting.message(blocks=[block("x" * most)], text="said")
    judge(made)
    assert "x" * most in json.dumps(made.blocks)
    assert made.attachments == ()


@pytest.mark.parametrize(("block", "most"), TEXTS)
def test_a_text_over_its_limit_is_cut_and_attached(
    block: Callable[[str], sdk.Block], most: int
) -> None:
    """One character more: cut, marked, and whole in a file."""
    whole = "x" * (most + 1)
    made = fitting.message(blocks=[block(whole)], text="said")
    judge(made)
    shown = json.dumps(made.blocks, ensure_ascii=False)
    assert whole not in shown
    assert (MARK if most > 200 else "…") in shown
    assert [whole in each.content.decode() for each in made.attachments] == [True]
    assert [each.name.endswith(".txt") for each in made.attachments] == [True]


@pytest.mark.parametrize("block", [row[0] for row in TEXTS])
@pytest.mark.parametrize("char", ["\U0001f525", "é", '"', "\\", "\n"])
def test_every_way_to_count_characters_is_kept(
    block: Callable[[str], sdk.Block], char: str
) -> None:
    """Emoji count double, as in the code units of JavaScript; none is cut in half."""
    made = fitting.message(blocks=[block(f"a{char * 13_000}")], text="said")
    judge(made)
    assert limits.length(json.dumps(made.blocks, ensure_ascii=False)) < 13_100
    json.dumps(made.blocks, ensure_ascii=False).encode()


def test_a_cut_falls_between_words() -> None:
    """The end of a line or a word within reach is where a text is cut."""
    made = fitting.message(blocks=[section("word " * 700)], text="said")
    assert made.blocks[0]["text"]["text"].endswith(f"word {MARK}")


@pytest.mark.parametrize("token", ["<https://a.example/page|the page>", "&amp;", "<@U024BE7LH>"])
@given(before=st.integers(2900, 3000))
def test_no_token_is_cut_through(token: str, before: int) -> None:
    """Half a link or half an entity would be shown as rubbish, or swallow what follows."""
    cut = cutting.cut(f"{'x' * before}{token}{'y' * 200}", 3000)
    rest = cut.replace(token, "")
    assert length(cut) <= 3000
    assert not {"<", ">", "&", "|"} & set(rest)


@given(st.text(min_size=1, max_size=300), st.integers(24, 280))
def test_a_cut_text_is_never_too_long(text: str, most: int) -> None:
    """Whatever it is made of."""
    assert length(cutting.cut(text, most)) <= most


@pytest.mark.parametrize(("count", "left"), [(50, 50), (51, 50), (120, 50)])
def test_no_message_has_more_than_fifty_blocks(count: int, left: int) -> None:
    """Blocks that do not fit are in a file, in their order, and the message says so."""
    blocks = [
        sdk.SectionBlock(block_id=f"b{n}.1", text=PLAIN(text=f"part {n};", emoji=False))
        for n in range(count)
    ]
    made = fitting.message(blocks=blocks, text="said")
    judge(made)
    assert len(made.blocks) == left
    files = "".join(each.content.decode() for each in made.attachments)
    shown = json.dumps(made.blocks)
    assert [n for n in range(count) if f"part {n};" not in shown + files] == []
    if count > 50:
        assert MARK in json.dumps(made.blocks[-1], ensure_ascii=False)
        missing = [files.index(f"part {n};") for n in range(count) if f"part {n};" in files]
        assert missing == sorted(missing)


def test_controls_stay_whatever_else_goes() -> None:
    """A report that is too long still has its buttons."""
    blocks = [
        sdk.SectionBlock(block_id=f"b{n}.1", text=PLAIN(text="x" * 2000, emoji=False))
        for n in range(60)
    ]
    made = fitting.message(blocks=[*blocks, label("Restart")], text="said")
    judge(made)
    assert "Restart" in json.dumps(made.blocks)


def test_all_blocks_together_stay_below_what_slack_was_seen_to_refuse() -> None:
    """Each block fits, all of them do not: the longest give way, and no block is lost."""
    parts: Sequence[sdk.Block] = [
        sdk.SectionBlock(block_id=f"b{n}.1", text=PLAIN(text=f"{n}" * 2900, emoji=False))
        for n in range(8)
    ]
    made = fitting.message(blocks=parts, text="said")
    judge(made)
    assert len(made.blocks) == 8
    files = "".join(each.content.decode() for each in made.attachments)
    cut = [n for n in range(8) if f"{n}" * 2900 not in json.dumps(made.blocks)]
    assert cut
    assert [n for n in cut if f"{n}" * 2900 not in files] == []


def test_several_markdown_blocks_share_one_limit() -> None:
    """12,000 characters are for all of them together."""
    made = fitting.message(blocks=[markdown("a" * 7000), markdown("b" * 7000)], text="said")
    judge(made)
    assert "b" * 7000 in "".join(each.content.decode() for each in made.attachments)


@pytest.mark.parametrize(("rows", "width"), [(100, 3), (101, 3), (400, 2), (3, 20), (3, 25)])
def test_tables_keep_their_head_and_say_where_they_end(rows: int, width: int) -> None:
    """100 rows of 20 cells; the whole table is attached as lines of tabs."""
    cells = [[f"{row}/{cell}" for cell in range(width)] for row in range(rows)]
    made = fitting.message(blocks=[table("t.1", cells)], text="said")
    judge(made)
    assert made.blocks[0]["rows"][0][0]["text"] == "0/0"
    assert bool(made.attachments) == (rows > 100 or width > 20)
    if made.attachments:
        assert f"{rows - 1}/{width - 1}" in made.attachments[0].content.decode()


def test_the_cells_of_a_table_share_ten_thousand_characters() -> None:
    """Rows give way from the end; two long rows alone are cut in their cells."""
    many = table("t.1", [["x" * 500, "y" * 500] for _ in range(30)])
    two = table("t.1", [["x" * 9000, "y" * 9000], ["z" * 9000, "w"]])
    for block in (many, two):
        made = fitting.message(blocks=[block], text="said")
        judge(made)
        assert MARK in json.dumps(made.blocks, ensure_ascii=False)
        assert made.attachments


def test_a_message_has_one_table() -> None:
    """Slack refuses a second one, so it goes into the file."""
    two = [table(f"t{n}.1", [[f"head {n}", "b"], ["c", "d"]]) for n in range(2)]
    made = fitting.message(blocks=two, text="said")
    judge(made)
    assert [block["type"] for block in made.blocks] == ["table", "context"]
    assert "head 1" in made.attachments[0].content.decode()


@pytest.mark.parametrize("owner", ["overflow", "select"])
def test_a_menu_takes_as_many_entries_as_slack_takes(owner: str) -> None:
    """The rest is in the file."""
    options = [
        sdk.Option(value=f"v{n}", text=PLAIN(text=f"entry {n};", emoji=False)) for n in range(130)
    ]
    element = (
        sdk.OverflowMenuElement(action_id="a", options=options)
        if owner == "overflow"
        else sdk.StaticSelectElement(
            action_id="a", placeholder=PLAIN(text="Pick", emoji=False), options=options
        )
    )
    made = fitting.message(
        blocks=[sdk.ActionsBlock(block_id="menu.1", elements=[element])], text="said"
    )
    judge(made)
    assert "entry 129;" in made.attachments[0].content.decode()


@pytest.mark.parametrize("char", ["x", "é", "\U0001f525"])
def test_the_text_beside_the_blocks_has_its_own_limit(char: str) -> None:
    """4,000 bytes, as `chat.update` counts; the whole is attached."""
    made = fitting.message(blocks=[section("short")], text=char * 5000)
    judge(made)
    assert char * 5000 in made.attachments[0].content.decode()


def test_a_message_without_a_text_gets_that_of_its_blocks() -> None:
    """A screen reader never meets an empty message."""
    made = fitting.message(blocks=[header("gpu-8: <resolver> failed")])
    assert made.text == "gpu-8: &lt;resolver&gt; failed"


def _with_ids(block_id: str = "b", action_id: str = "a", value: str = "v") -> Message:
    button = sdk.ButtonElement(action_id=action_id, value=value, text=PLAIN(text="B", emoji=False))
    block = sdk.ActionsBlock(block_id=block_id, elements=[button])
    return fitting.message(blocks=[block], text="said")


@pytest.mark.parametrize(
    ("field", "most"), [("block_id", 255), ("action_id", 255), ("value", 2000)]
)
def test_an_id_is_never_cut(field: str, most: int) -> None:
    """A cut id would name something else: one that is too long is our mistake, and says so."""
    judge(_with_ids(**{field: "x" * most}))
    with pytest.raises(UnsendableError, match=rf"{most + 1} characters, Slack takes {most}"):
        _with_ids(**{field: "x" * (most + 1)})


def test_ids_are_unique() -> None:
    """Slack refuses two blocks, or two controls of one block, of one id."""
    with pytest.raises(UnsendableError, match=r"'part\.1' stands twice"):
        fitting.message(blocks=[section("a"), section("b")], text="said")
    buttons = [
        sdk.ButtonElement(action_id="same", value="v", text=PLAIN(text="B", emoji=False))
        for _ in range(2)
    ]
    with pytest.raises(UnsendableError, match="'same' stands twice"):
        fitting.message(blocks=[sdk.ActionsBlock(block_id="b", elements=buttons)], text="said")


def test_metadata_holds_ids_not_data() -> None:
    """8,000 bytes: more is refused here, not by Slack in the night."""
    made = fitting.message(blocks=[section("a")], text="said", about={"incident": "i"})
    assert made.of_row("row_1").metadata["event_payload"] == {"incident": "i", "row": "row_1"}
    with pytest.raises(UnsendableError, match="metadata of a message has 9"):
        fitting.message(blocks=[section("a")], text="said", about={"incident": "x" * 9000})


def test_too_many_controls_are_refused_with_a_sentence() -> None:
    """Nothing is dropped in silence: a message of controls alone cannot be made smaller."""
    many = [
        sdk.ActionsBlock(
            block_id=f"b{n}",
            elements=[
                sdk.ButtonElement(action_id="a", value="v", text=PLAIN(text="B", emoji=False))
            ],
        )
        for n in range(51)
    ]
    with pytest.raises(UnsendableError, match="show fewer choices"):
        fitting.message(blocks=many, text="said")


@pytest.mark.parametrize(("count", "fits"), [(100, True), (101, False)])
def test_a_view_has_a_hundred_blocks(count: int, fits: bool) -> None:  # noqa: FBT001
    """What does not fit is handed to the caller, since a view takes no files."""
    blocks = [
        sdk.SectionBlock(block_id=f"b{n}", text=PLAIN(text=f"part {n};", emoji=False))
        for n in range(count)
    ]
    made = fitting.home(blocks=blocks)
    judge(made)
    assert (made.attachments == ()) is fits


@pytest.mark.parametrize(("size", "fits"), [(24, True), (25, False)])
def test_a_modal_has_short_labels(size: int, fits: bool) -> None:  # noqa: FBT001
    """Title and buttons of a modal have 24 characters."""
    made = fitting.modal(
        blocks=[section("a")],
        title="t" * size,
        submit="s" * size,
        close="c" * size,
        callback_id="x",
    )
    judge(made)
    assert (made.attachments == ()) is fits


def test_a_view_stays_below_its_size() -> None:
    """250 kB, counted in bytes of the whole view."""
    blocks = [lines(f"b{n}", *[(_text(f"{n}" * 2900),)]) for n in range(100)]
    judge(fitting.home(blocks=blocks))


def _text(text: str) -> sdk.RichTextElement:
    return sdk.RichTextElementParts.Text(text=f"\U0001f525{text}")


#: What the SDK itself knows of Slack's limits.
SDK_KNOWS = [
    ("header.text", Unit.CHARACTERS, sdk.HeaderBlock.text_max_length),
    ("section.text", Unit.CHARACTERS, sdk.SectionBlock.text_max_length),
    ("section.fields", Unit.ITEMS, sdk.SectionBlock.fields_max_length),
    ("context.elements", Unit.ITEMS, sdk.ContextBlock.elements_max_length),
    ("actions.elements", Unit.ITEMS, sdk.ActionsBlock.elements_max_length),
    ("input.label", Unit.CHARACTERS, sdk.InputBlock.label_max_length),
    ("input.hint", Unit.CHARACTERS, sdk.InputBlock.hint_max_length),
    ("markdown.text", Unit.CHARACTERS, sdk.MarkdownBlock.text_max_length),
    ("button.text", Unit.CHARACTERS, sdk.ButtonElement.text_max_length),
    ("button.value", Unit.CHARACTERS, sdk.ButtonElement.value_max_length),
    ("any.url", Unit.CHARACTERS, sdk.ButtonElement.url_max_length),
    ("overflow.options", Unit.ITEMS, sdk.OverflowMenuElement.options_max_length),
    ("static_select.options", Unit.ITEMS, sdk.StaticSelectElement.options_max_length),
    ("static_select.option_groups", Unit.ITEMS, sdk.StaticSelectElement.option_groups_max_length),
    ("any.placeholder", Unit.CHARACTERS, sdk.StaticSelectElement.placeholder_max_length),
    ("option.text", Unit.CHARACTERS, sdk.Option.label_max_length),
    ("option.value", Unit.CHARACTERS, sdk.Option.value_max_length),
    ("option group.label", Unit.CHARACTERS, sdk.OptionGroup.label_max_length),
    ("option group.options", Unit.ITEMS, sdk.OptionGroup.options_max_length),
    ("modal.title", Unit.CHARACTERS, SdkView.title_max_length),
    ("modal.submit", Unit.CHARACTERS, SdkView.submit_max_length),
    ("modal.close", Unit.CHARACTERS, SdkView.close_max_length),
    ("modal.blocks", Unit.ITEMS, SdkView.blocks_max_length),
    ("modal.private_metadata", Unit.CHARACTERS, SdkView.private_metadata_max_length),
    ("modal.callback_id", Unit.CHARACTERS, SdkView.callback_id_max_length),
]


@pytest.mark.parametrize(("where", "unit", "known"), SDK_KNOWS)
def test_the_table_agrees_with_the_sdk(where: str, unit: Unit, known: int) -> None:
    """Where Slack's own SDK checks a limit, ours is the same."""
    assert limits.most(where, unit) == known


def test_every_place_is_in_the_table_once() -> None:
    """A limit that stands twice would be two truths."""
    places = [(limit.where, limit.unit) for limit in limits.LIMITS]
    assert len(set(places)) == len(places)
    assert all(limit.page for limit in limits.LIMITS)


def test_a_file_input_is_json_like_any_other_element() -> None:
    """What the SDK leaves out, we leave out."""
    made = sdk.InputBlock(
        block_id="f", label=PLAIN(text="File", emoji=False), element=FileInputElement(max_files=1)
    )
    view = fitting.modal(blocks=[made], title="t", callback_id="c", submit="s")
    assert view.blocks[0] == made.to_dict()
