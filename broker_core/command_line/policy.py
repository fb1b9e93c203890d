"""`crossdesk policy list | choose`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.wire.queue import PolicyView


def list_policies(as_json: Json = False, state_dir: StateDir = None) -> int:
    """List the policies of the scheduler, those in force marked."""
    _show(with_client(lambda client: client.policies()))
    return Exit.OK


def choose(
    order: Annotated[str, typer.Option("--order", help="Order of the sites that match a job.")] = "",
    queue: Annotated[str, typer.Option("--queue", help="Who may pass whom in the queue.")] = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Put policies in force; kept over a restart. On a shared broker for administrators only."""
    if not order and not queue:
        raise typer.BadParameter("name a policy with --order or --queue")
    _show(with_client(lambda client: client.choose_policy(order, queue)))
    return Exit.OK


def _show(policies: list[PolicyView]) -> None:
    if session().json:
        output.as_json({"policies": [one.model_dump() for one in policies]})
        return
    heads = ("POLICY", "FOR", "IN FORCE", "FROM", "WHAT IT DOES")
    tables.table(heads, [_row(one) for one in policies])


def _row(one: PolicyView) -> tuple[str | Text, ...]:
    about = Text(output.printable(one.error), style="red") if one.error else one.doc.partition("\n")[0]
    return (one.name, one.kind, "yes" if one.chosen else "", one.origin, about)
