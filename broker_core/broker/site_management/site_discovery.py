"""Looking what is at a host before it becomes a site; questions are passed on to the user and back."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Protocol

from broker_core.broker.site_management.link_views import question_view
from broker_core.errors import Conflict, CrossDeskError, NotFound
from broker_core.sites.arc.detection import ArcLook
from broker_core.sites.batch.detection import detect
from broker_core.sites.link import Link, LinkState
from broker_core.sites.transport.contract import Transport
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.site_states import DetectionState
from broker_core.wire.sites import Detection, DetectRequest, QuestionAnswer, SiteSpec

log = logging.getLogger("crossdesk.sites")
KEPT = 20
"""Detections that can be asked about; older ones are given up."""
DEADLINE = 180.0
"""Seconds without a question in which a host must have been looked at."""


class HostDiscovery:
    """Looks over SSH, or at this machine."""

    def __init__(self, request: DetectRequest) -> None:
        self._request = request
        self.link = Link(lambda _: None)
        spec = SiteSpec(
            name="look",
            kind="shell",
            host=request.host,
            port=request.port,
            user=request.user,
            jump=request.jump,
            environment=request.environment,
        )
        self._transport: Transport = transport_for(spec, self.link)

    def answer(self, question: str, value: str) -> None:
        """Pass the user's answer on."""
        self._transport.answer(question, value)

    async def found(self) -> Detection:
        """What is there; raises CrossDeskError."""
        await self._transport.open()
        await self._connected()
        return await detect(self._transport, self._request)

    async def _connected(self) -> None:
        """Wait for the connection; at the first failure there is somebody who can correct what was typed."""
        while self.link.state is not LinkState.CONNECTED:
            asked = self.link.state is LinkState.NEEDS_CREDENTIALS and self.link.question is not None
            if not asked and self.link.state is not LinkState.CONNECTING:
                raise CrossDeskError(self.link.reason, place=self._request.host, code="no_connection")
            await self.link.news()

    async def close(self) -> None:
        """Give the connection up."""
        await self._transport.close()


def look_at(request: DetectRequest) -> Discovery:
    """The look that a request asks for."""
    return ArcLook(request) if request.url else HostDiscovery(request)


class Discovery(Protocol):
    """One look at one host, under way."""

    link: Link
    """How the connection does; its question is the user's to answer."""

    def answer(self, question: str, value: str) -> None:
        """The user's answer to a question."""
        ...

    async def found(self) -> Detection:
        """What is there; raises CrossDeskError. `id` and `state` of the answer mean nothing."""
        ...

    async def close(self) -> None:
        """Give the connection up."""
        ...


Looking = Callable[[DetectRequest], Discovery]


class _Run:
    """One detection with its task."""

    def __init__(self, id_: str, look: Discovery) -> None:
        self.id = id_
        self.look = look
        self.result: Detection | None = None
        self.task = asyncio.create_task(self._look())

    async def _look(self) -> None:
        try:
            found = await self._unless_silent(self.look.found())
            self.result = found.model_copy(update={"id": self.id, "state": DetectionState.FOUND})
        except CrossDeskError as error:
            self._failed(" ".join(part for part in (error.message, error.remedy) if part))
        except Exception as error:
            log.exception("Looking at a host failed")
            self._failed(f"An internal error: {type(error).__name__}. The broker's log has the details.")
        finally:
            await self.look.close()

    def _failed(self, reason: str) -> None:
        self.result = Detection(id=self.id, state=DetectionState.FAILED, reason=reason)

    async def _unless_silent(self, work: Awaitable[Detection]) -> Detection:
        """The answer, unless there is none for long; the time of an open question does not count."""
        task = asyncio.ensure_future(work)
        silent = 0.0
        try:
            while silent < DEADLINE:
                done, _ = await asyncio.wait({task}, timeout=5.0)
                if done:
                    return task.result()
                silent = 0.0 if self.look.link.question else silent + 5.0
        finally:
            task.cancel()
            await asyncio.wait({task})
        raise CrossDeskError(
            f"The host did not answer within {DEADLINE:.0f} s.",
            code="silent_host",
            remedy="Check its name and that it can be reached, then try again.",
        )

    def view(self) -> Detection:
        """As it stands now."""
        if self.result is not None:
            return self.result
        question = question_view(self.look.link.question)
        state = DetectionState.QUESTION if question else DetectionState.LOOKING
        return Detection(id=self.id, state=state, reason=self.look.link.reason, question=question)


class SiteDiscovery:
    """The looks under way and those that ended lately; none outlives the broker."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._runs: OrderedDict[str, _Run] = OrderedDict()

    def begin(self, request: DetectRequest) -> Detection:
        """Start to look."""
        run = _Run(secrets.token_hex(8), self._looking(request))
        self._runs[run.id] = run
        while len(self._runs) > KEPT:
            self._runs.popitem(last=False)[1].task.cancel()
        return run.view()

    def found(self, id_: str) -> Detection:
        """How a look does; raises NotFound."""
        return self._run(id_).view()

    def answer(self, id_: str, answer: QuestionAnswer) -> None:
        """Pass the user's answer on; raises NotFound, and Conflict where this is not asked (any more)."""
        run = self._run(id_)
        asked = run.look.link.question
        if asked is None or asked.id != answer.id:
            raise Conflict("This is not asked any more.", place=id_, remedy="Ask again how the look does.")
        run.look.answer(answer.id, answer.value)

    async def close(self) -> None:
        """Give all looks up."""
        tasks = [run.task for run in self._runs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _run(self, id_: str) -> _Run:
        if id_ not in self._runs:
            raise NotFound("This look at a host is over, or never was.", place=id_, remedy="Begin another.")
        return self._runs[id_]
