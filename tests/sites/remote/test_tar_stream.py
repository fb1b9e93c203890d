"""Tar streams from sites, whole, in pieces, cut off and damaged."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.sites.shell.files import Unpacking, Wanted
from broker_core.sites.shell.tar_stream import TarStream, read_small

NAMES = st.text("ab/ .ü\n", min_size=1, max_size=300).filter(lambda name: not name.endswith("/"))


def archive(files: dict[str, bytes]) -> bytes:
    """A stream as GNU tar writes it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


@given(st.dictionaries(NAMES, st.binary(max_size=1500), max_size=5), st.integers(1, 2000))
def test_whatever_the_pieces_the_files_are_the_same(files: dict[str, bytes], size: int) -> None:
    raw = archive(files)
    expected = {name.removeprefix("./"): content for name, content in files.items()}
    assert dict(read_small(raw)) == expected
    found: dict[str, bytearray] = {}
    current: list[str] = []

    def begin(name: str, _: int) -> None:
        current.append(name)
        found[name] = bytearray()

    stream = TarStream(begin, lambda data: found[current[-1]].extend(data))
    for start in range(0, len(raw), size):
        stream.feed(raw[start : start + size])
    assert {name: bytes(content) for name, content in found.items()} == expected


def test_a_file_that_was_cut_off_is_left_out() -> None:
    raw = archive({"whole": b"x" * 600, "cut": b"y" * 6000})
    assert dict(read_small(raw[:4000])) == {"whole": b"x" * 600}


def test_rubbish_is_refused() -> None:
    with pytest.raises(ValueError, match="damaged"):
        list(read_small(b"no tar at all" * 100))


def test_only_what_was_asked_for_is_written(tmp_path: Path) -> None:
    names = ("good", "../evil", "/etc/evil", "attempts/t.1/job/../../x", "attempts/t.1/job/good", "link")
    raw = archive(dict.fromkeys(names, b"content"))
    unpacking = Unpacking([Wanted("t.1", ("good",), tmp_path / "into")])
    unpacking.feed(raw)
    unpacking.close()
    assert [place.relative_to(tmp_path) for place in tmp_path.rglob("*") if place.is_file()] == [
        Path("into/good")
    ]
