"""Jobs of one submission as one row that unfolds, with a summary of their states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.stores.terms import is_failed
from app.widgets.state_style import AT_SITE, FAILED_TOKEN, STATE_STYLES, UNHEARD, StateShape, StateStyle
from broker_core.jobs.states import JobState

Unheard = Callable[[str], float | None]
"""Place of a job (JobRecord.site) to since when it is not heard from; None: it is."""
_UNHEARD = "Unheard"
_ORDER = ("Running", _UNHEARD, "Scheduled", "Ready", "Waiting", "Submitted", "DoneFailed", "Aborted", "Done",
          "Cleared", "Canceled")  # fmt: skip


class FoldedBatch:
    """The jobs of a batch that the view shows; `rows` are row numbers in the order of the table."""

    __slots__ = ("id", "open", "rows")

    def __init__(self, name: str, rows: list[int]) -> None:
        self.id, self.rows, self.open = name, rows, False


def tally(columns: Mapping[str, Sequence[Any]], rows: Sequence[int], unheard: Unheard) -> Counter[str]:
    """Return how many of the rows are in each state; `failed` counts apart from Done, and so does what is
    not heard from."""
    states, places = columns["state"], columns["site"]
    counted: Counter[str] = Counter(
        _UNHEARD if states[row] in AT_SITE and unheard(places[row]) else states[row] for row in rows
    )
    ended = sum(
        1
        for row in rows
        if columns["exit_code"][row] and states[row] != "Aborted" and is_failed(columns, row)
    )
    if ended:
        counted["DoneFailed"] = ended
        counted["Done"] -= ended
    return +counted


def parts(counted: Counter[str]) -> list[tuple[str, int]]:
    """Return (state token, number) in the order of a summary: what happens, what went wrong, what is over."""
    return [(f"state-{name}", counted[name]) for name in _ORDER if counted[name]]


def summary(counted: Counter[str]) -> str:
    """Return e.g. `12 running, 3 waiting, 1 failed, 184 done`."""
    groups = {
        "running": counted["Running"],
        "not heard from": counted[_UNHEARD],
        "waiting": sum(counted[name] for name in ("Submitted", "Waiting", "Ready", "Scheduled")),
        "failed": counted["Aborted"] + counted["DoneFailed"],
        "done": counted["Done"] + counted["Cleared"],
        "canceled": counted["Canceled"],
    }
    return ", ".join(f"{number:,} {word}" for word, number in groups.items() if number)


def style_of_batch(counted: Counter[str]) -> StateStyle:
    """Return the style of a batch: what is most worth knowing about its jobs."""
    if counted["Aborted"]:
        shown = STATE_STYLES[JobState.ABORTED]
    elif counted["DoneFailed"]:
        shown = StateStyle(StateShape.EXCLAMATION, FAILED_TOKEN, "")
    else:
        first = next((name for name in _ORDER if counted[name]), JobState.SUBMITTED.value)
        shown = UNHEARD if first == _UNHEARD else STATE_STYLES[JobState(first)]
    return StateStyle(shown.shape, shown.token, summary(counted))
