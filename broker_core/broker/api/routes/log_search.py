"""The route that searches in the logs of many jobs."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Response

from broker_core.broker.api.dependencies import Owner, StorePart, own_jobs, part
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import json_response
from broker_core.broker.api.routes.output import JobOutput
from broker_core.broker.log_search.process import SECONDS, search_files
from broker_core.errors import NotFound
from broker_core.jobs.record import JobRecord
from broker_core.wire.log_search import LogSearch, LogSearchAnswer, SearchedLog

router = APIRouter(dependencies=[OWNER])
_AT_ONCE = 2
"""Processes that search at the same time, for all users."""
_OPENING_S = 2.0
"""Seconds after which no more files are opened for a request: a far site may be slow to answer."""
_TOO_LONG = f"Searching it took more than {SECONDS:.0f} s and was given up; a simpler expression may help."


@dataclass(frozen=True, slots=True)
class _OpenLog:
    """A log that can be read."""

    job: str
    path: str
    role: str
    handle: int


class LogSearches:
    """Searches in the logs of jobs, a few at a time."""

    def __init__(self, output: JobOutput) -> None:
        self._output = output
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def search(self, wanted: LogSearch, records: Sequence[JobRecord]) -> LogSearchAnswer:
        """Search in the logs of these jobs, as far as the time goes; at least one of them is finished."""
        async with self._turn:
            opened: list[_OpenLog] = []
            reached: list[str] = []
            began = time.monotonic()
            try:
                for record in records:
                    if reached and time.monotonic() - began > _OPENING_S:
                        break
                    opened += await self._opened(record, wanted.roles)
                    reached.append(record.id)
                return await self._search(wanted, reached, opened)
            finally:
                for log in opened:
                    os.close(log.handle)

    async def _opened(self, record: JobRecord, roles: Sequence[str]) -> list[_OpenLog]:
        found = []
        for file in await self._output.listed(record):
            if file.role in roles and file.size:
                try:
                    handle = await self._output.opened(record, file.path)
                except NotFound:
                    continue  # it went since it was listed
                found.append(_OpenLog(record.id, file.path, file.role, handle))
        return sorted(found, key=lambda log: roles.index(log.role))

    async def _search(
        self, wanted: LogSearch, reached: list[str], opened: Sequence[_OpenLog]
    ) -> LogSearchAnswer:
        found = await search_files(wanted, [log.handle for log in opened])
        if found.problem:
            return LogSearchAnswer(searched=reached, logs=[], problem=found.problem)
        answers = list(found.answers)
        late = {log.job for log in opened[len(answers) :]}
        if opened and opened[0].job in late:
            # Not one job was finished: it is given up, so that the caller comes on.
            late.discard(opened[0].job)
            unfinished = [log for log in opened[len(answers) :] if log.job == opened[0].job]
            answers += [{"hits": [], "more": False, "remark": _TOO_LONG} for _ in unfinished]
        logs = [
            SearchedLog(job=log.job, path=log.path, role=log.role, **answer)
            for log, answer in zip(opened, answers, strict=False)
        ]
        telling = [log for log in logs if log.job not in late and (log.hits or log.remark)]
        return LogSearchAnswer(searched=[job for job in reached if job not in late], logs=telling)


LogSearchesPart = Annotated[LogSearches, part(LogSearches)]


@router.post("/log-searches", response_model=LogSearchAnswer)
async def search_logs(
    wanted: LogSearch, store: StorePart, searches: LogSearchesPart, owner: Owner
) -> Response:
    """Search in the logs of some of the caller's jobs; what is not reached in the time is asked for again."""
    ids = list(dict.fromkeys(wanted.ids))
    mine = await own_jobs(store, owner, ids)
    answer = await searches.search(wanted, [mine[job] for job in ids if job in mine])
    gone = [job for job in ids if job not in mine]
    return json_response(answer.model_copy(update={"searched": answer.searched + gone}).model_dump())
