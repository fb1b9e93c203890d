"""Searching in the logs of any number of jobs, by as many requests as it takes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broker_core.errors import BadRequest
from broker_core.wire.log_search import JOBS_MOST, LogSearch, SearchedLog

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient


@dataclass(frozen=True, slots=True)
class LogSearchStep:
    """What one request found, and how far the search is."""

    searched: int
    """Jobs so far."""
    logs: Sequence[SearchedLog]


async def search_all(
    client: BrokerClient, wanted: LogSearch, ids: Sequence[str]
) -> AsyncGenerator[LogSearchStep]:
    """Search in the logs of these jobs, whose ids take the place of those in `wanted`, in their order.

    Raises BadRequest for an expression that is none. To stop, stop asking for more.
    """
    waiting = list(dict.fromkeys(ids))
    searched = 0
    while waiting:
        part = waiting[:JOBS_MOST]
        answer = await client.search_logs(wanted.model_copy(update={"ids": part}))
        if answer.problem:
            raise BadRequest(answer.problem, remedy="Mend it, or search for it as plain text.")
        done = set(answer.searched)
        if not done:
            done = {part[0]}  # never ask for the same for ever, whatever is the matter with it
        waiting = [job for job in part if job not in done] + waiting[JOBS_MOST:]
        searched += len(done)
        yield LogSearchStep(searched, answer.logs)
