"""The graph of a description: its jobs and who waits for whom, as a picture that leads to the text."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.editor.checking import DEBOUNCE_MS, LatestWork
from app.theme.theme import Theme
from app.units import counted
from app.widgets.labels import label
from app.widgets.plots.graph_layout import Edge, GraphLayout, lay_out
from app.widgets.plots.graph_view import GraphNode, GraphView, NodeFace
from app.widgets.state_style import StateShape
from app.widgets.tool_button import tool_button
from broker_core.jdl.dependencies import cycle, edges
from broker_core.jdl.names import base_name
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Ad, Expression, ListOf, Literal, Reference, children
from broker_core.wire.checks import DiagnosticView

Span = tuple[int, int]
"""Where a node stands in the text: first character, and the one behind the last."""
_BROKEN = NodeFace("negative", StateShape.CROSS, "has an error")
_DOUBTFUL = NodeFace("warning", StateShape.EXCLAMATION, "has a warning")
_AROUND = NodeFace("negative", StateShape.EXCLAMATION, "waits for itself: it is part of a cycle")
_UNKNOWN = NodeFace("negative", StateShape.QUESTION, "is named in Dependencies and is no node")
_FACES = {"error": _BROKEN, "warning": _DOUBTFUL}


@dataclass(frozen=True, slots=True)
class DescribedGraph:
    """The graph that a text describes, laid out."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    spans: Mapping[str, Span]
    """Key of a node to its place in the text; of one that is only named, where it is named."""
    around: tuple[str, ...]
    """The nodes of a cycle, the first repeated at the end; empty if there is none."""
    layout: GraphLayout


def described_graph(text: str) -> DescribedGraph:
    """Read the graph of a description, as far as it is written; never fails, whatever the text."""
    ad = parse(text).ad or Ad()
    written = ad.get("nodes")
    found = {key: (node, span) for key, node, span in _nodes(written)}
    listed = ad.get("dependencies") or (written.get("dependencies") if isinstance(written, Ad) else None)
    names = {key.lower(): key for key in found}
    nodes = [GraphNode(key, key, _program(node)) for key, (node, _) in found.items()]
    spans = {key: span for key, (_, span) in found.items()}
    for name, span in _named(listed) if listed is not None else ():
        if name.lower() not in names:
            names[name.lower()] = name
            nodes.append(GraphNode(name, name, "no such node", ghost=True))
            spans[name] = span
    pairs = tuple(edges(listed, names).pairs) if listed is not None else ()
    layout = lay_out([node.key for node in nodes], pairs)
    return DescribedGraph(tuple(nodes), pairs, spans, tuple(cycle(pairs)), layout)


def _nodes(written: Expression | None) -> Iterator[tuple[str, Ad, Span]]:
    """Name, ad and place of each node, of a graph or of a collection."""
    if isinstance(written, Ad):
        for entry in written:
            if isinstance(entry.value, Ad):
                yield entry.name, entry.value, (entry.start, entry.end)
    for at, item in enumerate(written.items if isinstance(written, ListOf) else ()):
        if isinstance(item, Ad):
            yield _string(item.get("nodename")) or f"Node_{at}", item, (item.start, item.end)


def _program(node: Ad) -> str:
    """What a node runs: its program, or the file that describes it."""
    inner = node.get("description")
    job = inner if isinstance(inner, Ad) else node
    return base_name(_string(job.get("executable")) or _string(node.get("file")))


def _string(value: Expression | None) -> str:
    return value.value if isinstance(value, Literal) and isinstance(value.value, str) else ""


def _named(listed: Expression) -> Iterator[tuple[str, Span]]:
    """All names in Dependencies, with their places."""
    for part in children(listed):
        name = part.name if isinstance(part, Reference) else _string(part)
        if name:
            yield name, (part.start, part.end)
        else:
            yield from _named(part)


class GraphSide(QWidget):
    """The picture beside the text, with its numbers, its faults, and buttons to zoom."""

    nodeChosen = Signal(object)
    """DiagnosticView: the place of a node in the text, for the editor to go to."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.graph = described_graph("")
        self.view = GraphView(theme)
        self.numbers, self.fault = label(role="strong"), label(role="negative", wrap=True)
        self.note = label(role="small", wrap=True)
        self._problems: Sequence[DiagnosticView] = ()
        self._text: str | None = None
        self._work = LatestWork(self)
        self._work.done.connect(self._show_graph)
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(lambda: self._work.begin(described_graph, self._text or ""))
        self.view.chosen.connect(self._go_to)
        self._lay_out(theme)

    def _lay_out(self, theme: Theme) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(16, 8, 8, 0)
        head.setSpacing(4)
        head.addWidget(self.numbers, 1)
        for icon, tip, act in (
            ("zoom-out", self.tr("Zoom out"), lambda: self.view.step_zoom(-1)),
            ("zoom-in", self.tr("Zoom in"), lambda: self.view.step_zoom(1)),
            ("maximize-2", self.tr("Fit the width"), self.view.fit),
        ):
            button = tool_button(theme.icon(icon), tip)
            button.clicked.connect(act)
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        for line in (self.fault, self.note):
            line.setContentsMargins(16, 0, 16, 0)
            line.hide()
            column.addWidget(line)
        column.addWidget(self.view, 1)

    def show_text(self, text: str) -> None:
        """Show the graph of a text, once it has not changed for a moment."""
        if text != self._text:
            self._timer.start(DEBOUNCE_MS if self._text else 0)
            self._text = text

    def show_problems(self, problems: Sequence[DiagnosticView]) -> None:
        """Mark the nodes in which something is wrong."""
        self._problems = problems
        self._mark()

    def _show_graph(self, graph: DescribedGraph) -> None:
        self.graph = graph
        jobs = sum(not node.ghost for node in graph.nodes)
        numbers = [counted(jobs, self.tr("job"), self.tr("jobs"))]
        if graph.edges:
            numbers.append(counted(len(graph.edges), self.tr("dependency"), self.tr("dependencies")))
        self.numbers.setText(", ".join(numbers))
        self.view.show_graph(graph.nodes, graph.edges, graph.layout)
        more = self.tr("{0} dependencies are drawn only at the job that is chosen.")
        self.note.setText(more.format(f"{self.view.hidden_edges:,}"))
        self.note.setVisible(self.view.hidden_edges > 0)
        self._mark()

    def _mark(self) -> None:
        faces = _in_text(self._problems, self.graph.spans)
        faces |= dict.fromkeys(self.graph.around, _AROUND)
        faces |= {node.key: _UNKNOWN for node in self.graph.nodes if node.ghost}
        self.view.show_faces(faces)
        self.fault.setText(self._faults(faces))
        self.fault.setVisible(bool(self.fault.text()))

    def _faults(self, faces: Mapping[str, NodeFace]) -> str:
        """Say what is wrong with the graph as a whole; the list of problems has the rest."""
        count = Counter(faces.values())
        faults = []
        if self.graph.around:
            faults.append(self.tr("A cycle: {0}.").format(" → ".join(self.graph.around)))
        if count[_UNKNOWN]:
            names = counted(count[_UNKNOWN], self.tr("name is no node"), self.tr("names are no nodes"))
            faults.append(self.tr("{0} of the graph.").format(names))
        if count[_BROKEN]:
            faults.append(self.tr("{0} with errors.").format(counted(count[_BROKEN], "job", "jobs")))
        return " ".join(faults)

    def _go_to(self, key: str) -> None:
        start, end = self.graph.spans[key]
        self.nodeChosen.emit(DiagnosticView(severity="hint", code="node", message=key, start=start, end=end))


def _in_text(problems: Sequence[DiagnosticView], spans: Mapping[str, Span]) -> dict[str, NodeFace]:
    """The nodes in whose text there is an error, or else a warning."""
    found: dict[str, NodeFace] = {}
    for severity in ("warning", "error"):
        starts = sorted(one.start for one in problems if one.severity == severity)
        for key, (start, end) in spans.items() if starts else ():
            first = bisect_left(starts, start)
            if first < len(starts) and starts[first] < end:
                found[key] = _FACES[severity]
    return found
