"""The mark by which a site's jobs are found again: made once, never anew for want of reading it."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.site_management.site_specs import MARK, SiteSpecs
from broker_core.errors import Conflict


def test_a_mark_is_made_once(tmp_path: Path) -> None:
    assert SiteSpecs(tmp_path).mark("far") == SiteSpecs(tmp_path).mark("far")
    assert SiteSpecs(tmp_path).mark("near") != SiteSpecs(tmp_path).mark("far")


@pytest.mark.parametrize("content", [b"", b"no mark", b"1abc", b"\xff\xfe"])
def test_a_damaged_mark_is_not_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / MARK).write_bytes(content)
    with pytest.raises(Conflict, match="damaged") as raised:
        SiteSpecs(tmp_path).mark("far")
    assert str(tmp_path / "far" / MARK) in str(raised.value)
    assert (tmp_path / "far" / MARK).read_bytes() == content


def test_a_mark_that_cannot_be_read_is_not_made_anew(tmp_path: Path) -> None:
    (tmp_path / "far" / MARK).mkdir(parents=True)
    with pytest.raises(Conflict, match="is a directory"):
        SiteSpecs(tmp_path).mark("far")
