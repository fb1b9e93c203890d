"""`crossdesk broker repair`: compares the stored rows with a full replay, and mends what can be mended."""

from __future__ import annotations

import os
import socket
from typing import Annotated

import typer
from rich.text import Text

from broker_core.bookkeeping.check import Inconsistency, check
from broker_core.bookkeeping.repair import LOST_FILE, Repaired
from broker_core.bookkeeping.repair import repair as mend
from broker_core.bookkeeping.taken_out import notices
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session
from broker_core.system.paths import Paths, places

_SHOWN = 50
"""Lost jobs that are shown; the others are in the file."""


def repair(
    apply: Annotated[bool, typer.Option("--apply", help="Make a new store; without it only look.")] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Check every stored record; with --apply make the store whole again, keeping a copy of the old one."""
    where = places(session().state_dir)
    return _apply(where) if apply else _look(where)


def _look(where: Paths) -> int:
    found = check(where.store)
    if session().json:
        output.as_json(
            {"findings": [_value(one) for one in found], "repaired": False, "notices": notices(where.store)}
        )
    else:
        _show(found)
        _note(where)
        if found:
            output.say("Stop the broker, then `crossdesk broker repair --apply` makes the store whole again.")
    return Exit.ERROR if found else Exit.OK


def _apply(where: Paths) -> int:
    done = mend(where.store, host=socket.gethostname(), pid=os.getpid())
    if session().json:
        output.as_json(
            {
                "findings": [_value(one) for one in done.findings],
                "repaired": bool(done.findings),
                "copy": str(done.copy) if done.copy else None,
                "quarantined": done.quarantined,
                "kept": done.kept,
                "emptied": done.emptied,
                "lost": done.lost,
                "notices": notices(where.store),
            }
        )
    else:
        _show(done.findings)
        _tell(done)
        _note(where)
    nothing_left = done.emptied or (done.quarantined and not done.kept)
    return Exit.ERROR if nothing_left or done.lost else Exit.OK


def _tell(done: Repaired) -> None:
    """What was done, and what could not be."""
    if not done.findings:
        return
    if done.emptied:
        output.say(f"No job could be brought back: the store was gone or empty. {_old(done)}", "bold red")
        output.say("A new store with no jobs was made.")
    else:
        output.say(f"The store is whole again with {done.kept:,} jobs. {_old(done)}", "green")
    for job in done.quarantined:
        output.say(f"{job} was taken out: a part of its story is missing.", "yellow")
    if done.lost:
        output.say(f"Of {len(done.lost):,} jobs no record is left, but these tell of them:", "bold red")
        rows = [(Text(job, style="bold"), output.printable(paths[0])) for job, paths in done.lost.items()]
        tables.table(("LOST JOB", "WHERE"), rows[:_SHOWN])
        if len(rows) > _SHOWN:
            output.say(f"... and {len(rows) - _SHOWN:,} more.")
        output.say(f"All of them are listed in {done.copy}/{LOST_FILE}.")
        output.say(
            "Copy what you need of their files before a broker starts: it removes what it does not know."
        )


def _old(done: Repaired) -> str:
    return f"What was there is in {done.copy}."


def _note(where: Paths) -> None:
    for line in notices(where.store):
        output.say(output.printable(line), "yellow")


def _value(one: Inconsistency) -> dict[str, str]:
    return {"place": one.place, "what": one.what, "job": one.job}


def _show(found: list[Inconsistency]) -> None:
    if not found:
        output.say("Every stored record is whole.", "green")
        return
    rows = [(Text(output.printable(one.place), style="bold"), one.what) for one in found]
    tables.table(("WHERE", "WHAT IS WRONG"), rows)
