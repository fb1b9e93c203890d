"""The client's methods about what jobs have written: what stayed at their sites, and searches in logs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from broker_core.client.answers import fitting
from broker_core.client.requests import Requests, part
from broker_core.errors import BadRequest
from broker_core.wire.log_search import JOBS_MOST, LogSearch, LogSearchAnswer, SearchedLog
from broker_core.wire.views import ExpiringView, LeftView


@dataclass(frozen=True, slots=True)
class LogSearchStep:
    """What one request found, and how far the search is."""

    searched: int
    """Jobs so far."""
    logs: Sequence[SearchedLog]


class ResultCommands(Requests):
    """Listing, bringing, forgetting and searching."""

    async def stayed(self, job: str) -> LeftView:
        """What of an ended job is at its site alone."""
        return fitting(LeftView, await self._get(f"/jobs/{part(job)}/stayed"))

    async def expiring(self) -> list[ExpiringView]:
        """What of one's jobs is removed at sites within a day; raises NotFound of an earlier broker."""
        return fitting(list[ExpiringView], await self._get("/expiring"))

    async def fetch_stayed(self, job: str, names: Sequence[str] = ()) -> LeftView:
        """Bring files that stayed, so that they are output like others; no names: all that are listed.

        Returns what is left there. Raises NotFound where one is gone, Conflict before the end.
        """
        answer = await self._post(f"/jobs/{part(job)}/stayed/fetch", {"names": list(names)})
        return fitting(LeftView, answer)

    async def forget_stayed(self, job: str, names: Sequence[str] = ()) -> LeftView:
        """Have files removed at the site for good; no names: all. Returns what is left there."""
        answer = await self._post(f"/jobs/{part(job)}/stayed/forget", {"names": list(names)})
        return fitting(LeftView, answer)

    async def search_logs(self, wanted: LogSearch) -> LogSearchAnswer:
        """Search in the logs of a few jobs; `search_all_logs` does it for any number."""
        return fitting(LogSearchAnswer, await self._post("/log-searches", wanted.model_dump()))

    async def search_all_logs(self, wanted: LogSearch, ids: Sequence[str]) -> AsyncGenerator[LogSearchStep]:
        """Search in the logs of these jobs, whose ids take the place of those in `wanted`, in their order.

        Raises BadRequest for an expression that is none. To stop, stop asking for more.
        """
        waiting = list(dict.fromkeys(ids))
        searched = 0
        while waiting:
            these = waiting[:JOBS_MOST]
            answer = await self.search_logs(wanted.model_copy(update={"ids": these}))
            if answer.problem:
                raise BadRequest(answer.problem, remedy="Mend it, or search for it as plain text.")
            done = set(answer.searched)
            if not done:
                done = {these[0]}  # never ask for the same for ever, whatever is the matter with it
            waiting = [job for job in these if job not in done] + waiting[JOBS_MOST:]
            searched += len(done)
            yield LogSearchStep(searched, answer.logs)
