"""Launch orders: from a job's record and what the store keeps of it to all that a site needs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from broker_core.bookkeeping.store import Store
from broker_core.broker.submission.checking import Checker
from broker_core.errors import BadRequest, StoreDamaged
from broker_core.interactive.sessions.sessions import Sessions
from broker_core.jdl.description import JobDescription
from broker_core.jdl.parametric import is_textual, with_value
from broker_core.jobs.placement import Component, Placement
from broker_core.jobs.record import JobRecord
from broker_core.launching.files import FileStore
from broker_core.launching.orders import OVERLAY, component_order, order_for
from broker_core.launching.spreading import Proxies, chunks_of
from broker_core.sites.contract import LaunchOrder
from broker_core.wire.submission import SandboxFile

Value = TypeVar("Value")
ProxyWords = Callable[[Component, Sequence[Sequence[int]], bool, str], Awaitable[Proxies]]
"""Takes a component, for all of its attempt the processes of each proxy, whether they talk by way of a hub,
and the name of a launcher of one's own."""
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
    component: Component, chunks: Sequence[Sequence[int]], overlay: bool, application: str
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

    async def order(self, record: JobRecord) -> LaunchOrder:
        """All that a site needs to run the current attempt of a job."""
        description = await self.description(record)
        order = order_for(description, record, await self.files(record), self._files)
        return await self._sessions.equipped(order, description)

    async def component(
        self, record: JobRecord, component: Component, placements: Sequence[Placement]
    ) -> LaunchOrder:
        """All that a site needs to run one component of an attempt over several; raises CrossDeskError."""
        description = await self.description(record)
        order = order_for(description, record, await self.files(record), self._files)
        request, total, overlay = order.request, order.cpus, description.mpi == OVERLAY
        application = description.application_launcher
        one_node = overlay or application
        chunks = [
            # What carries the packets of a component does so for one node; a program that is started once
            # starts its own processes.
            (one.cpus,) if one_node else chunks_of(request, total, one.cpus, self.node_cpus(one.ce.id))
            for one in placements
        ]
        proxies = await self.proxy(component, chunks, overlay, application)
        return component_order(order, component, placements[component.index], proxies)
