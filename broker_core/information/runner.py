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
        self._started = False
        self._publish, self._clock, self._slow_after, self._changed = publish, clock, slow_after, changed
        for updater in own:
            self.add(updater)
        for one in settings:
            made = self._made(one)
            if made is not None:
                self._sources[one.name] = self._source(one, made)

    def _source(self, settings: SourceSettings, updater: Updater) -> Source:
        return Source(settings, updater, self._publish, self._clock, self._slow_after, self._changed)

    def start(self) -> None:
        """Ask every source now, and again after each interval."""
        self._started = True
        for source in self._sources.values():
            source.start()

    @property
    def names(self) -> set[str]:
        """Names of all sources, disabled ones too."""
        return {*self._sources, *self._idle}

    def add(self, updater: Updater) -> None:
        """Ask one more source from now on; its name is not taken yet."""
        settings = SourceSettings(updater.name, updater.kind, updater.address, updater.interval)
        source = self._sources[updater.name] = self._source(settings, updater)
        if self._started:
            source.start()
            self._changed()

    async def remove(self, name: str) -> None:
        """Ask a source no more, and forget what it said."""
        source = self._sources.pop(name, None)
        if source is None:
            return
        await source.close()
        source.forget()
        self._changed()

    async def close(self) -> None:
        """Ask no more; what is under way is given up."""
        await asyncio.gather(*(source.close() for source in self._sources.values()))

    def views(self) -> list[SourceView]:
        """How each source does, by name."""
        states = [source.state for source in self._sources.values()] + [*self._idle.values()]
        return sorted((state.view.model_copy() for state in states), key=lambda view: view.name)

    def trouble(self, name: str) -> str:
        """Why a source could not be asked the last time; empty: it could, or there is none."""
        source = self._sources.get(name)
        return source.state.view.reason if source is not None and source.state.fails else ""

    def ask(self, name: str = "") -> None:
        """Ask a source now, or all, without waiting for answers; once more where it is asked already."""
        for source in self._sources.values():
            if name in ("", source.name):
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
