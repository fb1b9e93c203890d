"""All sources together: each is asked on its own, so that a bad one delays nobody (CB-UPD-01)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from broker_core.errors import Conflict, CrossDeskError, NotFound
from broker_core.information import kinds
from broker_core.information.source import Clock, Publish, Source
from broker_core.information.source_state import SLOW, SourceState, nobody
from broker_core.information.updater import SourceSettings, Updater
from broker_core.wire.resources import SourceView


class Updaters:
    """Keeps the Resource Cache fed. Made and used in the event loop's thread."""

    def __init__(
        self,
        settings: Iterable[SourceSettings],
        publish: Publish,
        clock: Clock,
        *,
        own: Sequence[Updater] = (),
        slow_after: float = SLOW,
        changed: Callable[[], None] = nobody,
    ) -> None:
        """`own`: updaters that the broker makes itself, asked like all others; `changed` is called whenever
        the state of a source is another one."""
        self._sources: dict[str, Source] = {}
        self._idle: dict[str, SourceState] = {}

        def add(one: SourceSettings, updater: Updater) -> None:
            self._sources[one.name] = Source(one, updater, publish, clock, slow_after, changed)

        for updater in own:
            add(SourceSettings(updater.name, updater.kind, updater.address, updater.interval), updater)
        for one in settings:
            made = self._made(one)
            if made is not None:
                add(one, made)

    def start(self) -> None:
        """Ask every source now, and again after each interval."""
        for source in self._sources.values():
            source.start()

    async def close(self) -> None:
        """Ask no more; what is under way is given up."""
        await asyncio.gather(*(source.close() for source in self._sources.values()))

    def views(self) -> list[SourceView]:
        """How each source does, by name."""
        states = [source.state for source in self._sources.values()] + [*self._idle.values()]
        return sorted((state.view.model_copy() for state in states), key=lambda view: view.name)

    def ask(self) -> None:
        """Ask every source now, without waiting for the answers; once more where it is asked already."""
        for source in self._sources.values():
            source.want()

    async def refresh(self, names: Sequence[str] = ()) -> list[SourceView]:
        """Ask the named sources now, or all, and return how they do when each has answered or failed.

        Raises NotFound for a name that is none, Conflict for a source that is never asked (CB-UPD-05).
        """
        for name in names:
            self._check(name)
        wanted = [self._sources[name] for name in dict.fromkeys(names)] or list(self._sources.values())
        await asyncio.gather(*(source.refresh() for source in wanted))
        return [view for view in self.views() if not names or view.name in names]

    def _check(self, name: str) -> None:
        if name in self._idle:
            reason = self._idle[name].view.reason
            raise Conflict(f"The source is not asked. {reason}", place=name)
        if name not in self._sources:
            known = ", ".join(view.name for view in self.views()) or "none"
            raise NotFound("There is no source of this name.", place=name, remedy=f"There are: {known}.")

    def _made(self, settings: SourceSettings) -> Updater | None:
        """The updater of a source; None if it is disabled or cannot be made, which its view tells."""
        if not settings.enabled:
            self._idle[settings.name] = state = SourceState(settings)
            state.disable("It is disabled. Set enabled = true in its table of the settings.")
            return None
        try:
            return kinds.make(settings)
        except CrossDeskError as error:
            self._idle[settings.name] = state = SourceState(settings)
            state.failed(str(error))
            return None
