"""Prove that a new file of settings is read back as what it says."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.settings import Level, Settings, SettingsError, load
from bot.settings import tree as tree_module
from bot.settings.blanks import empty, lines
from bot.settings.saving import save
from bot.settings.writing import written

#: A setting that is switched off, or a table; an explanation has a blank behind its #.
_OFF = re.compile(r"^#(?=[a-z\[])", re.MULTILINE)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    for name in list(os.environ):
        if name.upper().startswith(("NCCL_DNS_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def read(text: str) -> Settings:
    """Read a text as a file of settings."""
    path = Path("some.toml")
    path.write_text(text, encoding="utf-8")
    return load(path)


def leaves(told: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every setting by its path."""
    if isinstance(told, dict) and told:
        for name, value in told.items():
            yield from leaves(value, f"{path}.{name}".lstrip("."))
    else:
        yield path, told


def plain(value: object) -> object:
    """Return a value as a row of the table has it."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return str(value).replace(str(Path.home()), "~") if isinstance(value, Path) else value


@pytest.mark.parametrize("level", list(Level))
def test_what_was_written_is_read_back(level: Level) -> None:
    """Everything has its default but what the table sets, and nothing of the table is lost."""
    told = dict(leaves(read(written(level, "hall").text).model_dump()))
    bare = "" if level is Level.PASTE else "[clusters.hall]\n"
    if level >= Level.PROBE:
        bare += '[clusters.hall.login]\n[ssh]\nuser = ""\n'
    elif level is Level.LOOK:
        bare += '[clusters.hall.rest]\nurl = ""\nuser = ""\n'
    if level is Level.ACT:
        bare += '[ssh.repair]\nuser = ""\n[ssh.backup]\nuser = ""\n'
    defaults = dict(leaves(read(bare).model_dump()))
    table = {path: line.value for path, line in lines(level, "hall").items()}

    assert set(told) == set(defaults)
    assert {path: plain(told[path]) for path in table} == table
    assert {p: v for p, v in told.items() if p not in table} == {
        p: v for p, v in defaults.items() if p not in table
    }


@pytest.mark.parametrize("level", list(Level))
def test_every_default_can_be_switched_on_as_it_stands(level: Level) -> None:
    """Taking all the # away gives a file that is read, with every default as it was."""
    text = written(level, "hall").text

    told = read(_OFF.sub("", text))

    assert told.waits == Settings().waits
    assert told.clusters["hall"].rest is not None
    assert told.ssh is not None
    assert told.ssh.jumps
    assert told.ssh.repair is not None


def fields(tree: type[BaseModel]) -> Iterator[str]:
    """Yield the names of all settings below a model."""
    for name, field in tree.model_fields.items():
        yield name
        for part in re.findall(r"bot\.settings\.tree\.(\w+)", str(field.annotation)):
            if isinstance(model := getattr(tree_module, part), type) and issubclass(
                model, BaseModel
            ):
                yield from fields(model)


def test_every_setting_there_is_stands_in_the_file() -> None:
    """With its explanation, at the lowest level, too."""
    text = written(Level.PASTE).text

    for name in set(fields(Settings)):
        assert re.search(rf"^#?\[*(\w+\.)*{name}(\.\w+)?( = |\])", text, re.MULTILINE), name
    assert "# How old a reading may be for a step to rest on it.\n#reading" in text


def test_a_new_setting_appears_by_itself() -> None:
    """Its default and its description are the field's."""

    class More(Settings):
        colour: str = "blue"
        """What the report is painted in."""

    assert (
        '# What the report is painted in.\n#colour = "blue"\n'
        in written(Level.PASTE, tree=More).text
    )


@pytest.mark.parametrize("level", list(Level))
def test_what_is_to_be_filled_in_is_named_with_its_line(level: Level) -> None:
    """The number at the top is that of the line below."""
    made = written(level, "hall")
    text = made.text.splitlines()

    assert bool(made.fill) is (level is not Level.PASTE)
    for number, (path, what) in made.fill.items():
        assert text[number - 1].startswith(f"{path.rpartition('.')[2]} = ")
        assert text[number - 1].endswith("# fill in")
        assert f"#   line {number}: {path}: {what}" in text


def test_what_is_still_empty_is_found() -> None:
    """A part that is not set lacks nothing, a value that was filled in neither."""
    text = written(Level.LOOK, "hall").text

    assert [path for path, _ in empty(read(text))] == [
        "cloud.project", "clusters.hall.rest.url", "clusters.hall.rest.user",
    ]  # fmt: skip
    filled = text.replace('project = ""  # fill in', 'project = "training"')
    assert [path for path, _ in empty(read(filled))] == [
        "clusters.hall.rest.url", "clusters.hall.rest.user",
    ]  # fmt: skip
    assert list(empty(read(""))) == []


def test_a_file_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    """Secrets may stand in it."""
    before = os.umask(0)
    try:
        save(tmp_path / "new.toml", "text")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "new.toml").stat().st_mode) == 0o600


def test_a_file_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    """Only --force replaces it, and then as a whole; nothing is left beside it."""
    path = tmp_path / "nccl-dns.toml"
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(SettingsError, match="exists and was left as it is"):
        save(path, "new")
    assert path.read_text(encoding="utf-8") == "mine"

    save(path, "new", replace=True)
    assert path.read_text(encoding="utf-8") == "new"
    assert [one.name for one in tmp_path.iterdir()] == ["nccl-dns.toml"]


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A name that already leads somewhere is a file that exists."""
    (tmp_path / "link").symlink_to(tmp_path / "target")

    with pytest.raises(SettingsError, match="exists"):
        save(tmp_path / "link", "new")
    assert not (tmp_path / "target").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The sentence says which file was not written."""
    with pytest.raises(SettingsError, match=r"none/new\.toml was not written: No such file"):
        save(tmp_path / "none" / "new.toml", "text")
