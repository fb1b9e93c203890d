"""What is known of the files of jobs: asked once, remembered for a while, never waited for by a decision."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from broker_core.errors import CrossDeskError
from broker_core.information.replicas.contract import ReplicaCatalog, is_name
from broker_core.resources.closeness import Replica

log = logging.getLogger("crossdesk.information")
LASTS = 600.0
"""Seconds for which an answer holds."""
AGAIN = 60.0
"""Seconds until a catalogue that did not answer is asked again."""
AT_ONCE = 1000
"""Files of one question to the catalogue."""
_MOST = 200_000
"""Files that are remembered."""


class ReplicaMemory:
    """Answers at once with what is known, and asks the catalogue for the rest meanwhile (CB-UPD-06)."""

    def __init__(
        self, catalog: ReplicaCatalog, monotonic: Callable[[], float], changed: Callable[[], None]
    ) -> None:
        """`monotonic`: a clock that never jumps; `changed` is called when files have been found that were
        not known when they were asked for, so that jobs can be matched again."""
        self.catalog = catalog
        self._monotonic = monotonic
        self._changed = changed
        self._known: dict[str, tuple[float, Replica | None]] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self.failure = ""
        """Why the catalogue did not answer last time, in words; empty if it did."""

    def known(self, names: Sequence[str]) -> list[Replica]:
        """The files that are known now; what is not known, or not for sure any more, is asked for."""
        wanted = _proper(names)
        missing = [name for name in wanted if not self._is_fresh(name) and name not in self._asking]
        for start in range(0, len(missing), AT_ONCE):
            self._ask(missing[start : start + AT_ONCE])
        return [found for name in wanted if (found := self._known.get(name, (0.0, None))[1]) is not None]

    async def found(self, names: Sequence[str], patience: float) -> list[Replica]:
        """Like `known`, but waits up to `patience` seconds for the catalogue."""
        self.known(names)
        tasks = {self._asking[name] for name in _proper(names) if name in self._asking}
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        return self.known(names)

    def forget(self, name: str) -> None:
        """What is known of a file has changed: the catalogue is asked again by the next who needs it."""
        if self._known.pop(name, None) is not None:
            self._changed()

    async def close(self) -> None:
        """Stop asking, and close the catalogue."""
        tasks = set(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.catalog.close()

    def _is_fresh(self, name: str) -> bool:
        until, _ = self._known.get(name, (0.0, None))
        return self._monotonic() < until

    def _ask(self, names: list[str]) -> None:
        task = asyncio.create_task(self._asked(names), name="replicas")
        for name in names:
            self._asking[name] = task

    async def _asked(self, names: list[str]) -> None:
        try:
            answer = await self.catalog.locations(names)
            self.failure = ""
            self._remember({name: answer.get(name) for name in names}, LASTS)
        except CrossDeskError as error:
            if str(error) != self.failure:
                log.warning("Jobs are matched without their files: %s", error)
            self.failure = str(error)
            self._remember({name: self._known.get(name, (0.0, None))[1] for name in names}, AGAIN)
        finally:
            for name in names:
                self._asking.pop(name, None)

    def _remember(self, answer: dict[str, Replica | None], seconds: float) -> None:
        until = self._monotonic() + seconds
        news = any(found != self._known.get(name, (0.0, None))[1] for name, found in answer.items())
        if len(self._known) + len(answer) > _MOST:
            self._known.clear()
        for name, found in answer.items():
            self._known[name] = (until, found)
        if news:
            self._changed()


def _proper(names: Sequence[str]) -> list[str]:
    """Names of files, each once; a catalogue cannot know what is none."""
    return [name for name in dict.fromkeys(names) if is_name(name)]
