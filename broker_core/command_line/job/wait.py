"""`crossdesk job wait`: until jobs have ended, with their outcome as exit code."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit, TimedOut
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import Row, failed, outcome_of_row, until_ended, with_outcome
from broker_core.command_line.job.ids import Jobs, resolve
from broker_core.command_line.job.progress import state_teller, tell_ends


def wait(
    ids: Jobs,
    first: Annotated[bool, typer.Option("--any", help="Until one of them has ended; prints its id.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Wait until jobs have ended; the id of a batch stands for its jobs, as they run last.

    The exit code is 0 if all are done, 3 if one failed or was canceled, 124 when the time is over.
    """

    async def work(client: BrokerClient) -> list[Row]:
        jobs = await resolve(client, ids, batches=True, latest=True)
        try:
            return await until_ended(
                client, jobs, timeout=timeout, changed=state_teller(len(jobs)), first=first
            )
        except (TimedOut, asyncio.CancelledError):
            output.say("The jobs go on; `crossdesk job status` shows them.")
            raise

    rows = with_client(work)
    ended = [row for row in rows if outcome_of_row(row).ended]
    if session().json:
        output.as_json({"jobs": [with_outcome(row) for row in ended]})
        return Exit.JOB_FAILED if failed(ended) else Exit.OK
    if first:
        for row in ended:
            output.line(row["id"])
    tell_ends(rows)
    return Exit.JOB_FAILED if failed(ended) else Exit.OK
