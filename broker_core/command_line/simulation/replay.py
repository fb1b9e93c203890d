"""`crossdesk sim replay`: a workload trace through the production scheduler, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session

SAMPLE = "lcg-2005"
"""Name of the trace that comes with the program: a cut of a real grid's log."""


def _policies() -> list[str]:
    from broker_core.command_line.simulation.own_policies import own_policies

    return own_policies().usable()


def _queues() -> list[str]:
    from broker_core.policies.queues import QUEUES

    return list(QUEUES)


def replay(
    trace: Annotated[
        str, typer.Argument(help=f"A trace (SWF, gzip or plain); {SAMPLE} comes with the program.")
    ],
    sites: Annotated[
        Path | None, typer.Option("--sites", help="Sites (TOML or LDIF); without it, those of the trace.")
    ] = None,
    policy: Annotated[
        str, typer.Option("--policy", help="Order of the sites.", autocompletion=_policies)
    ] = "best-fit",
    queue: Annotated[
        str, typer.Option("--queue", help="Order of the queue.", autocompletion=_queues)
    ] = "fcfs",
    cpus: Annotated[
        int, typer.Option("--cpus", min=0, help="CPUs in all for the sites of the trace; 0: as it says.")
    ] = 0,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ask every site before each selection.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Only the first so many jobs; 0: all.")] = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Write the curves as a picture (SVG).")] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option("--compare", help="Replay under this policy too: ORDER, ORDER/QUEUE or /QUEUE."),
    ] = None,
    progress: Annotated[
        bool, typer.Option("--progress", help="With --json: progress as lines of JSON, the result last.")
    ] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Replay a workload trace: utilization, waits and slowdowns under a policy. Needs no broker."""
    # Arrays and the whole scheduler are only loaded by the command that needs them.
    from broker_core.command_line.simulation.run import ReplayRequest, run

    compared = tuple(compare or ())
    run(ReplayRequest(trace, sites, policy, queue, cpus, not no_cache, jobs, plot, progress, compared))
    return Exit.OK


def policies(as_json: Json = False, state_dir: StateDir = None) -> int:
    """List the policies that a replay can be given."""
    if session().json:
        output.as_json({"order": _policies(), "queue": _queues()})
    else:
        kinds = (("sites", _policies()), ("queue", _queues()))
        tables.table(("ORDER OF", "NAME"), [(kind, name) for kind, names in kinds for name in names])
    return Exit.OK
