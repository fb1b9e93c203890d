"""What is said on standard error of jobs that are waited for: their new states, and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.command_line import output, words
from broker_core.command_line.invocation import session
from broker_core.command_line.job.folding import failure_of, summary
from broker_core.command_line.job.following import Row, failed, latest_rows, outcome_of_row
from broker_core.command_line.output import messages
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.states import JobState

_NAMED = 10
"""Jobs that are named for one cause of failure."""
_MANY = 20
"""Jobs of one call up to which each change of a state is told."""


def state_teller(count: int) -> Callable[[Row], None]:
    """A function that tells each change of state; of many jobs only those that failed."""
    told: dict[str, str] = {}

    def tell(row: Row) -> None:
        if told.get(row["id"]) == row["state"] or session().json:
            return
        told[row["id"]] = row["state"]
        if count <= _MANY or outcome_of_row(row) is Outcome.FAILED:
            tell_state(row)

    return tell


def tell_ends(rows: Sequence[Row]) -> None:
    """How several jobs ended, on standard error: which failed by which cause, and how many did what."""
    if len(rows) > 1:
        for cause, names in _failures(rows).items():
            more = f", and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            output.say(f"{cause} ({len(names):,}): {', '.join(names[:_NAMED])}{more}", "red")
        output.say(f"{summary(rows)}.", "red" if failed(rows) else "green")


def _failures(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Cause to the jobs that failed by it, the commonest cause first."""
    found: dict[str, list[str]] = {}
    for row in latest_rows(rows):
        if cause := failure_of(row):
            found.setdefault(cause, []).append(words.name(row))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def refusal_remedy(row: Row) -> str:
    """What can be done about an interactive job that found no place; empty for all others."""
    if not row["interactive"] or row["started"] or row["state"] != JobState.ABORTED:
        return ""
    again = f"crossdesk job resubmit {row['id']}"
    return f"`{again}` tries again; `{again} --as-batch` queues it as a batch job"


def tell_state(row: Row) -> None:
    """One line about a job's new state, on standard error."""
    line = words.standing(row)
    line.append(f"  {output.printable(words.name(row))} {row['id'][:8]}", style="dim")
    if end := words.exit_code_or_signal(row):
        line.append(f"  {'' if row['signal'] is not None else 'exit code '}{end}")
    if row["reason"] and row["reason"].lower() != f"exit code {end}":
        line.append(f"  {output.printable(row['reason'])}", style="dim")
    messages().print(line)
    if remedy := refusal_remedy(row):
        output.say(f"{remedy}.", "dim")
