"""Jobs of one submission as one row that unfolds, with a summary of their outcomes."""

from __future__ import annotations

from collections import Counter

from app.jobs.batch_totals import UNHEARD_PART
from app.widgets.state_style import OUTCOME_STYLES, UNHEARD, StateStyle
from broker_core.jobs.outcome import Outcome

_QUEUED = (Outcome.SCHEDULED.value, Outcome.READY.value, Outcome.WAITING.value, Outcome.SUBMITTED.value)
_ORDER = (
    *(Outcome.RUNNING.value, UNHEARD_PART, *_QUEUED),
    *(Outcome.FAILED.value, Outcome.DONE.value, Outcome.CANCELED.value),
)
BETWEEN = " · "
"""Between the parts of a summary."""


class FoldedBatch:
    """The jobs of a batch that the view shows; `rows` are row numbers in the order of the table."""

    __slots__ = ("id", "open", "rows")

    def __init__(self, name: str, rows: list[int]) -> None:
        self.id, self.rows, self.open = name, rows, False


def parts(counted: Counter[str]) -> list[tuple[str, int]]:
    """Return (state token, number) in the order of a summary: what happens, what went wrong, what is over."""
    return [(f"state-{name}", counted[name]) for name in _ORDER if counted[name]]


def summary(counted: Counter[str]) -> str:
    """Return e.g. `184 of 200 done · 12 running · 3 waiting · 1 failed`."""
    total, done = counted.total(), counted[Outcome.DONE]
    groups = {
        f"of {total:,} done": done,
        "running": counted[Outcome.RUNNING],
        "not heard from": counted[UNHEARD_PART],
        "waiting": sum(counted[name] for name in _QUEUED),
        "failed": counted[Outcome.FAILED],
        "canceled": counted[Outcome.CANCELED],
    }
    return BETWEEN.join(f"{number:,} {word}" for word, number in groups.items() if number)


def style_of_batch(counted: Counter[str]) -> StateStyle:
    """Return the style of a batch: what is most worth knowing about its jobs."""
    first = next((name for name in _ORDER if counted[name]), Outcome.SUBMITTED.value)
    first = Outcome.FAILED.value if counted[Outcome.FAILED] else first
    shown = UNHEARD if first == UNHEARD_PART else OUTCOME_STYLES[Outcome(first)]
    return StateStyle(shown.shape, shown.token, shown.word, summary(counted))


def brief(counted: Counter[str]) -> str:
    """The same where there is little room: `184 of 200`, or `200 done` if all are."""
    total, done = counted.total(), counted[Outcome.DONE]
    return f"{total:,} done" if done == total else f"{done:,} of {total:,}"
