"""The sites as the broker tells them: asked for when it says that they changed, held for every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.sites.faces import silent_since
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk
    from broker_core.wire.sites import SiteView


class KnownSites(QObject):
    """Implements app.context.Sites. What was last heard stays while the broker is away."""

    changed = Signal()

    def __init__(self, desk: WindowDesk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.views: list[SiteView] = []
        self.loaded = False
        """True once the broker told them."""
        self.error = ""
        """Why they could not be read the last time; empty: they could."""
        self._silent: dict[str, float] = {}
        self._busy = self._again = False
        desk.topics.sites.connect(self.look)
        desk.topics.resources.connect(self.look)  # queues and free CPUs of a site are told as resources
        desk.link.changed.connect(self._linked)

    def _linked(self) -> None:
        if self._desk.link.up:
            self.look()
        else:
            self.changed.emit()

    def look(self) -> None:
        """Ask the broker; while a question is on its way, ask once more afterwards."""
        if self._busy:
            self._again = True
        elif self._desk.link.up:
            self._busy = True
            self._desk.run(self._look(), "asking for the sites")

    async def _look(self) -> None:
        try:
            self.show_sites(await self._desk.client.sites())
        except CrossDeskError as error:
            self.show_error(error)
        finally:
            self._busy = False
        if self._again:
            self._again = False
            self.look()

    def show_sites(self, views: list[SiteView]) -> None:
        """Take in the sites."""
        self.views, self.loaded, self.error = views, True, ""
        told = {one.spec.name: silent_since(one.link) for one in views}
        self._silent = {name: since for name, since in told.items() if since is not None}
        self.changed.emit()

    def show_error(self, error: CrossDeskError) -> None:
        """Say why they could not be read; what was known stays."""
        self.error = str(error)
        self.changed.emit()

    def named(self, name: str) -> SiteView | None:
        """The site of this name."""
        return next((one for one in self.views if one.spec.name == name), None)

    def at(self, ces: str | None) -> SiteView | None:
        """The site of the first of these computing elements (as in JobRecord.site)."""
        return self.named(site_of(ces or ""))

    def unheard(self, ces: str | None) -> float | None:
        """Since when the place of a job (JobRecord.site) is not heard from, seconds since the epoch; None:
        it is."""
        if not ces or not self._silent:
            return None
        since = [self._silent[name] for name in map(site_of, ces.split(", ")) if name in self._silent]
        return min(since) if since else None


def site_of(ce: str) -> str:
    """Return the name of the site that a computing element belongs to: what stands before the port."""
    return ce.partition(":")[0]
