"""Glideins and their slots as the broker tells them: asked for when it says that they changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.stores.refresh import Reload
from app.stores.signals import SlotSignals
from broker_core.errors import CrossDeskError, NotFound

if TYPE_CHECKING:
    from app.stores.broker import BrokerAccess
    from broker_core.wire.slots import SlotsView


class SlotStore:
    """The slots of one broker. What was last heard stays while the broker is away."""

    def __init__(self, broker: BrokerAccess, signals: SlotSignals | None = None) -> None:
        self._broker, self._signals = broker, signals or SlotSignals()
        self.changed = self._signals.changed
        self.view: SlotsView | None = None
        """None: the broker has not told them yet."""
        self.ahead = 0.0
        """Seconds by which the broker's clock is ahead of this machine's."""
        self.error = ""
        """Why they could not be read the last time; empty: they could."""
        self.reload = Reload(broker, self._reload, "asking for the slots")
        """Ask the broker; while a question is on its way, ask once more afterwards."""
        self.reload.follow((broker.topics.slots,), self.changed.emit)

    @property
    def on(self) -> bool:
        """True where sites are set to run batch jobs in glideins, or some do still."""
        return self.view is not None and bool(self.view.sites or self.view.glideins)

    async def _reload(self) -> None:
        try:
            self.show(await self._broker.client.slots())
        except NotFound:
            from broker_core.wire.slots import SlotsView

            self.show(SlotsView(now=time.time(), sites=[], glideins=[]))  # an earlier broker has none
        except CrossDeskError as error:
            self.error = str(error)
            self.changed.emit()

    def show(self, view: SlotsView) -> None:
        """Take in how they are."""
        self.view, self.ahead, self.error = view, view.now - time.time(), ""
        self.changed.emit()
