from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from broker_core.client.fetch import UnsafeName, below


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../x", "a/../../x", "..", "a/..", "nul\0", "//x"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafeName):
        below(tmp_path, name)


@pytest.mark.parametrize(
    "name", ["a", "a/b c", "-rf", "new\nline", "..a", "a..b/c", "ü/é", "$(id)", ".hidden"]
)
def test_odd_names_stay_inside(tmp_path: Path, name: str) -> None:
    assert below(tmp_path, name).resolve().is_relative_to(tmp_path.resolve())


@given(some.text(min_size=0, max_size=40))
def test_no_name_at_all_leads_out(name: str) -> None:
    folder = Path("/somewhere/save")
    try:
        path = below(folder, name)
    except UnsafeName:
        return
    assert ".." not in path.parts
    assert path.is_relative_to(folder)
    assert path != folder
