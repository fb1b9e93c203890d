"""Checking descriptions: equal texts once, long ones in a thread, nobody is kept waiting (CB-UAM-02)."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from broker_core.jdl.check import Checked, Limits, check

LONG = 20_000
"""Characters from which a text is checked in a thread."""
SLICE = 0.005
"""Seconds of checking after which others get their turn."""
KEPT = 512


class Checker:
    """`check` of the language, remembered for the texts seen last."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._known: OrderedDict[tuple[str, str], Checked] = OrderedDict()
        self._rested = 0.0

    async def check(self, text: str, parameter: str = "") -> Checked:
        """What the language says of a description with `parameter` in place of `_PARAM_`."""
        if len(text) > LONG:
            return await asyncio.to_thread(check, text, limits=self.limits, parameter=parameter)
        known = self._known.get((text, parameter))
        if known is not None:
            self._known.move_to_end((text, parameter))
            return known
        await self._rest()
        return self._keep(text, parameter)

    def _keep(self, text: str, parameter: str) -> Checked:
        checked = check(text, limits=self.limits, parameter=parameter)
        self._known[text, parameter] = checked
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
        return checked

    async def _rest(self) -> None:
        if time.monotonic() - self._rested > SLICE:
            await asyncio.sleep(0)
            self._rested = time.monotonic()
