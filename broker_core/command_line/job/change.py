"""`crossdesk job cancel`, `purge`, `hold`, `release` and `rematch`."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.ids import Job, Jobs, resolve
from broker_core.command_line.job.outside import ask_first, cancel_outside
from broker_core.errors import BadRequest
from broker_core.wire.submission import Outcomes

_Verb = Callable[[BrokerClient], Callable[[Iterable[str]], Awaitable[Outcomes]]]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
"""Option of commands that destroy."""
_TWICE = "The program may still run at its site, and go on until that is heard from again: it may run twice."


def cancel(ids: Jobs, yes: Yes = False, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Stop jobs, wherever they are.

    SITE/NUMBER is a job of your account that was submitted outside CrossDesk (`job list --outside`).
    """
    theirs = [one for one in ids if "/" in one]
    if not theirs:
        return _bulk(ids, lambda client: client.cancel, "Canceling")
    if len(theirs) < len(ids):
        raise BadRequest(
            "Some of these jobs are this broker's, and some were submitted outside it.",
            remedy="Cancel them by two commands.",
        )
    ask_first(theirs, yes)
    return cancel_outside(theirs)


def purge(ids: Jobs, yes: Yes = False, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Remove ended jobs with all their files."""
    if not yes and not session().json and sys.stdin.isatty():
        typer.confirm(f"Remove {len(ids)} job(s) and their files for good?", abort=True, err=True)
    return _bulk(ids, lambda client: client.purge, "Removed")


def hold(ids: Jobs, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Keep waiting jobs from being started."""
    return _bulk(ids, lambda client: client.hold, "On hold")


def release(ids: Jobs, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Lift a hold."""
    return _bulk(ids, lambda client: client.release, "Released")


def rematch(job: Job, yes: Yes = False, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Match a job again although its attempt may still run at a site that cannot be reached.

    The old attempt is ended as soon as its site is heard from again; until then the program may run twice,
    and what it does outside its own directory may happen twice.
    """
    if not yes and not session().json:
        output.say(_TWICE, "yellow")
        if sys.stdin.isatty():
            typer.confirm("Run it elsewhere all the same?", abort=True, err=True)

    async def work(client: BrokerClient) -> str:
        found = (await resolve(client, [job]))[0]
        await client.run_elsewhere(found)
        return found

    found = with_client(work)
    if session().json:
        output.as_json({"job": found})
    else:
        output.line(found)
        output.say("It is matched again, without the site that it was at.", "green")
    return Exit.OK


def _bulk(ids: list[str], verb: _Verb, done: str) -> int:
    async def work(client: BrokerClient) -> Outcomes:
        return await verb(client)(await resolve(client, ids, batches=True))

    return report(with_client(work), done)


def report(outcomes: Outcomes, done: str) -> int:
    """Print the jobs for which a command was carried out, and those for which it was not, with the reason."""
    results = outcomes.results
    bad = {job: why for job, why in results.items() if why is not None}
    if session().json:
        output.as_json({"results": results})
    else:
        for job in results:
            if job not in bad:
                output.line(job)
        if good := len(results) - len(bad):
            output.say(f"{done}: {good} job{'s' if good != 1 else ''}.", "green")
        for job, why in bad.items():
            output.say(f"{job}: {why}", "red")
    return Exit.ERROR if bad else Exit.OK
