"""What of a curve is drawn, read and exported. No widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.widgets.csv_file import Written
from app.widgets.plots.thinning import thinned
from broker_core.jobs.published.recording import Curve, Recording


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRun:
    """One job's recording, under the name by which it is told from others; empty: there are no others."""

    name: str
    recording: Recording


@dataclass(frozen=True, slots=True, eq=False)
class NamedCurve:
    """A curve as it stands in the legend, with the places of run and curve for color and line."""

    name: str
    curve: Curve
    run: int
    number: int


def curves_of(runs: Sequence[RecordedRun]) -> list[NamedCurve]:
    """All curves of all runs."""
    names = list(dict.fromkeys(name for run in runs for name in run.recording.curves))
    numbers = {name: number for number, name in enumerate(names)}
    return [
        NamedCurve(f"{name}, {run.name}" if run.name else name, curve, index, numbers[name])
        for index, run in enumerate(runs)
        for name, curve in list(run.recording.curves.items())
    ]


def in_view(
    curve: Curve, span: tuple[float, float] | None, pixels: int, log: tuple[bool, bool] = (False, False)
) -> tuple[np.ndarray, np.ndarray]:
    """Points to be drawn within `span` of x (None: all), at most a few for each pixel; `log`: axes x and y.

    One point more on each side leads the line out of the view.
    """
    x, y = curve.points()
    if span is not None and curve.rises:
        first = max(0, int(np.searchsorted(x, span[0], "left")) - 1)
        last = int(np.searchsorted(x, span[1], "right")) + 1
        x, y = x[first:last], y[first:last]
    if any(log):
        shown = (x > 0 if log[0] else True) & (y > 0 if log[1] else True)
        x, y = x[shown], y[shown]
    return thinned(x, y, pixels) if curve.rises else (x, y)


def value_at(curve: Curve, at: float) -> tuple[float, float] | None:
    """The point whose x is nearest; None where there is none."""
    x, y = curve.points()
    if not len(x):
        return None
    if not curve.rises:
        nearest = int(np.argmin(np.abs(x - at)))
    else:
        nearest = int(np.searchsorted(x, at))
        if nearest == len(x) or (nearest and at - x[nearest - 1] < x[nearest] - at):
            nearest -= 1
    return float(x[nearest]), float(y[nearest])


def written(curves: Sequence[NamedCurve]) -> Written:
    """All points as a table: a column for each curve where they share their x, else a row for each point."""
    data = [(one.name, *one.curve.points()) for one in curves]
    alike = len({len(x) for _, x, _ in data}) == 1 and all(np.array_equal(data[0][1], x) for _, x, _ in data)
    if alike:
        return Written(["x", *(name for name, _, _ in data)], _columns([data[0][1], *(y for *_, y in data)]))
    return Written(["curve", "x", "y"], _long(data))


def _columns(columns: Sequence[np.ndarray]) -> Iterator[Sequence[Any]]:
    yield from zip(*(column.tolist() for column in columns), strict=True)


def _long(data: Iterable[tuple[str, np.ndarray, np.ndarray]]) -> Iterator[Sequence[Any]]:
    for name, x, y in data:
        for one, value in zip(x.tolist(), y.tolist(), strict=True):
            yield (name, one, value)
