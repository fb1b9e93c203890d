"""The curves of a replay as a picture (SVG), light, for papers and pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from broker_core.simulation.curves import Curves
from broker_core.simulation.outcome import ReplayOutcome

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 880, 170, 70, 56, 46
_INK, _GRID, _USED, _MEAN, _QUEUE = "#1b1f24", "#d8dde3", "#2f6fde", "#c2410c", "#0f766e"
_TEXT = f"font-family='Inter, Helvetica, Arial, sans-serif' font-size='12' fill='{_INK}'"


def svg(outcome: ReplayOutcome, curves: Curves) -> str:
    """Utilization with its running average, and the number of waiting jobs, over virtual time in hours."""
    height = _TOP + 2 * (_HEIGHT + _GAP)
    top = max(1.0, *curves.queue)
    figures = outcome.summary()
    size = f"{figures.jobs:,} jobs on {figures.cpus:,} CPUs"
    title = f"{outcome.trace.name}: {size}, {figures.utilization:.1%} used"
    width = _LEFT + _WIDTH + 30
    second = _TOP + _HEIGHT + _GAP
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' {_TEXT}>",
        "<rect width='100%' height='100%' fill='white'/>",
        f"<text x='{_LEFT}' y='24' font-size='16' font-weight='600'>{escape(title)}</text>",
        _frame("Utilization, and its running average", _TOP, ("0", "50 %", "100 %")),
        _curve(curves.utilization, 1.0, _TOP, _USED),
        _curve(curves.average, 1.0, _TOP, _MEAN),
        _frame("Jobs waiting", second, ("0", f"{top / 2:,.0f}", f"{top:,.0f}")),
        _curve(curves.queue, top, second, _QUEUE),
        _hours(curves.time[-1] / 3600, second + _HEIGHT + 16),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _frame(title: str, top: int, labels: Sequence[str]) -> str:
    parts = [f"<text x='{_LEFT}' y='{top - 6}' font-weight='600'>{title}</text>"]
    for at, label in enumerate(labels):
        y = top + _HEIGHT - at * _HEIGHT // (len(labels) - 1)
        parts.append(f"<line x1='{_LEFT}' y1='{y}' x2='{_LEFT + _WIDTH}' y2='{y}' stroke='{_GRID}'/>")
        parts.append(f"<text x='{_LEFT - 8}' y='{y + 4}' text-anchor='end'>{label}</text>")
    return "\n".join(parts)


def _curve(values: Sequence[float], most: float, top: int, color: str) -> str:
    step = _WIDTH / max(1, len(values) - 1)
    points = " ".join(
        f"{_LEFT + at * step:.1f},{top + _HEIGHT * (1 - min(1.0, value / most)):.1f}"
        for at, value in enumerate(values)
    )
    return f"<polyline points='{points}' fill='none' stroke='{color}' stroke-width='1.5'/>"


def _hours(last: float, y: int) -> str:
    marks = (0.0, last / 4, last / 2, last * 3 / 4, last)
    return "\n".join(
        f"<text x='{_LEFT + _WIDTH * at // 4}' y='{y}' text-anchor='middle'>{mark:,.0f} h</text>"
        for at, mark in enumerate(marks)
    )
