"""`crossdesk broker repair`: compares the stored rows with a full replay, and mends what can be mended."""

from __future__ import annotations

import os
import socket
from typing import Annotated

import typer
from rich.text import Text

from broker_core.bookkeeping.check import Finding, check
from broker_core.bookkeeping.repair import repair as mend
from broker_core.broker.places import Places, places
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.session import Json, StateDir, session


def repair(
    apply: Annotated[bool, typer.Option("--apply", help="Make a new store; without it only look.")] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Check every stored record; with --apply make the store whole again, keeping a copy of the old one."""
    where = places(session().state_dir)
    return _apply(where) if apply else _look(where)


def _look(where: Places) -> int:
    found = check(where.store)
    if session().json:
        output.as_json({"findings": [_value(one) for one in found], "repaired": False})
    else:
        _show(found)
        if found:
            output.say("Stop the broker, then `crossdesk broker repair --apply` makes the store whole again.")
    return Exit.ERROR if found else Exit.OK


def _apply(where: Places) -> int:
    done = mend(where.store, host=socket.gethostname(), pid=os.getpid())
    if session().json:
        output.as_json(
            {
                "findings": [_value(one) for one in done.findings],
                "repaired": bool(done.findings),
                "copy": str(done.copy) if done.copy else None,
                "quarantined": done.quarantined,
                "kept": done.kept,
            }
        )
        return Exit.OK
    _show(done.findings)
    if done.findings:
        output.say(
            f"The store is whole again with {done.kept:,} jobs; the old one is in {done.copy}.", "green"
        )
        for job in done.quarantined:
            output.say(f"{job} was taken out: a part of its story is missing.", "yellow")
    return Exit.OK


def _value(one: Finding) -> dict[str, str]:
    return {"place": one.place, "what": one.what, "job": one.job}


def _show(found: list[Finding]) -> None:
    if not found:
        output.say("Every stored record is whole.", "green")
        return
    rows = [(Text(output.printable(one.place), style="bold"), one.what) for one in found]
    tables.table(("WHERE", "WHAT IS WRONG"), rows)
