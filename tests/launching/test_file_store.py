"""The store of sandbox files: whole, right, private, and once."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.errors import BadRequest, NotFound
from broker_core.launching.files import FileStore

DATA = b"some data" * 100_000
SHA = hashlib.sha256(DATA).hexdigest()


async def chunks(data: bytes, size: int = 100_000) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def test_content_is_kept_under_its_hash_for_its_owner_only(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    assert await store.put(SHA, chunks(DATA), 10**7) == len(DATA) == store.size(SHA)
    assert store.has(SHA)
    assert store.path(SHA).read_bytes() == DATA
    assert stat.S_IMODE(store.path(SHA).stat().st_mode) == 0o600
    assert list(store.held()) == [SHA]


async def test_wrong_or_too_big_content_leaves_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    with pytest.raises(BadRequest, match="SHA-256"):
        await store.put(SHA, chunks(DATA + b"!"), 10**7)
    with pytest.raises(BadRequest, match="more than"):
        await store.put(SHA, chunks(DATA), 1000)
    assert not store.has(SHA)
    assert not [path for path in (tmp_path / "files").rglob("*") if path.is_file()]


async def test_parts_of_a_broken_upload_are_removed_at_the_next_start(tmp_path: Path) -> None:
    FileStore(tmp_path)
    (tmp_path / "parts" / "left").write_text("half")
    FileStore(tmp_path)
    assert not list((tmp_path / "parts").iterdir())


async def test_released_content_is_gone(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    await store.put(SHA, chunks(DATA), 10**7)
    assert store.release([SHA, "0" * 64]) == len(DATA)
    with pytest.raises(NotFound):
        store.size(SHA)


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_what_is_no_hash_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest):
        FileStore(tmp_path).path(name)
