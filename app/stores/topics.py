"""What the broker tells beside jobs: that resources, or the scheduler's views, changed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class TopicSignals(QObject):
    """Who shows such things asks for them again."""

    resources = Signal()
    """What is known of resources, or of the sources of that knowledge, changed."""
    scheduler = Signal()
    """The queue, its reasons, the policies or the decisions changed."""
    sites = Signal()
    """A site, its connection or its numbers changed."""

    slots = Signal()
    """Glideins, their slots, or what is in these changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._told = (0, 0, 0, 0)

    def take(self, resources: int, scheduler: int, sites: int, slots: int = 0) -> None:
        """Take in the numbers of an update; only what rose is told."""
        before, self._told = self._told, (resources, scheduler, sites, slots)
        if resources != before[0]:
            self.resources.emit()
        if scheduler != before[1]:
            self.scheduler.emit()
        if sites != before[2]:
            self.sites.emit()
        if slots != before[3]:
            self.slots.emit()
