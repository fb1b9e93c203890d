"""Jobs that were submitted outside CrossDesk: their list, and their end."""

from __future__ import annotations

from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import session, with_client
from broker_core.jobs.query import JobQuery
from broker_core.system.clock import now
from broker_core.wire.outside import OutsideJob, OutsideJobs
from broker_core.wire.outside_columns import outside_columns


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


def _fitting(found: OutsideJobs, query: JobQuery | None, everything: bool) -> list[OutsideJob]:
    jobs = sorted(found.jobs, key=lambda job: job.submitted or 0.0, reverse=True)
    if query is not None:
        columns = outside_columns(jobs)
        return [jobs[row] for row in query.select(columns, range(len(jobs)), now().wall)]
    return [job for job in jobs if everything or job.ended is None]
