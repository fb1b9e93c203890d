"""`crossdesk queue`: waiting jobs in order, each with the reason."""

from __future__ import annotations

from rich.text import Text

from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import Row, rows_of

_STYLES = {"parked": "red", "held": "yellow", "sent": "blue"}


def queue(as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show your waiting jobs in the order of the queue, and why each of them waits."""
    view = with_client(lambda client: client.queue())
    rows = rows_of(view.columns)
    if session().json:
        about = {"policy": view.policy, "queue_policy": view.queue_policy, "next_round": view.next_round}
        output.as_json({"jobs": rows, "total": view.total, **about})
        return Exit.OK
    if rows:
        heads = ("ID", "PLACE", "NAME", "CPUS", "KIND", "STATE", "SINCE", "WHY")
        tables.table(heads, [_row(row) for row in rows], right=("PLACE", "CPUS"))
    others = view.total - len(rows)
    here = "" if rows else "None of your jobs waits. "
    more = f"{others:,} jobs of others wait. " if others else ""
    output.say(f"{here}{more}Order of sites: {view.policy}; order of the queue: {view.queue_policy}.", "dim")
    return Exit.OK


def _row(row: Row) -> tuple[str | Text, ...]:
    return (
        row["id"],
        str(row["place"] or ""),
        row["name"],
        str(row["cpus"]),
        row["kind"],
        Text(row["state"], style=_STYLES.get(row["state"], "")),
        words.ago(row["since"]),
        row["reason"],
    )
