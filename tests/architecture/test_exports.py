"""Every table of the window can be exported (CB-UI-15)."""

from __future__ import annotations

import re
from pathlib import Path

APP = Path(__file__).parents[2] / "app"
_MADE = re.compile(r"\b(?:RowTable|FactTable|JobsView|SlotTable|QTableWidget)\((?!QTable|RowTable)")
_OFFERED = re.compile(r"\b(?:offer_export|offer_gathered|ExportButton)\(|\bexport\(")
WITHOUT = {
    "app/editor/form/sandbox.py": "what is written there is the description",
    "app/jobs/pane.py": "the whole list is exported by the menu Jobs",
    "app/match/clause_list.py": "offered by the view that has the list",
    "app/widgets/table.py": "defines the table",
}
"""Modules with tables that need none, and why."""


def test_each_module_that_makes_a_table_offers_its_export() -> None:
    making = {
        path.relative_to(APP.parent).as_posix(): text
        for path in APP.rglob("*.py")
        if _MADE.search(text := re.sub(r"(?m)^class .*$", "", path.read_text()))
    }
    assert len(making) > 10
    lacking = {name for name, text in making.items() if not _OFFERED.search(text)} - WITHOUT.keys()
    assert lacking == set()
