"""The picture of a graph of jobs: layers, faults, the way to the text, and a thousand nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.editor.editor import Editor
from app.editor.graph import described_graph
from app.theme.tokens import Mode
from app.widgets.plots.graph_layout import lay_out
from broker_core.client import package_data
from tests.app.bench_context import BenchContext
from tests.app.pictures import PICTURES

Until = Callable[..., Any]
DIAMOND = package_data.text("samples/thesis/f5-workflow.jdl")
JOB = '[ description = [ Executable = "/bin/true"; ]; ]'


def dag(nodes: list[str], pairs: list[tuple[str, str]]) -> str:
    jobs = "\n".join(f"  {name} = {JOB};" for name in nodes)
    waits = ",\n".join(f"    {{{one}, {other}}}" for one, other in pairs)
    return f'Type = "DAG";\nNodes = [\n{jobs}\n  Dependencies = {{\n{waits}\n  }};\n];\n'


@pytest.fixture
def editor(qapp: QApplication, loop: asyncio.AbstractEventLoop) -> Iterator[Editor]:
    made = Editor(BenchContext(qapp), DIAMOND)
    made.resize(1200, 800)
    made.show_sides("both")
    made.show()
    yield made
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def drawn(editor: Editor, until: Until) -> Editor:
    until(lambda: len(editor.side.graph.view.nodes) == 4)
    return editor


# --- layout


def test_each_node_stands_below_all_that_it_waits_for() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("e", "d")]
    layout = lay_out(list("abcde"), edges)
    rows = {node: row for node, (_, row) in layout.cells.items()}
    assert all(rows[one] < rows[other] for one, other in edges)
    assert (rows["a"], rows["e"], layout.rows) == (0, 0, 4)
    assert not layout.against


def test_no_two_nodes_share_a_cell_and_a_wide_layer_is_broken() -> None:
    leaves = [f"leaf{n}" for n in range(300)]
    layout = lay_out(["root", *leaves], [("root", leaf) for leaf in leaves])
    assert len(set(layout.cells.values())) == 301
    assert layout.columns <= 30
    assert min(row for leaf, (_, row) in layout.cells.items() if leaf != "root") == 1


def test_neighbors_stand_below_each_other() -> None:
    pairs = [(f"a{n}", f"b{9 - n}") for n in range(10)]
    layout = lay_out([*(f"a{n}" for n in range(10)), *(f"b{n}" for n in range(10))], pairs)
    assert all(layout.cells[one][0] == layout.cells[other][0] for one, other in pairs)


def test_a_cycle_is_laid_out_too_and_its_last_edge_is_named() -> None:
    layout = lay_out(list("abc"), [("a", "b"), ("b", "c"), ("c", "a"), ("c", "c")])
    assert layout.against == {("c", "a"), ("c", "c")}
    assert set(layout.cells) == set("abc")
    assert lay_out([], []).rows == 0


# --- reading


def test_the_graph_of_the_published_workflow_is_read() -> None:
    graph = described_graph(DIAMOND)
    assert [(node.key, node.detail) for node in graph.nodes] == [
        ("NodeA", "jobA.sh"), ("NodeB1", "jobB1.jdl"), ("NodeB2", "jobB2.jdl"), ("NodeC", "jobC.jdl"),
    ]  # fmt: skip
    assert set(graph.edges) == {
        ("NodeA", "NodeB1"),
        ("NodeA", "NodeB2"),
        ("NodeB1", "NodeC"),
        ("NodeB2", "NodeC"),
    }
    start, end = graph.spans["NodeB2"]
    assert DIAMOND[start:end].split() == ["NodeB2", "=", "[", "file", "=", '"jobB2.jdl";', "];"]


@pytest.mark.parametrize(
    "text", ["", "Nodes", "Nodes = [", "Nodes = 7;", "[[", 'Type = "DAG"; Dependencies = {{A,', "\0"]
)
def test_half_typed_text_has_a_graph_too(text: str) -> None:
    assert described_graph(text).edges == ()


def test_a_collection_is_a_graph_without_dependencies() -> None:
    text = f'Type = "collection"; Nodes = {{ {JOB}, [ NodeName = "last"; file = "x.jdl" ] }};'
    assert [(node.key, node.detail) for node in described_graph(text).nodes] == [
        ("Node_0", "true"), ("last", "x.jdl"),
    ]  # fmt: skip


# --- the window


def test_a_graph_is_shown_instead_of_the_form(drawn: Editor) -> None:
    side = drawn.side
    assert side.currentWidget() is side.graph
    assert side.graph.numbers.text() == "4 jobs, 4 dependencies"
    boxes = [side.graph.view.box(key) for key in side.graph.view.nodes]
    assert not any(one.intersects(other) for at, one in enumerate(boxes) for other in boxes[at + 1 :])
    for mode in (Mode.LIGHT, Mode.DARK, Mode.CONTRAST):
        drawn.context.theme.wear(mode=mode)
        assert drawn.grab().save(str(PICTURES / f"editor-graph-{mode.value}.png"))


def test_a_click_on_a_node_leads_to_its_text(drawn: Editor) -> None:
    view = drawn.side.graph.view
    drawn.show_sides("form")
    assert not drawn.source.isVisible()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.middle_of("NodeB1"))
    assert drawn.source.isVisible()
    assert drawn.source.textCursor().selectedText().startswith("NodeB1 = [")


def test_arrows_go_from_node_to_node_and_return_leads_to_the_text(drawn: Editor) -> None:
    view = drawn.side.graph.view
    view.choose("NodeA")
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current in ("NodeB1", "NodeB2")
    beside = view.current
    QTest.keyClick(view, Qt.Key.Key_Right if beside == "NodeB1" else Qt.Key.Key_Left)
    assert {beside, view.current} == {"NodeB1", "NodeB2"}
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current == "NodeC"
    assert "waits for NodeB1, NodeB2" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current == "NodeC"
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert drawn.source.textCursor().selectedText().startswith("NodeC = [")


def test_the_graph_follows_the_text_and_marks_what_is_wrong(drawn: Editor, until: Until) -> None:
    graph = drawn.side.graph
    broken = JOB.replace('"/bin/true"', "")
    text = dag(["A", "B"], [("A", "B"), ("B", "A"), ("B", "Gone")]).replace("];\nNodes", "];\nNodes")
    drawn.set_text(text.replace("  Dependencies", f"  C = {broken};\n  Dependencies"))
    until(lambda: "C" in graph.view.faces and "Gone" in graph.view.nodes)
    assert graph.view.nodes["Gone"].ghost
    assert {key: face.words for key, face in graph.view.faces.items()} == {
        "A": "waits for itself: it is part of a cycle",
        "B": "waits for itself: it is part of a cycle",
        "C": "has an error",
        "Gone": "is named in Dependencies and is no node",
    }
    assert graph.fault.text() == "A cycle: A → B → A. 1 name is no node of the graph. 1 job with errors."
    QTest.mouseClick(graph.view.viewport(), Qt.MouseButton.LeftButton, pos=graph.view.middle_of("Gone"))
    assert drawn.source.textCursor().selectedText() == "Gone"


def test_a_description_that_is_no_graph_any_more_has_its_form_back(drawn: Editor) -> None:
    drawn.set_text('Executable = "/bin/echo";')
    assert drawn.side.currentWidget() is drawn.form


def test_the_picture_is_zoomed_and_fits(drawn: Editor) -> None:
    view = drawn.side.graph.view
    before = view.zoom
    view.step_zoom(1)
    assert view.zoom > before
    for _ in range(20):
        view.step_zoom(-1)
    assert view.zoom == pytest.approx(0.2)
    view.fit()
    assert 0.45 <= view.zoom <= 1.0


class Turns(QObject):
    """The longest time between two turns of the event loop."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._timer = QTimer(self, interval=5)
        self._timer.timeout.connect(self._count)
        self._timer.start()

    def _count(self) -> None:
        self.count += 1


def test_the_window_goes_on_while_a_thousand_nodes_are_read(editor: Editor, until: Until) -> None:
    names = [f"job{n}" for n in range(1000)]
    pairs = [(names[n // 3], names[n]) for n in range(1, 1000)]
    turns, view = Turns(), editor.side.graph.view
    editor.set_text(dag(names, pairs))
    asked = turns.count
    until(lambda: len(view.nodes) == 1000)
    assert turns.count > asked, "events were handled between the text and its picture"
    assert editor.side.graph.numbers.text() == "1,000 jobs, 999 dependencies"
    seen = QRectF(view.viewport().rect())
    view.choose("job999")
    assert seen.contains(view.middle_of("job999").toPointF())
    assert view.node_at(view.middle_of("job999")) == "job999"
    assert view.node_at(QPoint(1, 1)) == ""
