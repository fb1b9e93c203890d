"""Jobs of one submission as one row that unfolds, with a summary of their outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.widgets.state_style import AT_SITE, OUTCOME_STYLES, UNHEARD, StateStyle
from broker_core.jobs.outcome import Outcome, outcomes

Unheard = Callable[[str], float | None]
"""Place of a job (JobRecord.site) to since when it is not heard from; None: it is."""
_UNHEARD = "Unheard"
_QUEUED = (Outcome.SCHEDULED.value, Outcome.READY.value, Outcome.WAITING.value, Outcome.SUBMITTED.value)
_ORDER = (
    *(Outcome.RUNNING.value, _UNHEARD, *_QUEUED),
    *(Outcome.FAILED.value, Outcome.DONE.value, Outcome.CANCELED.value),
)
_AT_SITE = frozenset(Outcome(state.value) for state in AT_SITE)


class FoldedBatch:
    """The jobs of a batch that the view shows; `rows` are row numbers in the order of the table."""

    __slots__ = ("id", "open", "rows")

    def __init__(self, name: str, rows: list[int]) -> None:
        self.id, self.rows, self.open = name, rows, False


def tally(columns: Mapping[str, Sequence[Any]], rows: Sequence[int], unheard: Unheard) -> Counter[str]:
    """Return how many of the rows have each outcome; what is not heard from counts apart."""
    states, places, codes = columns["state"], columns["site"], columns["exit_code"]
    found = outcomes([states[row] for row in rows], [codes[row] for row in rows])
    return Counter(
        _UNHEARD if one is Outcome.UNKNOWN or (one in _AT_SITE and unheard(places[row])) else one.value
        for row, one in zip(rows, found, strict=True)
    )


def parts(counted: Counter[str]) -> list[tuple[str, int]]:
    """Return (state token, number) in the order of a summary: what happens, what went wrong, what is over."""
    return [(f"state-{name}", counted[name]) for name in _ORDER if counted[name]]


def summary(counted: Counter[str]) -> str:
    """Return e.g. `12 running, 3 waiting, 1 failed, 184 done`."""
    groups = {
        "running": counted[Outcome.RUNNING],
        "not heard from": counted[_UNHEARD],
        "waiting": sum(counted[name] for name in _QUEUED),
        "failed": counted[Outcome.FAILED],
        "done": counted[Outcome.DONE],
        "canceled": counted[Outcome.CANCELED],
    }
    return ", ".join(f"{number:,} {word}" for word, number in groups.items() if number)


def style_of_batch(counted: Counter[str]) -> StateStyle:
    """Return the style of a batch: what is most worth knowing about its jobs."""
    first = next((name for name in _ORDER if counted[name]), Outcome.SUBMITTED.value)
    first = Outcome.FAILED.value if counted[Outcome.FAILED] else first
    shown = UNHEARD if first == _UNHEARD else OUTCOME_STYLES[Outcome(first)]
    return StateStyle(shown.shape, shown.token, summary(counted))
