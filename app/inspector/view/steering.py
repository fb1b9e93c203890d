"""How the View tab changes parameters of a job's program. Imported late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.inspector.view.job_session import JobSession
from broker_core.client.interactive import ShadowSession
from broker_core.client.printable import printable
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from broker_core.interactive.shadow.steering import WantedChange


class SteeringLink(QObject):
    """Sends changes to the agent beside the program, and tells of those that desks made."""

    changed = Signal(object)
    """Name to the newest `WantedChange` of all desks."""
    sent = Signal(str)
    """The program can find what was last wanted of this parameter."""
    refused = Signal(str, str)
    """A change of this parameter did not reach the job, and why."""
    waits = Signal(str)
    """Why nothing can be sent now; empty: it can."""
    over = Signal(str)
    """Nothing can be sent any more, and why; what was under way is given up."""

    def __init__(self, session: JobSession) -> None:
        """`session` was joined for this."""
        super().__init__()
        self._wanted: dict[str, str] = {}
        self._session = session
        session.keep(self)
        session.waits.connect(self.waits)
        session.over.connect(self.over)
        session.do(self._follow)

    @property
    def ended(self) -> bool:
        """Nothing can be sent any more."""
        return self._session.ended

    def close(self) -> None:
        """Leave; what the agent has the program still gets."""
        self._session.leave()

    def set(self, name: str, text: str) -> None:
        """Have a parameter changed. While one change is under way the newest of the others waits."""
        self._session.do(lambda session: self._want(session, name, text))

    def _follow(self, session: ShadowSession) -> None:
        steering = session.forwards.steering
        steering.follow(lambda: self._tell(steering.changes))

    def _tell(self, changes: dict[str, WantedChange]) -> None:
        self.changed.emit(dict(changes))

    async def _want(self, session: ShadowSession, name: str, text: str) -> None:
        under_way = name in self._wanted
        self._wanted[name] = text
        if under_way:
            return
        sent: str | None = None
        try:
            while sent != self._wanted[name]:
                sent = self._wanted[name]
                await session.forwards.steering.set(name, sent)
        except CrossDeskError as error:
            self.refused.emit(name, printable(error.message))
        else:
            self.sent.emit(name)
        finally:
            del self._wanted[name]
