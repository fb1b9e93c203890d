"""A submission that repeats jobs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Expression, ListOf, Literal
from broker_core.wire.submission import SandboxFile, Submission, SubmissionItem

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient
    from broker_core.wire.views import JobDetail


Row = Mapping[str, Any]
"""JobRecord field to value."""
_OF_INTERACTIVE = (
    "Interactive",
    "InteractiveAgent",
    "InteractiveAgentArguments",
    "InteractiveX11",
    "ListenerHost",
    "ListenerPort",
)
_STREAMS = (("StdOutput", '"output.txt"'), ("StdError", '"errors.txt"'))
"""What a console would have shown goes into files."""


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


def batch_text(text: str) -> str:
    """The description without what makes it interactive; everything else stays as it is written."""
    for name in _OF_INTERACTIVE:
        text = set_attribute(text, name, None)
    text = _batch_type(text)
    ad = parse(text).ad
    for name, file in _STREAMS:
        if ad is not None and name.lower() not in ad.entries:
            text = set_attribute(text, name, file)
    return text


def batch_submission(submission: Submission) -> Submission:
    """The same jobs as batch jobs."""
    items = [
        item.model_copy(update={"description": batch_text(item.description)}) for item in submission.items
    ]
    return submission.model_copy(update={"items": items})


def _batch_type(text: str) -> str:
    ad = parse(text).ad
    entry = ad.entries.get("jobtype") if ad is not None else None
    if entry is None:
        return text
    if not isinstance(entry.value, ListOf):
        return set_attribute(text, "JobType", None) if _interactive(entry.value) else text
    kept = [item for item in entry.value.items if not _interactive(item)]
    if len(kept) == len(entry.value.items):
        return text
    written = ", ".join(text[item.start : item.end] for item in kept)
    return set_attribute(text, "JobType", f"{{{written}}}" if kept else None)


def _interactive(value: Expression) -> bool:
    return isinstance(value, Literal) and str(value.value).lower() == "interactive"
