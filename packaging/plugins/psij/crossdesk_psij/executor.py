"""The executor `crossdesk` of PSI/J: jobs go to the broker of CrossDesk, which sends them to its sites."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import NoReturn

from psij import (
    InvalidJobException,
    Job,
    JobExecutor,
    JobExecutorConfig,
    JobState,
    JobStatus,
    SubmitException,
)

from broker_core.client.blocking import BlockingClient, JobReport
from broker_core.errors import Conflict, CrossDeskError, DescriptionRefused
from broker_core.jobs.outcome import Outcome
from crossdesk_psij.translation import SCRIPT, description_of, script_of

_STATES = {
    Outcome.RUNNING: JobState.ACTIVE,
    Outcome.DONE: JobState.COMPLETED,
    Outcome.FAILED: JobState.FAILED,
    Outcome.CANCELED: JobState.CANCELED,
}
"""What is not listed waits somewhere."""


class CrossDeskExecutor(JobExecutor):
    """Hands jobs to CrossDesk; `url` may name the only site that they may go to.

    The files that a job names are those that its site sees. What it writes to no file comes home and shows in
    the desk. Custom attributes `crossdesk.NAME` become attributes of the description.
    """

    def __init__(self, url: str | None = None, config: JobExecutorConfig | None = None) -> None:
        super().__init__(url=url, config=config or JobExecutorConfig())
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._connected: BlockingClient | None = None

    @property
    def client(self) -> BlockingClient:
        """The connection, made when first needed; raises CrossDeskError."""
        with self._lock:
            if self._connected is None:
                self._connected = BlockingClient(changed=self._heed)
            return self._connected

    def close(self) -> None:
        """End the connection; jobs go on, and can be attached to."""
        with self._lock:
            connected, self._connected = self._connected, None
        if connected is not None:
            connected.close()

    def submit(self, job: Job) -> None:
        """Hand a job over; raises InvalidJobException or SubmitException."""
        spec = self._check_job(job)
        with job._status_cv:
            if job.status.state == JobState.CANCELED:
                raise SubmitException("The job was canceled.")
        script = script_of(spec)
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, SCRIPT)
                path.write_text(script)
                path.chmod(0o700)
                description = description_of(spec, str(path))
                (native,) = self.client.submit(description, name=spec.name or "", site=self.url or "")
        except CrossDeskError as error:
            job.executor = None
            _refuse(error)
        self._mind(job, native)

    def cancel(self, job: Job) -> None:
        """Ask for the end of a job; raises SubmitException."""
        if job.native_id is None:
            raise SubmitException("The job was not submitted.")
        try:
            self.client.cancel(job.native_id)
        except Conflict:
            return  # it has ended by itself
        except CrossDeskError as error:
            raise SubmitException(str(error), error) from error

    def list(self) -> list[str]:
        """Ids of all jobs of the user that have not ended."""
        return self.client.active()

    def attach(self, job: Job, native_id: str) -> None:
        """Make a new job stand for one that the broker has; raises InvalidJobException."""
        if job.status.state != JobState.NEW:
            raise InvalidJobException("The job must be in the state NEW.")
        job.executor = self
        self._mind(job, native_id)

    def _mind(self, job: Job, native: str) -> None:
        """Bring the job up to date, now and with every change."""
        job._native_id = native
        with self._lock:
            self._jobs[native] = job
        queued = JobStatus(JobState.QUEUED, time=time.time(), metadata={"nativeId": native})
        self._set_job_status(job, queued)
        try:
            (report,) = self.client.status(native)
        except CrossDeskError as error:
            _refuse(error)
        self._heed(report)

    def _heed(self, report: JobReport) -> None:
        with self._lock:
            job = self._jobs.get(report.id)
            if job is not None and report.ended:
                del self._jobs[report.id]
        if job is None:
            return
        code = report.exit_code
        if report.outcome is Outcome.FAILED and report.signal is not None:
            code = 128 + report.signal
        state = _STATES.get(report.outcome, JobState.QUEUED)
        self._set_job_status(job, JobStatus(state, message=report.cause or None, exit_code=code))


def _refuse(error: CrossDeskError) -> NoReturn:
    """Tell PSI/J whether the job itself is at fault."""
    if isinstance(error, DescriptionRefused):
        found = " ".join(one.message for one in error.diagnostics if one.severity == "error")
        raise InvalidJobException(f"{error} {found}".strip(), error) from error
    raise SubmitException(str(error), error, transient=error.status >= 500) from error
