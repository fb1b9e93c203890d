"""What can be done with a site: the card, its page, the palette and menus do it here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import units
from app.context import Notice, Tone
from app.sites.site_test import Trial
from app.widgets.confirm import confirm, tell
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.context import AppContext
    from broker_core.wire.sites import SiteView


class SiteActions(QObject):
    """Asks the broker; what comes of it is seen at the site itself, what fails is told."""

    tested = Signal(str)
    """A test of the site of this name began or went on."""
    changeAsked = Signal(object)
    """SiteView whose settings the user wants to change."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(context.owner)
        self._context, self._window = context, window
        self.trials: dict[str, Trial] = {}
        """Site to its last test in this window."""

    def test(self, name: str, *, speed: bool = False) -> Trial:
        """Send a test job to a site, which may measure its node; the trial tells how it goes."""
        trial = self.trials[name] = Trial(self._context, name)
        trial.changed.connect(partial(self.tested.emit, name))
        trial.begin(speed=speed)
        return trial

    def drain(self, name: str) -> None:
        """Send no new jobs there; those that are there go on."""
        self._context.run(self._drain(name), f"draining {name}")

    async def _drain(self, name: str) -> None:
        await self._context.client.drain_site(name)
        self._context.notify(Notice(f"{name} takes no new jobs. Those that are there go on."))
        self._context.sites.reload()

    def resume(self, name: str) -> None:
        """Send new jobs there again."""
        self._context.run(self._resume(name), f"resuming {name}")

    async def _resume(self, name: str) -> None:
        await self._context.client.resume_site(name)
        self._context.notify(Notice(f"{name} takes new jobs again.", Tone.GOOD))
        self._context.sites.reload()

    def connect_now(self, name: str) -> None:
        """Try the connection at once instead of waiting for the next try."""
        self._context.run(self._connect(name), f"connecting {name}")

    async def _connect(self, name: str) -> None:
        await self._context.client.connect_site(name)
        self._context.sites.reload()

    def remove(self, site: SiteView) -> None:
        """Ask, then remove a site; it is said how many jobs are canceled with it."""
        name, there = site.spec.name, site.queued + site.running
        if there:
            jobs = units.count(there, "job")
            said = f"{jobs} there will be canceled. To keep them, drain the site and let them end first."
            verb = f"Remove and cancel {jobs}"
        else:
            said = "Its settings and history are forgotten. It can be added again at any time."
            verb = "Remove"
        confirm(self._window, f"Remove {name}?", said, verb, lambda: self._remove_later(name, bool(there)))

    def _remove_later(self, name: str, force: bool) -> None:
        self._context.run(self._remove(name, force), f"removing {name}")

    async def _remove(self, name: str, force: bool) -> None:
        try:
            answer = await self._context.client.remove_site(name, force)
        except CrossDeskError as error:
            self._context.notify(Notice(f"{name} was not removed: {error}", Tone.BAD))
        else:
            self.trials.pop(name, None)
            if answer.left:
                tell(self._window, f"{name} was removed", answer.left)
            else:
                self._context.notify(Notice(f"{name} was removed."))
        self._context.sites.reload()
