"""`crossdesk site test`: a real job at a site, and what it said."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import Row, failed, until_ended
from broker_core.command_line.job.ids import SiteName
from broker_core.command_line.job.progress import tell_state
from broker_core.errors import NotFound
from broker_core.jobs.states import JobState

WAIT = 300.0
"""Seconds that a test job is waited for, unless told otherwise."""


def try_site(
    name: SiteName,
    speed: Annotated[bool, typer.Option("--speed", help="Also measure how fast a node is.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", help="Timeout in seconds.")] = WAIT,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Send a small job to a site, wait for it and show what it said; exit code 3 if it failed."""

    async def work(client: BrokerClient) -> Row:
        row = await run_test(client, name, timeout, speed=speed)
        if session().json:
            output.as_json({"test": row})
        else:
            await tell_test(client, row)
        return row

    return Exit.JOB_FAILED if failed([with_client(work)]) else Exit.OK


async def run_test(client: BrokerClient, name: str, timeout: float = WAIT, *, speed: bool = False) -> Row:
    """The row of a test job when it has ended; raises TimedOut."""
    job = (await client.test_site(name, speed=speed)).job
    output.say(f"Test job {job} was sent to {name}.", "dim")
    trial = _Trial(client)
    row = (await until_ended(client, [job], timeout=timeout, changed=trial.changed))[0]
    return await trial.verdict(row)


class _Trial:
    """A test job ends with the first refusal: what the site says once it would say in every round."""

    def __init__(self, client: BrokerClient) -> None:
        self._client = client
        self._refusal = ""
        self._ending: asyncio.Task[object] | None = None

    def changed(self, row: Row) -> None:
        """Tell how it goes; a job that waits again after an attempt was refused."""
        if not session().json:
            tell_state(row)
        if self._ending is None and row["state"] == JobState.WAITING and row["attempt"]:
            self._refusal = row["reason"]
            self._ending = asyncio.create_task(self._client.cancel([row["id"]]))

    async def verdict(self, row: Row) -> Row:
        """The row at its end, with the site's reason rather than that of the cancel."""
        if self._ending is None:
            return row
        await self._ending
        return row | {"reason": self._refusal}


async def tell_test(client: BrokerClient, row: Row) -> None:
    """What the job said, and what that means."""
    for name in ("test.txt", "test.err"):
        try:
            part = await client.read_file(row["id"], name)
        except NotFound:
            continue
        for line in part.content.decode("utf-8", "replace").splitlines():
            output.line(f"  {line}")
    if failed([row]):
        output.say(f"The test job failed: {row['reason'] or 'see its output'}", "red")
    else:
        output.say("The test job ran there: its node sees the directory, and its files came back.", "green")
