"""What the broker knows of resources, held by columns and loaded again when it says that it changed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from app.stores.refresh import Refresh
from app.stores.signals import ResourceSignals
from app.stores.slices import set_aside
from broker_core.errors import CrossDeskError
from broker_core.wire.resources import RESOURCE_COLUMNS

if TYPE_CHECKING:
    from app.stores.broker import BrokerAccess
    from broker_core.wire.resources import ResourcesPage

PAGE = 1000
"""Rows of a page: taken in well within 30 ms."""
_REST = 10.0
"""Pause after a load in units of its own duration, so that a large cache is not loaded all the time."""
_LEAST_MS = 1000


class ResourceStore:
    """What one broker knows of resources. Columns are replaced as a whole once all pages are in; the first
    page shows at once the first time."""

    def __init__(self, broker: BrokerAccess, signals: ResourceSignals | None = None) -> None:
        self._broker, self._signals = broker, signals or ResourceSignals()
        self.changed, self.failed = self._signals.changed, self._signals.failed
        self.columns: dict[str, list[Any]] = {name: [] for name in RESOURCE_COLUMNS}
        self.complete = False
        """True once everything was loaded at least once."""
        self.expected = 0
        self.ahead = 0.0
        """Seconds by which the broker's clock is ahead of this machine's."""
        self._refresh = Refresh()

    def __len__(self) -> int:
        return len(self.columns["ce"])

    def load(self) -> None:
        """Load everything anew, unless that is under way; then once more afterwards."""
        if (self._refresh.under_way or self._broker.link.up) and self._refresh.begin():
            self._broker.run(self._load(), "reading the resources")

    async def _load(self) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            await self._pages()
        except CrossDeskError as error:
            self.failed.emit(str(error))
        finally:
            rest = max(_LEAST_MS, round(1000 * _REST * (loop.time() - begun)))
            self._signals.later(rest, self._rested)

    async def _pages(self) -> None:
        gathered: dict[str, list[Any]] = {name: [] for name in RESOURCE_COLUMNS}
        set_aside()
        page = await self._page(0)
        while True:
            for name, values in gathered.items():
                values.extend(page.columns.get(name) or [None] * len(page.columns["ce"]))
            got = len(gathered["ce"])
            asked = (
                asyncio.ensure_future(self._page(got)) if got < page.total and page.columns["ce"] else None
            )
            if asked is None:
                break
            if not len(self):
                self._take({name: list(values) for name, values in gathered.items()}, page)
            page = await asked
        self.complete = True
        self._take(gathered, page)

    async def _page(self, offset: int) -> ResourcesPage:
        return await self._broker.client.resources_page(offset, PAGE)

    def _take(self, gathered: dict[str, list[Any]], page: ResourcesPage) -> None:
        self.columns = gathered
        self.expected = page.total
        self.ahead = page.now - time.time() if page.now else 0.0
        self.changed.emit()

    def _rested(self) -> None:
        if self._refresh.end():
            self.load()
