"""`crossdesk job tag`: what a user writes on jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line.invocation import Json, StateDir, with_client
from broker_core.command_line.job.change import report
from broker_core.command_line.job.following import matching_rows
from broker_core.command_line.job.ids import resolve
from broker_core.command_line.job.list import asked_query
from broker_core.command_line.shielding import unshielded
from broker_core.errors import BadRequest, NotFound
from broker_core.wire.submission import Outcomes

Tagged = Annotated[
    list[str],
    typer.Argument(
        help="Ids of jobs or batches, or terms of a query such as name:scan*; - reads ids.",
        metavar="ID|QUERY",
    ),
]
"""Jobs by their ids, or by a query."""


def tag(
    given: Tagged,
    add: Annotated[
        list[str] | None, typer.Option("--add", "-a", help="Tag to give; may be repeated.", metavar="TAG")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", "-r", help="Tag to take away.", metavar="TAG")
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", help="Note in place of the one before; empty removes it.")
    ] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Give tags and notes to jobs, whatever their states; `job list tag:TAG` finds them.

    Jobs are named by their ids, or by a query as in `job list`.
    """
    if not add and not remove and note is None:
        raise BadRequest(
            "Nothing is to be changed.",
            code="usage",
            remedy="Write --add TAG, --remove TAG or --note TEXT; `crossdesk job status ID` shows them.",
        )
    words = [unshielded(word) for word in given]
    query = asked_query([word for word in words if ":" in word])

    async def work(client: BrokerClient) -> Outcomes:
        named = [word for word in words if ":" not in word]
        ids = await resolve(client, named, batches=True) if named else []
        if query is not None:
            async for rows in matching_rows(client, (), query):
                ids += (row["id"] for row in rows)
        if not ids:
            raise NotFound("No job is such.", remedy="`crossdesk job list` takes the same query.")
        return await client.annotate(dict.fromkeys(ids), add=add or (), remove=remove or (), note=note)

    return report(with_client(work), "Changed")
