"""Launch orders: from a job's record and what the store keeps of it to all that a site needs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Generic, TypeVar

from broker_core.bookkeeping.store import Store
from broker_core.broker.submission.checking import Checker
from broker_core.errors import BadRequest, StoreDamaged
from broker_core.interactive.sessions.sessions import Sessions
from broker_core.jdl.description import JobDescription
from broker_core.jdl.parametric import is_textual, with_value
from broker_core.jobs.overlay_ways import OverlayWay, way_over
from broker_core.jobs.placement import Component, Placement
from broker_core.jobs.record import JobRecord
from broker_core.launching.cached_program import CachedProgram
from broker_core.launching.files import FileStore
from broker_core.launching.orders import OVERLAY, component_order, order_for
from broker_core.launching.overlay_library import OverlayLibrary
from broker_core.launching.spreading import Proxies, chunks_of
from broker_core.sites.contract import LaunchOrder
from broker_core.wire.submission import SandboxFile

Value = TypeVar("Value")
ProxyWords = Callable[[Component, Sequence[Sequence[int]], OverlayWay | None, str], Awaitable[Proxies]]
"""Takes a component, for all of its attempt the processes of each proxy, how they get to a hub if they
talk by way of one, and the name of a launcher of one's own."""
KEPT = 2000
"""Texts of descriptions kept in memory."""


class Recent(Generic[Value]):
    """The values used last, by name."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, Value] = OrderedDict()

    def get(self, name: str) -> Value | None:
        """The value, if it is among those kept."""
        return self._values.get(name)

    def put(self, name: str, value: Value) -> None:
        """Keep a value; the oldest goes."""
        self._values[name] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)


async def no_launcher(
    component: Component, chunks: Sequence[Sequence[int]], overlay: OverlayWay | None, application: str
) -> Proxies:
    """Stands where there are no launchers."""
    raise BadRequest("No launcher of this broker starts one job at several sites.", place=component.tag)


class LaunchOrders:
    """Makes launch orders, and the descriptions behind them."""

    def __init__(self, store: Store, checker: Checker, files: FileStore, sessions: Sessions) -> None:
        self._store = store
        self._checker = checker
        self._files = files
        self._sessions = sessions
        self._texts: Recent[str] = Recent(KEPT)
        self.proxy: ProxyWords = no_launcher
        """How the component of a job over several sites calls its launcher."""
        self.node_cpus: Callable[[str], int] = lambda ce: 0
        """Processors of the largest node of a computing element; 0: not known."""
        self.overlay_answer: Callable[[str], str] = lambda ce: ""
        """What a test job said of the networks of programs at a computing element; empty: nothing."""
        self.library = OverlayLibrary("")
        """For the nodes of those that give programs no namespace."""

    def remember(self, texts: Mapping[str, str]) -> None:
        """Keep texts that will be needed soon, by their hash."""
        for sha, text in islice(texts.items(), KEPT):
            self._texts.put(sha, text)

    async def text(self, record: JobRecord) -> str:
        """The description of a job as submitted; raises StoreDamaged if it is gone."""
        text = self._texts.get(record.description)
        if text is None:
            text = await self._store.description(record.description)
            if text is None:
                raise StoreDamaged("The description of a job is not in the store.", place=record.id)
            self._texts.put(record.description, text)
        return text

    async def description(self, record: JobRecord) -> JobDescription:
        """The checked description of a job, its parameter replaced; raises StoreDamaged."""
        text = await self.text(record)
        sweep = (await self._checker.check(text)).description if record.parameter else None
        if sweep is not None and is_textual(sweep.ad, text, record.parameter):
            return with_value(sweep, record.parameter)
        checked = await self._checker.check(text, record.parameter)
        if checked.description is None:
            raise StoreDamaged(
                f"The stored description is not accepted any more: {checked.diagnostics[0].message}",
                place=record.id,
            )
        return checked.description

    async def files(self, record: JobRecord) -> list[SandboxFile]:
        """The input sandbox of a job."""
        return await self._store.files_of(record.id)

    async def frozen_agent(self) -> CachedProgram | None:
        """See `Sessions.frozen_agent`."""
        return await self._sessions.frozen_agent()

    async def of(
        self, record: JobRecord, component: Component, placements: Sequence[Placement]
    ) -> LaunchOrder:
        """All that a site needs to run a component, of an attempt over one site or several. Raises
        CrossDeskError."""
        if len(placements) < 2:
            return await self._at_one_site(record)
        return await self._at_several(record, component, placements)

    async def _at_one_site(self, record: JobRecord) -> LaunchOrder:
        description = await self.description(record)
        order = order_for(description, record, await self.files(record), self._files)
        return await self._sessions.equipped(order, description)

    async def _at_several(
        self, record: JobRecord, component: Component, placements: Sequence[Placement]
    ) -> LaunchOrder:
        description = await self.description(record)
        order = order_for(description, record, await self.files(record), self._files)
        request, total = order.request, order.cpus
        overlay = self._way(placements) if description.mpi == OVERLAY else None
        application = description.application_launcher
        one_node = overlay or application
        chunks = [
            # What carries the packets of a component does so for one node; a program that is started once
            # starts its own processes.
            (one.cpus,) if one_node else chunks_of(request, total, one.cpus, self.node_cpus(one.ce.id))
            for one in placements
        ]
        proxies = await self.proxy(component, chunks, overlay, application)
        made = component_order(order, component, placements[component.index], proxies)
        if component.index == 0:  # an interactive job has its terminal where rank 0 is
            made = await self._sessions.equipped(made, description)
        else:
            made = replace(made, interactive=False)
        if proxies.overlay is not OverlayWay.PRELOAD:
            return made
        return replace(made, inputs=(*made.inputs, self.library.file()))

    def _way(self, placements: Sequence[Placement]) -> OverlayWay:
        """Which way is open at all of these; raises NoOverlayLibrary where it cannot be gone."""
        way = way_over(self.overlay_answer(one.ce.id) for one in placements)
        if way is OverlayWay.PRELOAD:
            self.library.file()  # else a launcher would begin in vain
        return way
