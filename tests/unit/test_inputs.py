"""What a person may name: files in many wrappings, and what is refused with a sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import pytest
import zstandard

import bot
from bot.diagnosis import diagnose
from bot.errors import InputError
from bot.inputs import size_of, sources

EXAMPLE = Path(bot.__file__).parent / "examples" / "resolver-failed.log"
LOG = EXAMPLE.read_bytes()

WRAPPED = {
    "plain": LOG,
    "gzip": gzip.compress(LOG),
    "gzip members": gzip.compress(LOG[:5000]) + gzip.compress(LOG[5000:]),
    "zstd": zstandard.compress(LOG),
    "zstd frames": zstandard.compress(LOG[:5000]) + zstandard.compress(LOG[5000:]),
    "bzip2": bz2.compress(LOG),
    "xz": lzma.compress(LOG),
    "UTF-16 with a mark": LOG.decode().encode("utf-16"),
    "UTF-16 without": LOG.decode().encode("utf-16-le"),
    "UTF-16, compressed": gzip.compress(LOG.decode().encode("utf-16")),
}


class Stdin:
    """A standard input that holds bytes and cannot go back."""

    def __init__(self, data: bytes) -> None:
        stream = io.BytesIO(data)
        self.buffer = type("Pipe", (), {"read": staticmethod(stream.read)})()


@pytest.mark.parametrize("name", WRAPPED)
def test_every_wrapping_gives_the_same_diagnosis(name: str, tmp_path: Path) -> None:
    """Compression and encoding are told by the content, whatever the file is called."""
    path = tmp_path / "log"
    path.write_bytes(WRAPPED[name])
    found = diagnose(sources([str(path)]))
    assert found.cause == "resolver_failed"
    assert found.affected[0].ranks == (6, 7)


@pytest.mark.parametrize("name", [name for name in WRAPPED if name != "UTF-16, compressed"])
def test_standard_input_is_read_once_and_looked_at_twice(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe cannot go back, yet a verdict may need a second look."""
    monkeypatch.setattr(sys, "stdin", Stdin(WRAPPED[name]))
    found = diagnose(sources(["-"]))
    assert found.affected[0].ranks == (6, 7)


@pytest.mark.parametrize("cut", [40, 2000])
def test_a_cut_off_archive_is_read_up_to_there(cut: int, tmp_path: Path) -> None:
    """A log that is still being written, or was copied in part, is read and the fact is said."""
    noise = bytes(range(32, 127)) * 2000
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(LOG + noise)[:-cut])
    told: list[str] = []
    found = diagnose(sources([str(path)], notice=told.append))
    assert found.cause == "resolver_failed"
    assert any("cut off" in sentence for sentence in told)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(100), "a program"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture"),
        (b"PK\x03\x04" + bytes(100), "zip"),
        (b"%PDF-1.7\n", "PDF"),
        (bytes(257) + b"ustar\0", "tar archive"),
        (bytes(range(256)) * 40, "not text"),
        (gzip.compress(b"x")[:4] + b"\xff" * 50, "cannot be unpacked"),
    ],
)
def test_what_is_no_log_is_refused_with_a_sentence(
    data: bytes, sentence: str, tmp_path: Path
) -> None:
    """The sentence names the file and says what it is."""
    path = tmp_path / "thing"
    path.write_bytes(data)
    with pytest.raises(InputError, match=sentence) as error:
        diagnose(sources([str(path)]))
    assert "thing" in str(error.value)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    """Each with what to do instead."""
    with pytest.raises(InputError, match="is a folder"):
        sources([str(tmp_path)])
    with pytest.raises(InputError, match="does not exist"):
        sources([str(tmp_path / "nothing.log")])
    with pytest.raises(InputError, match="cannot be read"):
        sources(["a\0b"])
    with pytest.raises(InputError, match="named twice"):
        sources(["-", "-"])


@pytest.mark.parametrize("data", [b"", b"\0" * 5000, b"\n" * 10, "日本語 🎉\n".encode() * 50])
def test_odd_text_is_still_a_log(data: bytes, tmp_path: Path) -> None:
    """Empty files, NULs of a truncated log, and any script are read."""
    path = tmp_path / "log"
    path.write_bytes(data)
    assert diagnose(sources([str(path)])).cause == "no_startup_failure"


def test_the_size_is_known_for_files_only(tmp_path: Path) -> None:
    """A progress bar needs a total; standard input has none."""
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    assert size_of([str(path), str(path)]) == 10
    assert size_of([str(path), "-"]) is None
