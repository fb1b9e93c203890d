"""A submission that repeats jobs."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from broker_core.wire.submission import SandboxFile, Submission, SubmissionItem

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient
    from broker_core.wire.views import JobDetail


async def submission_again(client: BrokerClient, ids: list[str]) -> Submission:
    """Make a submission of the descriptions and files of jobs; values of one description stay together."""
    items: dict[tuple[str, str], SubmissionItem] = {}
    for job in ids:
        detail = await client.job(job)
        key = (detail.row["description"], detail.row["name"])
        parameter = detail.row["parameter"]
        if key in items and items[key].values is not None and parameter:
            items[key].values.append(parameter)
        elif key in items:
            items[(job, "")] = _item(detail)
        else:
            items[key] = _item(detail)
    return Submission(key=secrets.token_urlsafe(16), items=list(items.values()))


def _item(detail: JobDetail) -> SubmissionItem:
    parameter = detail.row["parameter"]
    return SubmissionItem(
        description=detail.description,
        name=detail.row["name"],
        files=[SandboxFile(name=file.name, sha256=file.sha256, size=file.size) for file in detail.files],
        values=[parameter] if parameter else None,
    )
