"""A collection whose nodes are described in files: the match view reads them, as submitting does."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from broker_core.client.programs.node_files import completed
from broker_core.jdl.limits import DEFAULT
from tests.app.windows import Stage, play
from tests.waiting import eventually

WHOLE = """[
  Type = "Collection";
  Nodes = {
    [ NodeName = "one"; File = "one.jdl"; ],
    [ NodeName = "two"; File = "two.jdl"; ]
  };
  Requirements = other.GlueCEInfoTotalCPUs >= 1;
]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        text = f'[ Executable = "/bin/echo"; Arguments = "{name}"; ]'
        (tmp_path / f"{name}.jdl").write_text(text)
    (tmp_path / "all.jdl").write_text(WHOLE)
    return tmp_path


def test_where_nodes_in_files_could_run_is_answered(qapp: QApplication, broker: Path, folder: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.open_editor(WHOLE, folder / "all.jdl")
        editor = on.window.tabs.currentWidget()
        editor.where()
        view = editor.whereabouts.view
        await eventually(lambda: view.report is not None and not view.asking.pending)
        assert view.report.matching == 1
        on.context.trigger("view.match")
        page = on.window.tabs.currentWidget()
        await eventually(lambda: page.match.report is not None and not page.match.asking.pending)
        (folder / "two.jdl").unlink()
        failed: list[str] = []
        page.match.asking.failed.connect(failed.append)
        page.match.again()
        await eventually(lambda: failed)
        assert "two.jdl cannot be read" in failed[0]
        editor.source.document().setModified(False)

    play(qapp, broker, scenario)


def test_a_place_in_the_completed_text_is_found_in_the_text_as_it_was(folder: Path) -> None:
    done = completed(WHOLE, folder, DEFAULT)
    wanted = "other.GlueCEInfoTotalCPUs >= 1"
    start = done.text.index(wanted)
    before = WHOLE.index(wanted)
    assert done.place(start, start + len(wanted)) == (before, before + len(wanted))
    inside = (
        done.text.index('Arguments = "two"')
        if 'Arguments = "two"' in done.text
        else done.text.index('"two"', 200)
    )
    begin, end = done.place(inside, inside + 5)
    assert WHOLE[begin:end] == 'File = "two.jdl";'
    assert done.place(0, 1) == (0, 1)
