"""The one typed client of the broker: desktop, command line and tests use it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from broker_core.client.answers import fitting, unchecked, value
from broker_core.client.commands.outside import OutsideCommands
from broker_core.client.commands.results import ResultCommands
from broker_core.client.commands.sites import SiteCommands
from broker_core.client.commands.submissions import SubmissionCommands
from broker_core.client.follow import Lost, Regained, follow
from broker_core.client.requests import part
from broker_core.errors import BadRequest, CrossDeskError, NotFound
from broker_core.wire.checks import CheckReport
from broker_core.wire.matches import MatchReport, StartForecast
from broker_core.wire.queue import DecisionView, PolicyView, QueueView, WhyView
from broker_core.wire.replicas import ReplicaList, ReplicaView
from broker_core.wire.resources import ResourceDetail, ResourcesPage, SourceView, TagView
from broker_core.wire.slots import SlotsView
from broker_core.wire.submission import (
    WATCHED_AT_ONCE,
    AnnotationRequest,
    Outcomes,
    Receipt,
    Rerun,
    SandboxFile,
)
from broker_core.wire.views import (
    BrokerInfo,
    EventView,
    JobDetail,
    JobsPage,
    OutputFile,
    RetentionChange,
    RetentionView,
    Statistics,
    Update,
)

if TYPE_CHECKING:
    from broker_core.client.prepare import Prepared


@dataclass(frozen=True, slots=True)
class FilePart:
    """A stretch of a job's file."""

    content: bytes
    start: int
    """Offset of the first byte of `content`."""
    size: int
    """Bytes that the whole file had at that moment."""


class BrokerClient(SiteCommands, OutsideCommands, ResultCommands, SubmissionCommands):
    """One method for each command of the broker (CB-CMD-07).

    Every method raises the `CrossDeskError` that the broker named, or `Unreachable` when it did not answer
    for the client's patience. Requests are repeated over a restart of the broker; each may arrive twice.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    # --- the broker itself

    async def info(self) -> BrokerInfo:
        """Who answers, and how it does."""
        return fitting(BrokerInfo, await self._get("/broker"))

    async def alive(self) -> None:
        """Return as soon as the broker answers: one that hangs, when it goes on. Raises Unreachable where
        there is none."""
        try:
            await self._transport.ask("GET", "/broker/alive", again=False)
        except NotFound:
            return  # an earlier broker has nothing there, and has answered

    async def stop(self) -> None:
        """Ask the broker to end; running jobs go on and are found again."""
        await self._post("/broker/stop", again=False)

    async def handover(self) -> None:
        """Ask the broker to stop accepting, save and end, so that a newer one can take over."""
        await self._post("/broker/handover", again=False)

    async def retention(self) -> RetentionView:
        """How long and how much the broker keeps; raises NotFound of an earlier broker."""
        return fitting(RetentionView, await self._get("/broker/retention"))

    async def choose_retention(self, change: RetentionChange) -> RetentionView:
        """Have it keep for longer or less. Raises NotAuthorized on a shared broker, and StorageFull."""
        answer = await self._transport.ask("PUT", "/broker/retention", change.model_dump(exclude_none=True))
        return fitting(RetentionView, value(answer.content))

    # --- describing

    async def check(self, description: str, files: Sequence[SandboxFile] | None = None) -> CheckReport:
        """All that is wrong with a description."""
        return fitting(CheckReport, await self._post("/checks", _question(description, files)))

    async def match(
        self, description: str, files: Sequence[SandboxFile] | None = None, **wanted: Any
    ) -> MatchReport:
        """Where a description could run (CB-CMD-03); nothing is queued. `wanted`: fields of MatchRequest."""
        answer = await self._post("/matches", _question(description, files) | wanted)
        return fitting(MatchReport, answer)

    async def start_forecasts(self, description: str, ces: Sequence[str]) -> list[StartForecast]:
        """When such a job would start at these computing elements, by the word of their batch systems."""
        answer = await self._post("/matches/forecasts", {"description": description, "ces": list(ces)})
        return [fitting(StartForecast, one) for one in answer]

    # --- submitting

    async def submit_prepared(
        self,
        prepared: Prepared | Sequence[Prepared],
        *,
        key: str = "",
        site: str = "",
        name: str = "",
        values: Sequence[str] | None = None,
        hold: str = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> Receipt:
        """Upload what the broker lacks and submit; `progress` gets bytes sent and bytes in all."""
        from broker_core.client import submit

        return await submit.submit_prepared(
            self, prepared, key=key, site=site, name=name, values=values, hold=hold, progress=progress
        )

    async def resubmit(
        self,
        ids: Sequence[str],
        changes: Mapping[str, str] = MappingProxyType({}),
        *,
        site: str = "",
        anywhere: bool = False,
        key: str = "",
    ) -> Receipt:
        """Run ended jobs once more, each as a new job in its place of the batch, with its value and files.

        `changes`: attributes of the descriptions to new values, see `wire.submission.Rerun`; `site`: the only
        one allowed now, empty: as before; `anywhere`: wherever they fit, whatever was before. All are run or
        none: raises NotFound, Conflict for a job that goes on or was repeated already, and DescriptionRefused
        for values that are not in order.
        """
        from broker_core.client.submit import new_key

        wanted = Rerun(
            key=key or new_key(), ids=list(ids), changes=dict(changes), site=site, anywhere=anywhere
        )
        # What was not asked for is left out: an earlier broker does not know all of it.
        return fitting(Receipt, await self._post("/jobs/resubmit", wanted.model_dump(exclude_defaults=True)))

    # --- jobs

    async def jobs_page(
        self,
        limit: int = 1000,
        after: str = "",
        states: Iterable[str] = (),
        columns: Iterable[str] = (),
        *,
        latest: bool = False,
    ) -> JobsPage:
        """A page of the user's jobs by columns, newest first; `after` is the `next` of the page before.

        `latest`: of each member of a batch only the last run.
        """
        query = {"limit": limit, "after": after, "state": [str(one) for one in states]}
        more = {"latest": "true"} if latest else {}
        return unchecked(JobsPage, await self._get("/jobs", **query, **more, columns=",".join(columns)))

    async def job(self, job: str) -> JobDetail:
        """Everything about one job but its events and files (CB-CMD-05)."""
        return fitting(JobDetail, await self._get(f"/jobs/{part(job)}"))

    async def events_of(self, job: str) -> list[EventView]:
        """The job's story, in order."""
        return [unchecked(EventView, one) for one in await self._get(f"/jobs/{part(job)}/events")]

    async def cancel(self, ids: Iterable[str]) -> Outcomes:
        """Stop jobs everywhere (CB-CMD-02)."""
        return await self._bulk("cancel", ids)

    async def purge(self, ids: Iterable[str]) -> Outcomes:
        """Remove ended jobs and their files."""
        return await self._bulk("purge", ids)

    async def hold(self, ids: Iterable[str]) -> Outcomes:
        """Keep waiting jobs from being matched."""
        return await self._bulk("hold", ids)

    async def release(self, ids: Iterable[str]) -> Outcomes:
        """Lift a hold."""
        return await self._bulk("release", ids)

    async def watch(self, ids: Iterable[str]) -> None:
        """Somebody looks at these jobs, the first WATCHED_AT_ONCE of them: for WATCHED seconds their sites
        are asked sooner after those that wait there. Nothing depends on it, so that no error counts."""
        with contextlib.suppress(CrossDeskError):
            await self._bulk("watch", list(ids)[:WATCHED_AT_ONCE])

    async def annotate(
        self,
        ids: Iterable[str],
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        note: str | None = None,
    ) -> Outcomes:
        """Give tags to jobs and take others from them, and with `note` replace their notes (empty: remove).

        Raises BadRequest for what is no tag and for a note that is too long.
        """
        wanted = AnnotationRequest(ids=list(ids), add=list(add), remove=list(remove), note=note)
        return fitting(Outcomes, await self._post("/jobs/annotate", wanted.model_dump()))

    async def _bulk(self, verb: str, ids: Iterable[str]) -> Outcomes:
        return fitting(Outcomes, await self._post(f"/jobs/{verb}", {"ids": list(ids)}))

    # --- output

    async def files(self, job: str) -> list[OutputFile]:
        """Files of a job that can be read now."""
        return fitting(list[OutputFile], await self._get(f"/jobs/{part(job)}/files"))

    async def read_file(self, job: str, path: str, start: int = 0, length: int | None = None) -> FilePart:
        """Part of a file: `length` bytes from `start`, or to its end; a negative `start` counts from the
        end. Past the end the content is empty."""
        address = f"/jobs/{part(job)}/files/{quote(path)}"
        try:
            answer = await self._transport.ask("GET", address, headers={"range": _range(start, length)})
        except BadRequest as error:
            if error.code != "range_not_satisfiable":
                raise
            return FilePart(b"", max(start, 0), max(start, 0))
        begin, size = _extent(answer.headers.get("content-range", ""), len(answer.content))
        return FilePart(answer.content, begin, size)

    async def stream_file(self, job: str, path: str) -> AsyncIterator[bytes]:
        """The whole of a file, in parts as they come."""
        address = f"/jobs/{part(job)}/files/{quote(path)}"
        async with self._transport.stream("GET", address) as answer:
            async for piece in answer.aiter_bytes(1 << 18):
                yield piece

    async def stream_input(self, job: str, name: str) -> AsyncIterator[bytes]:
        """The whole of a file that the job was sent with, in parts as they come. Raises NotFound."""
        async with self._transport.stream("GET", f"/jobs/{part(job)}/inputs/{quote(name)}") as answer:
            async for piece in answer.aiter_bytes(1 << 18):
                yield piece

    async def fetched(self, job: str, missing: Iterable[str] = ()) -> None:
        """Tell the broker that the output was delivered (CB-CMD-04)."""
        await self._post(f"/jobs/{part(job)}/fetched", {"missing": list(missing)})

    async def run_elsewhere(self, job: str) -> None:
        """Have a job matched again though its attempt may still run at a silent site.

        That attempt is ended as soon as the site is heard from. Raises Conflict where there is none.
        """
        await self._post(f"/jobs/{part(job)}/elsewhere", again=False)

    # --- resources, numbers, documents, events

    async def resources_page(self, offset: int = 0, limit: int = 1000) -> ResourcesPage:
        """A page of all known resources by columns, ordered by computing element (CB-UI-09)."""
        return unchecked(ResourcesPage, await self._get("/resources", offset=offset, limit=limit))

    async def resource(self, ce: str) -> ResourceDetail:
        """Everything known of a computing element, or of the first one of a site, whose `ces` names all."""
        return fitting(ResourceDetail, await self._get(f"/resources/{part(ce)}"))

    async def tags(self) -> list[TagView]:
        """Run-time tags by name, with the sites that show them; environment modules begin with `MODULE:`."""
        return fitting(list[TagView], await self._get("/tags"))

    async def sources(self) -> list[SourceView]:
        """Where knowledge of resources comes from, and how each source does (CB-UPD-01)."""
        return fitting(list[SourceView], await self._get("/sources"))

    async def refresh_sources(self, names: Iterable[str] = ()) -> list[SourceView]:
        """Ask sources now, all without a name; returns when they have answered or failed."""
        answer = await self._post("/sources/refresh", {"names": list(names)})
        return fitting(list[SourceView], answer)

    async def replicas(self, start: str = "", limit: int = 1000) -> ReplicaList:
        """Files of the embedded catalogue whose names begin with `start` (CB-UPD-06)."""
        return fitting(ReplicaList, await self._get("/replicas", start=start, limit=limit))

    async def put_replica(self, name: str, addresses: Iterable[str]) -> ReplicaView:
        """Say where a file is; replaces what was said before."""
        body = {"name": name, "addresses": list(addresses)}
        return fitting(ReplicaView, value((await self._transport.ask("PUT", "/replicas", body)).content))

    async def remove_replica(self, name: str) -> None:
        """Forget where a file is; raises NotFound."""
        await self._transport.ask("DELETE", "/replicas", query={"name": name}, again=False)

    # --- the scheduler

    async def queue(self) -> QueueView:
        """The user's waiting jobs in the order of the queue, with the reasons (CB-UI-11)."""
        return unchecked(QueueView, await self._get("/queue"))

    async def slots(self) -> SlotsView:
        """The glideins that the user's jobs caused or are in (CB-UI-10); NotFound of an earlier broker."""
        return fitting(SlotsView, await self._get("/slots"))

    async def why(self, job: str) -> WhyView:
        """Why a job is not running, by what decides it."""
        return fitting(WhyView, await self._get(f"/jobs/{part(job)}/why"))

    async def decisions(self, after: int = 0, limit: int = 500) -> list[DecisionView]:
        """Decisions about the user's jobs with a number above `after`, oldest first."""
        answer = await self._get("/decisions", after=after, limit=limit)
        return fitting(list[DecisionView], answer)

    async def policies(self) -> list[PolicyView]:
        """The policies that can be chosen, and those in force (CB-SCH-03)."""
        return fitting(list[PolicyView], await self._get("/policies"))

    async def choose_policy(self, order: str = "", queue: str = "") -> list[PolicyView]:
        """Put policies in force; empty leaves one as it is. Refused for users of a shared broker."""
        answer = await self._transport.ask("PUT", "/policies", {"order": order, "queue": queue})
        return fitting(list[PolicyView], value(answer.content))

    async def statistics(self) -> Statistics:
        """Counters and distributions of the user's jobs (CB-UI-13)."""
        return fitting(Statistics, await self._get("/statistics"))

    async def document(self, name: str) -> Any:
        """A small JSON document kept for the user, or None if there is none of that name."""
        try:
            return await self._get(f"/documents/{part(name)}")
        except NotFound:
            return None

    async def save_document(self, name: str, content: Any) -> None:
        """Keep a small JSON document for the user."""
        await self._transport.ask("PUT", f"/documents/{part(name)}", content)

    def follow(
        self, after: int, *, lost: Lost | None = None, regained: Regained | None = None, events: bool = True
    ) -> AsyncGenerator[Update]:
        """Updates after a position, for ever; resumed by itself, missing nothing (CB-LB-04). Close it with
        `contextlib.aclosing` when leaving early.

        `lost` is called with the reason when the stream breaks, `regained` when it goes on. Without `events`
        updates have none: rows say how jobs stand.
        """
        return follow(self._transport, after, lost=lost, regained=regained, events=events)

    async def recover(self) -> None:
        """Start a broker if none answers; raises what it says if it cannot start."""
        await self._transport.recover()


def _question(description: str, files: Sequence[SandboxFile] | None) -> dict[str, Any]:
    found = None if files is None else [one.model_dump() for one in files]
    return {"description": description, "files": found}


def _range(start: int, length: int | None) -> str:
    if start < 0:
        return f"bytes={start}"
    return f"bytes={start}-" + ("" if length is None else str(start + max(length, 1) - 1))


def _extent(content_range: str, length: int) -> tuple[int, int]:
    if not content_range:
        return 0, length
    span, _, size = content_range.removeprefix("bytes ").partition("/")
    first = span.partition("-")[0]
    try:
        return (int(first) if first != "*" else int(size)), int(size)
    except ValueError as error:
        raise CrossDeskError(f"The broker sent an unreadable range: {content_range}") from error
