"""`crossdesk job resubmit`: jobs that have ended are run once more, in their places of a batch."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.programs.as_batch import batch_changes
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.change import Yes
from broker_core.command_line.job.folding import summary
from broker_core.command_line.job.following import Row, all_rows, latest_rows, outcome_of_row
from broker_core.command_line.job.ids import Jobs, Site, resolve
from broker_core.command_line.job.submit import (
    SubmitRequest,
    print_receipt,
    print_warnings,
    warn_of_site,
    watch,
)
from broker_core.errors import BadRequest
from broker_core.jobs.outcome import Outcome
from broker_core.wire.submission import Receipt

_UNASKED = 10
"""Jobs up to which nobody is asked."""
_COLUMNS = ("id", "batch", "state", "exit_code", "rerun_of")


def resubmit(
    ids: Jobs,
    failed: Annotated[bool, typer.Option("--failed", help="Only those of them that failed.")] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Change the description, e.g. WallTime=2h or Memory=4G; may be repeated.",
            metavar="ATTRIBUTE=VALUE",
        ),
    ] = None,
    site: Site = "",
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="Send them wherever they fit, not to the site of before.")
    ] = False,
    as_batch: Annotated[
        bool,
        typer.Option(
            "--as-batch", help="Queue interactive jobs as batch jobs, whose output goes into files."
        ),
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until they have ended.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    key: Annotated[str, typer.Option("--key", help="Key of the request; the same key runs them once.")] = "",
    yes: Yes = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Run jobs once more that have ended, with the same files; prints the ids of the new jobs.

    Each takes the place of the old one in its batch, so the totals of the batch stay. The id of a batch
    stands for its jobs, as they ran last.
    """
    wanted = _changes(changes or ())
    if site and anywhere:
        raise BadRequest(
            "--site and --anywhere exclude each other.", code="bad_change", remedy="Leave out one."
        )
    jobs = with_client(lambda client: _chosen(client, ids, only_failed=failed))
    if not jobs:
        return _none_failed()
    if len(jobs) > _UNASKED and not yes and not session().json and sys.stdin.isatty():
        typer.confirm(f"Run {len(jobs):,} jobs once more?", abort=True, err=True)

    async def work(client: BrokerClient) -> int:
        if as_batch:
            wanted.update(await _as_batch(client, jobs))
        receipt = await client.resubmit(jobs, wanted, site=site, anywhere=anywhere, key=key)
        print_warnings((), receipt)
        await warn_of_site(client, site)
        if not wait:
            print_receipt(receipt, again=True)
            return Exit.OK
        code = await watch(client, receipt, SubmitRequest(wait=True, timeout=timeout, again=True))
        await _tell_batch(client, receipt)
        return code

    return with_client(work)


async def _as_batch(client: BrokerClient, jobs: Sequence[str]) -> Mapping[str, str]:
    """What makes batch jobs of these, which is one thing for all of them."""
    texts = {(await client.job(job)).description for job in jobs}
    changes = [batch_changes(text) for text in texts]
    if any(one != changes[0] for one in changes):
        raise BadRequest(
            "These jobs do not become batch jobs by the same change.",
            code="bad_change",
            remedy="Give --as-batch for jobs of one description at a time.",
        )
    return changes[0]


def _changes(given: Sequence[str]) -> dict[str, str]:
    """Attribute to value, of `Attribute=value`."""
    changes: dict[str, str] = {}
    for one in given:
        name, divided, value = one.partition("=")
        if not divided:
            raise BadRequest(
                f"{one!r} sets nothing.",
                code="bad_change",
                remedy="Write Attribute=value, e.g. --set WallTime=2h; without a value it is taken out.",
            )
        changes[name.strip()] = value
    return changes


def _none_failed() -> int:
    if session().json:
        output.as_json({"ids": []})
    else:
        output.say("None of them failed.", "green")
    return Exit.OK


async def _chosen(client: BrokerClient, typed: Sequence[str], *, only_failed: bool) -> list[str]:
    """Ids of the jobs that are to be run, those of a batch in the order of their submission.

    What is neither a job nor a batch is left for the broker to refuse.
    """
    wanted = await resolve(client, typed)
    left, found = set(wanted), list[Row]()
    async for rows, _ in all_rows(client, columns=_COLUMNS):
        found += (row for row in rows if row["id"] in left or row["batch"] in left)
        left.difference_update([row["id"] for row in rows])
        if not left:
            break
    named, batches = {row["id"]: row for row in found}, dict[str, list[Row]]()
    for row in reversed(latest_rows(found)):
        batches.setdefault(row["batch"], []).append(row)
    rows_of = (batches.get(one) or [named.get(one, {"id": one})] for one in wanted)
    chosen = {row["id"]: row for rows in rows_of for row in rows}
    return [job for job, row in chosen.items() if not only_failed or _has_failed(row)]


def _has_failed(row: Row) -> bool:
    """True for a job that failed, and for one that is not known."""
    return len(row) == 1 or outcome_of_row(row) is Outcome.FAILED


async def _tell_batch(client: BrokerClient, receipt: Receipt) -> None:
    """One line on how the whole batch stands now."""
    if not receipt.batch or session().json:
        return
    members = [
        row
        async for rows, _ in all_rows(client, columns=_COLUMNS)
        for row in rows
        if row["batch"] == receipt.batch
    ]
    output.say(f"Batch {receipt.batch}: {summary(members)}.")
