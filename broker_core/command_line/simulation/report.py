"""The result of a replay on the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from broker_core.command_line import output, tables, words
from broker_core.jobs.counters import LONGER
from broker_core.simulation.curves import Curves
from broker_core.simulation.outcome import ReplayOutcome, Spread

_WIDTH = 72
_HEIGHT = 6
_SHOWN = 10


def value(outcome: ReplayOutcome, curves: Curves, policies: tuple[str, str], took: float) -> dict[str, Any]:
    """The result as JSON; `took` is the seconds of real time that it took."""
    return {
        "trace": outcome.trace.name,
        "left_out": outcome.trace.left_out,
        "acknowledge": outcome.trace.header.get("Acknowledge", ""),
        "policy": policies[0],
        "queue": policies[1],
        "took": took,
        "summary": outcome.summary().value(),
        "sites": [asdict(share) for share in outcome.shares()],
        "curves": curves.value(),
    }


def show(outcome: ReplayOutcome, curves: Curves, policies: tuple[str, str], took: float) -> None:
    """The result for people."""
    trace, figures = outcome.trace, outcome.summary()
    tables.facts(
        [
            ("Trace", f"{trace.name}: {figures.jobs:,} jobs" + _left_out(trace.left_out)),
            ("From", _origin(trace.header)),
            ("Sites", f"{figures.sites:,} with {figures.cpus:,} CPUs, policies {' and '.join(policies)}"),
            ("Ended", f"{figures.finished:,}{_given_up(figures.given_up)}"),
            ("Virtual time", words.duration(figures.makespan)),
            ("Real time", f"{words.duration(took)}, {figures.jobs / max(took, 1e-9):,.0f} jobs a second"),
            ("Utilization", f"{figures.utilization:.1%}"),
        ]
    )  # fmt: skip
    output.line("")
    tables.table(
        ("", "MEAN", "MEDIAN", "95 %", "MOST"),
        [
            ("Wait", *_times(figures.wait)),
            ("Slowdown", *_numbers(figures.slowdown)),
            ("Bounded slowdown", *_numbers(figures.bounded_slowdown)),
        ],
        right=("MEAN", "MEDIAN", "95 %", "MOST"),
    )
    _plot("Utilization", curves.utilization, 1.0, "100 %", words.duration(figures.makespan))
    top = max(curves.queue, default=0.0)
    _plot("Jobs waiting", curves.queue, top, f"{top:,.0f}", words.duration(figures.makespan))
    _waits(curves)
    _sites(outcome)


def compare(results: Sequence[dict[str, Any]]) -> None:
    """Several results for people, a line for each; they are of the same jobs at the same sites."""
    first = results[0]["summary"]
    output.line(f"{first['jobs']:,} jobs of {results[0]['trace']}, {first['cpus']:,} CPUs")
    output.line("")
    numbers = ("MEAN WAIT", "BOUNDED SLOWDOWN", "UTILIZATION", "VIRTUAL TIME", "ENDED")
    tables.table(
        ("ORDER OF SITES", "QUEUE", *numbers),
        [(one["policy"], one["queue"], *_numbers_of(one["summary"])) for one in results],
        right=numbers,
    )


def _numbers_of(summary: dict[str, Any]) -> tuple[str, ...]:
    return (
        words.duration(summary["wait"]["mean"]),
        f"{summary['bounded_slowdown']['mean']:,.2f}",
        f"{summary['utilization']:.1%}",
        words.duration(summary["makespan"]),
        f"{summary['finished']:,}",
    )


def _left_out(count: int) -> str:
    return f" ({count:,} more without a run time)" if count else ""


def _given_up(count: int) -> str:
    return f", {count:,} given up" if count else ""


def _origin(header: Any) -> str:
    parts = [header.get("Installation", ""), header.get("Acknowledge", "")]
    return ", by courtesy of ".join(part for part in parts if part)


def _times(spread: Spread) -> list[str]:
    return [words.duration(one) for one in (spread.mean, spread.median, spread.p95, spread.most)]


def _numbers(spread: Spread) -> list[str]:
    return [f"{one:,.2f}" for one in (spread.mean, spread.median, spread.p95, spread.most)]


def _plot(title: str, values: Sequence[float], top: float, label: str, end: str) -> None:
    """A curve of blocks, `top` high."""
    blocks = words.blocks()
    output.line("")
    output.line(f"{title} (top: {label})")
    columns = [_mean(values, at) for at in range(_WIDTH)]
    for row in range(_HEIGHT, 0, -1):
        line = "".join(_block(one, top, row, blocks) for one in columns)
        output.line(f"|{line}".rstrip())
    output.line("+" + "-" * _WIDTH)
    output.line(f" 0{end:>{_WIDTH - 1}}")


def _mean(values: Sequence[float], at: int) -> float:
    part = values[at * len(values) // _WIDTH : max(1, (at + 1) * len(values) // _WIDTH)]
    return sum(part) / len(part) if part else 0.0


def _block(value: float, top: float, row: int, blocks: str) -> str:
    """What of a column stands in a row, counted from 1 at the bottom."""
    eighths = round(value / top * _HEIGHT * 8) - (row - 1) * 8 if top > 0 else 0
    return blocks[max(0, min(8, eighths))]


def _waits(curves: Curves) -> None:
    output.line("")
    whole = max(1, sum(curves.wait_counts))
    bar = words.blocks()[8]
    rows = []
    for bound, count in zip(curves.wait_bounds, curves.wait_counts, strict=True):
        name = "longer" if bound == LONGER else f"up to {words.duration(float(bound))}"
        rows.append((name, f"{count:,}", f"{count / whole:.1%}", bar * round(40 * count / whole)))
    tables.table(("WAIT", "JOBS", "SHARE", ""), rows, right=("JOBS", "SHARE"))


def _sites(outcome: ReplayOutcome) -> None:
    shares = outcome.shares()
    output.line("")
    tables.table(
        ("SITE", "CPUS", "JOBS", "UTILIZATION"),
        [(one.site, f"{one.cpus:,}", f"{one.jobs:,}", f"{one.utilization:.1%}") for one in shares[:_SHOWN]],
        right=("CPUS", "JOBS", "UTILIZATION"),
    )
    if len(shares) > _SHOWN:
        output.line(f"and {len(shares) - _SHOWN} more sites; --json lists them all")
