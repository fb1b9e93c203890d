"""How long leases at a site may still last, and work that is bound by it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any


class LeaseLimit:
    """The moment, by the monotonic clock, after which no lease there can last; it moves with each renewal."""

    def __init__(self, lease: float, grace: float, renewed: Callable[[], float | None]) -> None:
        """`lease`, `grace`: seconds; no lease: 0. `renewed`: the latest moment of a renewal, if any."""
        self._lease, self._grace, self._renewed = lease, grace, renewed

    @property
    def is_over(self) -> bool:
        """True once nothing there is kept alive by a lease; never where there are none."""
        left = self._left()
        return left is not None and left <= 0

    async def bound(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do something, but give it up when leases get over meanwhile; True where that came first.

        What it had sent by then counts: it has ended before this is judged.
        """
        task = asyncio.get_running_loop().create_task(work)
        try:
            while not task.done():
                before = self._left()
                # What was over before is no reason; but a renewal may begin meanwhile.
                pause = before if before is None or before > 0 else self._lease
                await asyncio.wait((task,), timeout=pause)
                if before is not None and before > 0 and self.is_over:
                    await _ended(task)
                    return self.is_over
            task.result()
            return False
        finally:
            await _ended(task)

    def _left(self) -> float | None:
        renewed = self._renewed() if self._lease else None
        return None if renewed is None else renewed + self._lease + self._grace - time.monotonic()


async def _ended(task: asyncio.Task[None]) -> None:
    """Cancel a task until it is done: what closes a connection may take one cancel for its own."""
    while not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=1.0)
