"""Gathers calls that come within a few milliseconds, so that one exchange with a site serves them all."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Got = TypeVar("Got")


class Batcher(Generic[Asked, Got]):
    """Passes what is asked for on in groups; an exception of a group is that of all its members."""

    def __init__(
        self,
        carry: Callable[[Sequence[Asked]], Awaitable[Sequence[Got | Exception]]],
        *,
        linger: float,
        most: int,
        at_once: int,
    ) -> None:
        """`carry`: does one group, answers in order. `linger`: seconds to wait for more.

        `most`: largest group. `at_once`: groups under way at the same time; meanwhile the next one grows.
        """
        self._carry, self._linger, self._most, self._at_once = carry, linger, most, at_once
        self._waiting: deque[tuple[Asked, asyncio.Future[Got]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, asked: Asked) -> Got:
        """One call; raises what `carry` raised or answered. What was begun goes on without the caller."""
        future: asyncio.Future[Got] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_seen)
        self._waiting.append((asked, future))
        if len(self._tasks) < self._at_once:
            self._begin()
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Give up what is under way; callers get CancelledError."""
        for _, future in self._waiting:
            future.cancel()
        self._waiting.clear()  # first, else a group that ends just now begins the next one
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self) -> None:
        task = asyncio.get_running_loop().create_task(self._work())
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        """The loop tells this a turn after the group's end: what was asked in between begins here."""
        self._tasks.discard(task)
        if self._waiting and not task.cancelled() and len(self._tasks) < self._at_once:
            self._begin()

    async def _work(self) -> None:
        await asyncio.sleep(self._linger)
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            try:
                answers = await self._carry([asked for asked, _ in group])
            except Exception as error:  # noqa: BLE001 - it is handed to every caller
                answers = [error] * len(group)
            except asyncio.CancelledError:
                for _, future in group:
                    future.cancel()
                raise
            for (_, future), answer in zip(group, answers, strict=True):
                _settle(future, answer)


def _settle(future: asyncio.Future[Got], answer: Got | Exception) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def _seen(future: asyncio.Future[Got]) -> None:
    """A caller that went away does not take the answer; that is no error of the loop's."""
    if not future.cancelled():
        future.exception()
