"""Write the life-cycle diagram of broker_core/ARCHITECTURE.md from the transition table.

`python packaging/lifecycle_diagram.py` puts it between the markers; `--check` only compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import TRANSITIONS, EventType

BEGIN = "<!-- life cycle: made by packaging/lifecycle_diagram.py -->"
END = "<!-- end of life cycle -->"
PAGE = Path(__file__).resolve().parents[1] / "broker_core" / "ARCHITECTURE.md"
_EVERYWHERE = frozenset(
    {EventType.CANCEL_REQUESTED, EventType.CANCELED, EventType.PURGED, EventType.MESSAGE_LATE}
)


def diagram() -> str:
    """The table as a Mermaid state diagram; what can happen everywhere is said once below it."""
    lines = ["```mermaid", "stateDiagram-v2"]
    steps: dict[tuple[JobState | None, JobState], list[str]] = {}
    for (old, event), new in TRANSITIONS.items():
        if event not in _EVERYWHERE:
            steps.setdefault((old, new), []).append(event.value.removeprefix("job."))
    for (old, new), events in steps.items():
        lines.append(f"    {old.value if old else '[*]'} --> {new.value}: {', '.join(events)}")
    lines += [f"    {state.value} --> [*]" for state in JobState if state.final]
    lines += ["```", "", *_notes()]
    return "\n".join(lines)


def _notes() -> list[str]:
    active = ", ".join(state.value for state in JobState if state.active)
    return [
        f"- `canceled` leads from every active state ({active}) to Canceled; `cancel_requested` precedes it.",
        "- `purged` removes the row of an ended job; `message_late` is recorded anywhere, changing nothing.",
    ]


def with_diagram(page: str) -> str:
    """The page with the diagram as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{diagram()}\n{END}{after}"


def main() -> int:
    """Write the diagram, or with `--check` say whether it is current."""
    page = PAGE.read_text(encoding="utf-8")
    current = with_diagram(page)
    if "--check" in sys.argv[1:]:
        return int(page != current)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
