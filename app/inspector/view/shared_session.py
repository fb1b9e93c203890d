"""Who asks for the session of a View tab gets the one that is there. Loads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.console.channel import Connect
    from app.inspector.view.job_session import JobSession


class SharedSession:
    """Display and parameters go over one session: a desk counts once at the node."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._session: JobSession | None = None

    def join(self, job: str) -> JobSession:
        """The session with this job, a new one where there is none; whoever asks loaded what it needs."""
        from app.inspector.view.job_session import JobSession

        if self._session is None or self._session.ended or self._session.job != job:
            self._session = JobSession(self._connect, job)
        self._session.join()
        return self._session
