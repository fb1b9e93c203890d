"""Write the life-cycle diagrams of broker_core/ARCHITECTURE.md from the transition tables.

`python packaging/lifecycle_diagram.py` puts them between their markers; `--check` only compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from broker_core.interactive.shadow.session_life import SESSION_LIFE
from broker_core.jobs.states import JobState
from broker_core.jobs.transition_table import TransitionTable, label
from broker_core.jobs.transitions import JOB_LIFE, EventType
from broker_core.scheduling.coallocation.life import COALLOCATION_LIFE, COMPONENT_LIFE
from broker_core.scheduling.slots.claim_life import CLAIM_LIFE
from broker_core.scheduling.slots.glidein_life import GLIDEIN_LIFE
from broker_core.scheduling.slots.slot_life import SLOT_LIFE
from broker_core.sites.link import LINK_LIFE
from broker_core.sites.local.run import RUN_LIFE
from broker_core.sites.remote.attempt_life import ATTEMPT_LIFE

Table = TransitionTable[Any, Any]
PAGE = Path(__file__).resolve().parents[1] / "broker_core" / "ARCHITECTURE.md"
OTHERS: tuple[Table, ...] = (
    *(ATTEMPT_LIFE, RUN_LIFE, LINK_LIFE, SESSION_LIFE),
    *(COALLOCATION_LIFE, COMPONENT_LIFE),
    *(GLIDEIN_LIFE, SLOT_LIFE, CLAIM_LIFE),
)
_EVERYWHERE = frozenset(
    {
        *(EventType.CANCEL_REQUESTED, EventType.CANCELED, EventType.LEFT_EXPIRES),
        *(EventType.PURGED, EventType.MESSAGE_LATE),
    }
)


def job_diagram() -> str:
    """The life of a job; what can happen everywhere is said once below it."""
    active = ", ".join(state.value for state in JobState if state.active)
    notes = [
        f"- `canceled` leads from every active state ({active}) to Canceled; `cancel_requested` precedes it.",
        "- `purged` removes the row of an ended job; `left_expires` tells that what stayed at its site goes.",
        "- `message_late` is recorded anywhere, changing nothing.",
    ]
    return "\n".join([*_drawn(JOB_LIFE, _EVERYWHERE), "", *notes])


def diagram(table: Table) -> str:
    """Another life cycle; what leads from everywhere to one state is said once below it."""
    everywhere = {event: state for event in table.events if (state := _everywhere(table, event)) is not None}
    which = "state that is not final" if table.final else "state"
    notes = [
        f"- `{event.value}` leads from every {which} to {label(state)}."
        for event, state in everywhere.items()
    ]
    return "\n".join([*_drawn(table, frozenset(everywhere)), *([""] if notes else []), *notes])


def _drawn(table: Table, apart: frozenset[Any]) -> list[str]:
    return ["```mermaid", *table.diagram(apart), "```"]


def _everywhere(table: Table, event: Any) -> Any:
    """The state to which an event leads from all that are not final; where some are final, one of them."""
    after = {table.steps.get((state, event)) for state in table.states if state not in table.final}
    one = after.pop() if len(after) == 1 else None
    return one if one in table.final or not table.final else None


def _sections() -> Iterator[tuple[str, str, str]]:
    """Marker before, marker behind, and what is between them."""
    made = "made by packaging/lifecycle_diagram.py -->"
    yield f"<!-- life cycle: {made}", "<!-- end of life cycle -->", job_diagram()
    for table in OTHERS:
        name = f"life cycle of {table.entity}"
        yield f"<!-- {name}: {made}", f"<!-- end of {name} -->", diagram(table)


def with_diagrams(page: str) -> str:
    """The page with the diagrams as they are now."""
    for begin, end, text in _sections():
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{text}\n{end}{after}"
    return page


def main() -> int:
    """Write the diagrams, or with `--check` say whether they are current."""
    page = PAGE.read_text(encoding="utf-8")
    current = with_diagrams(page)
    if "--check" in sys.argv[1:]:
        return int(page != current)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
