"""The replays so far as rows, and two or more of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QLabel, QTableWidgetItem, QVBoxLayout, QWidget

from app import units
from app.simulation.figures import FigureTable, legend
from app.simulation.form import policy_words
from app.theme.theme import Theme

MOST_RUNS = 12
"""Replays that are kept; the oldest goes first."""
MOST_COMPARED = 5
"""Replays beside each other: no more colors can be told apart."""
_IN_ROW = 4
_ON = Qt.CheckState.Checked
_EQUAL = 0.0005
"""Relative difference below which two numbers are the same."""


@dataclass(frozen=True, slots=True)
class Run:
    """A replay that has ended, by the number that it has on the page."""

    number: int
    result: dict[str, Any]
    """As `crossdesk sim replay --json` says it."""

    @property
    def name(self) -> str:
        """Number and policies."""
        order, queue = (policy_words(self.result[key]) for key in ("policy", "queue"))
        return f"{self.number}  {order}, {queue}"

    @property
    def workload(self) -> str:
        """What was replayed where."""
        summary = self.result["summary"]
        where = f"{units.count(summary['sites'], 'site')} with {units.count(summary['cpus'], 'CPU')}"
        return f"{units.count(summary['jobs'], 'job')} of {self.result['trace']} on {where}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a result, how it is words, and whether a greater one is better."""

    name: str
    of: Callable[[dict[str, Any]], float]
    words: Callable[[float], str]
    more_is_better: bool = False


FIGURES = (
    Figure("Mean wait", lambda summary: float(summary["wait"]["mean"]), units.duration),
    Figure("Bounded slowdown", lambda summary: float(summary["bounded_slowdown"]["mean"]), "{:,.2f}".format),
    Figure("CPUs in use", lambda summary: float(summary["utilization"]), "{:.1%}".format, True),
    Figure("Virtual time", lambda summary: float(summary["makespan"]), units.duration),
    Figure("Wait, 95 % below", lambda summary: float(summary["wait"]["p95"]), units.duration),
    Figure("Jobs ended", lambda summary: float(summary["finished"]), "{:,.0f}".format, True),
)  # fmt: skip
"""What is compared; the first four stand in the row of a replay too."""


def change(base: float, other: float) -> str:
    """Say how much another number is above or below the first, in percent; `same` where it is not."""
    if abs(other - base) <= _EQUAL * abs(base):
        return "same"
    if not base:
        return "more" if other > 0 else "less"
    percent = 100 * (other - base) / abs(base)
    return f"{'+' if percent > 0 else '−'}{abs(percent):,.{0 if abs(percent) >= 10 else 1}f} %"


class RunTable(FigureTable):
    """The replays so far, newest first; those that are ticked are shown."""

    chosen = Signal(list)
    """list[Run], in the order of their numbers; at least one."""
    added = Signal()
    """`runs` has a new one."""

    def __init__(self) -> None:
        heads = ["Replay", *(figure.name for figure in FIGURES[:_IN_ROW])]
        super().__init__("Replays so far", heads)
        for column in range(1, len(heads)):
            self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setTabKeyNavigation(False)
        self.runs: list[Run] = []
        self.itemChanged.connect(self._ticked)

    def add(self, result: dict[str, Any]) -> None:
        """Put a new replay on top, as the one that is shown."""
        self._show([Run(self.runs[0].number + 1 if self.runs else 1, result), *self.runs])
        self.added.emit()

    def bring_back(self, runs: Sequence[Run]) -> None:
        """Put replays of an earlier time below those that are there; the newest is shown."""
        first = runs[0].number if runs else 0
        self._show([*(Run(run.number + first, run.result) for run in self.runs), *runs])

    def _show(self, runs: list[Run]) -> None:
        self.runs = runs[:MOST_RUNS]
        self.blockSignals(True)
        self.show_rows([_row(run) for run in self.runs])
        for at in range(len(self.runs)):
            item = self.cell(at, 0)
            item.setToolTip(self.runs[at].workload)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked if at else Qt.CheckState.Checked)
        self.blockSignals(False)
        if self.runs:
            self.chosen.emit(self.ticked())

    def ticked(self) -> list[Run]:
        """The replays that are ticked, by their numbers."""
        on = (run for at, run in enumerate(self.runs) if self.cell(at, 0).checkState() is _ON)
        return sorted(on, key=lambda run: run.number)

    def _ticked(self, item: QTableWidgetItem) -> None:
        """Show what is ticked; the last tick stays, and of too many the newest is taken back."""
        count = len(self.ticked())
        if 0 < count <= MOST_COMPARED:
            self.chosen.emit(self.ticked())
            return
        self.blockSignals(True)
        item.setCheckState(Qt.CheckState.Unchecked if count else _ON)
        self.blockSignals(False)


def _row(run: Run) -> list[str]:
    summary = run.result["summary"]
    numbers = (figure.words(figure.of(summary)) for figure in FIGURES[:_IN_ROW])
    return [run.name, *numbers]


class ReplayComparison(QWidget):
    """Figures of several replays beside each other, each with its difference from the first, and a legend
    for the curves that stand below."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.legend, self.note = QLabel(wordWrap=True), QLabel(wordWrap=True)
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.note.setProperty("role", "small")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        self.table = FigureTable("Comparison", [""])
        for part in (self.legend, self.table, self.note):
            self._column.addWidget(part)

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show replays; the first is what the others are compared with."""
        self.legend.setText(legend(self._theme, [run.name for run in runs]))
        self.table.set_heads(["", *(f"Replay {run.number}" for run in runs)])
        self.table.show_rows([self._line(figure, runs) for figure in FIGURES])
        for row, figure in enumerate(FIGURES):
            for column, better in enumerate(_better(figure, runs), start=2):
                if better is not None:
                    tone = self._theme.color("positive" if better else "negative")
                    self.table.cell(row, column).setForeground(tone)
        self.note.setText(_note(runs))

    def _line(self, figure: Figure, runs: Sequence[Run]) -> list[str]:
        values = [figure.of(run.result["summary"]) for run in runs]
        first, *others = values
        return [
            figure.name,
            figure.words(first),
            *(f"{figure.words(one)}   {change(first, one)}" for one in others),
        ]


def _better(figure: Figure, runs: Sequence[Run]) -> list[bool | None]:
    """Whether each other replay did better than the first; None where they did the same."""
    first, *others = (figure.of(run.result["summary"]) for run in runs)
    more = figure.more_is_better
    return [None if change(first, one) == "same" else (one > first) == more for one in others]


def _note(runs: Sequence[Run]) -> str:
    """Say what the percentages are of, and whether the replays had the same jobs and CPUs."""
    words = f"Differences are from replay {runs[0].number}."
    if len({run.workload for run in runs}) == 1:
        return f"{words} All replayed {runs[0].workload}."
    each = ", ".join(f"{run.number} replayed {run.workload}" for run in runs)
    return f"{words} They differ in more than their policies: {each}."
