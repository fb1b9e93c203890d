"""Jobs that were submitted outside CrossDesk: their list, and their end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import session, with_client
from broker_core.errors import BadRequest, CrossDeskError
from broker_core.jobs.query import JobQuery
from broker_core.system.clock import now
from broker_core.wire.outside import OutsideJob, OutsideJobs
from broker_core.wire.outside_columns import outside_columns

_NAMED = 5
"""Jobs that are named in a question."""


def list_outside(query: JobQuery | None, *, everything: bool, limit: int) -> int:
    """Ask the sites, and list what fits the query, the latest first; without one what goes on."""
    found = with_client(lambda client: client.outside_jobs(wait=True))
    jobs = _fitting(found, query, everything)
    if session().json:
        output.as_json({"jobs": [job.model_dump() for job in jobs], "silent": found.silent})
        return Exit.OK
    if jobs:
        tables.outside_jobs(jobs[: limit or None])
    else:
        output.say("No such job was submitted outside CrossDesk.", "dim")
    if limit and len(jobs) > limit:
        output.say(f"{len(jobs) - limit:,} more; --limit 0 shows all.", "dim")
    for site, why in found.silent.items():
        output.say(f"{site} could not be asked: {why}", "yellow")
    return Exit.OK


def ask_first(ids: Sequence[str], yes: bool) -> None:
    """Have somebody confirm the end of jobs that this broker did not submit; raises BadRequest where nobody
    can be asked, and typer.Abort."""
    jobs = f"{len(ids)} job{'' if len(ids) == 1 else 's'} submitted outside CrossDesk"
    if yes:
        return
    if session().json or not sys.stdin.isatty():
        raise BadRequest(f"Nobody was asked whether to end {jobs}.", remedy="Add --yes to end them.")
    typer.confirm(f"End {jobs} ({', '.join(ids[:_NAMED])})?", abort=True, err=True)


def cancel_outside(ids: Sequence[str]) -> int:
    """Have the batch systems end jobs, each named SITE/NUMBER."""

    async def work(client: BrokerClient) -> dict[str, str]:
        troubles = {}
        for one in ids:
            site, _, number = one.partition("/")
            try:
                await client.cancel_outside(site, number)
            except CrossDeskError as error:
                troubles[one] = f"{error} {error.remedy}".strip()
        return troubles

    troubles = with_client(work)
    if session().json:
        output.as_json({"results": {one: troubles.get(one) for one in ids}})
    else:
        for one in ids:
            output.line(one) if one not in troubles else output.say(f"{one}: {troubles[one]}", "red")
        if good := len(ids) - len(troubles):
            output.say(f"Told to end: {good} job{'' if good == 1 else 's'}.", "green")
    return Exit.ERROR if troubles else Exit.OK


def _fitting(found: OutsideJobs, query: JobQuery | None, everything: bool) -> list[OutsideJob]:
    jobs = sorted(found.jobs, key=lambda job: job.submitted or 0.0, reverse=True)
    if query is not None:
        columns = outside_columns(jobs)
        return [jobs[row] for row in query.select(columns, range(len(jobs)), now().wall)]
    return [job for job in jobs if everything or job.ended is None]
