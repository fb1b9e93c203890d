"""The place of the relational monitor among the updaters: known, and disabled (CB-UPD-03)."""

from __future__ import annotations

from broker_core.information.updater import SourceAnswer, SourceFailed, SourceSettings

REASON = "The relational monitor (R-GMA) is not asked: no grid runs it any more."
REMEDY = "Use a source of kind ldap; a plug-in in the group crossdesk.updaters may take this one's place."


class RgmaUpdater:
    """Same contract as every updater; disabled unless a plug-in of this kind replaces it."""

    def __init__(self, settings: SourceSettings) -> None:
        self.name, self.kind = settings.name, settings.kind
        self.interval, self.address = settings.interval, settings.address

    async def fetch(self) -> SourceAnswer:
        """Raises SourceFailed: there is no relational monitor to ask."""
        raise SourceFailed(REASON, place=self.address, remedy=REMEDY)
