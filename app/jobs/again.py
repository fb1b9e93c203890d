"""A submission that repeats jobs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from broker_core.client.programs.as_batch import batch_text
from broker_core.wire.submission import SandboxFile, Submission, SubmissionItem

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient
    from broker_core.wire.views import JobDetail


Row = Mapping[str, Any]
"""JobRecord field to value."""

async def submission_again(client: BrokerClient, rows: Sequence[Row]) -> Submission:
    """Make a submission of the descriptions and files of jobs, given by their rows; to any site.

    Jobs of one batch that differ only in their value become one item again, for which the broker is asked
    once.
    """
    items: dict[tuple[str, str, str], SubmissionItem] = {}
    for row in rows:
        sweep = row["batch"] and row["parameter"]
        key = (row["description"], row["batch"], row["name"] if sweep else row["id"])
        if key in items:
            items[key].values = [*(items[key].values or ()), row["parameter"]]
        else:
            items[key] = _item(await client.job(row["id"]))
    return Submission(key=secrets.token_urlsafe(16), items=list(items.values()))


async def submissions_again(client: BrokerClient, rows: Sequence[Row]) -> list[Submission]:
    """The same for jobs that keep the site to which their owner confined them: one for each such site."""
    by_site: dict[str, list[Row]] = {}
    for row in rows:
        by_site.setdefault(row["pinned"], []).append(row)
    return [
        (await submission_again(client, those)).model_copy(update={"site": site})
        for site, those in by_site.items()
    ]


def _item(detail: JobDetail) -> SubmissionItem:
    parameter = detail.row["parameter"]
    return SubmissionItem(
        description=detail.description,
        name=detail.row["name"],
        files=[SandboxFile(**file.model_dump()) for file in detail.files],
        values=[parameter] if parameter else None,
    )


def batch_submission(submission: Submission) -> Submission:
    """The same jobs as batch jobs."""
    items = [
        item.model_copy(update={"description": batch_text(item.description)}) for item in submission.items
    ]
    return submission.model_copy(update={"items": items})
