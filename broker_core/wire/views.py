"""What is shown: jobs, events, files, statistics, the broker itself."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from broker_core.jobs.record import COLUMNS
from broker_core.wire.checks import DiagnosticView
from broker_core.wire.submission import Wire

JOB_COLUMNS: tuple[str, ...] = COLUMNS
"""Names of the columns of a job's record, in order."""
AGE_MOST, SIZE_MOST = 3e9, 1 << 60
"""Seconds and bytes that can be asked for at most."""


class JobsPage(Wire):
    """A page of the jobs table, by columns."""

    columns: dict[str, list[Any]]
    """Column to its values, all of equal length, newest job first; see `jobs.annotations.PAGE_COLUMNS`."""
    next: str = ""
    """Cursor of the next page; empty at the end."""
    total: int = 0
    """Jobs that the query has in all; told by the first page, 0 on those after it."""
    position: int = 0
    """The log position this page is true for: follow the events from here."""


class EventView(Wire):
    """One event as shown; the fields of JobEvent."""

    position: int
    job: str
    seq: int
    time: float
    source: str
    type: str
    old: str | None
    new: str
    owner: str
    attempt: int = 0
    resources: list[str] = []
    reason: str = ""
    details: dict[str, Any] = {}


class Update(Wire):
    """One message of the event stream: what happened, and the rows it touched as they are now."""

    position: int
    """Resume after this one (also the SSE id)."""
    events: list[EventView]
    rows: dict[str, list[Any]]
    """Columns of the jobs' records."""
    gone: list[str] = []
    """Jobs that were purged."""
    annotated: dict[str, list[str]] = {}
    """Jobs whose tags or note changed: columns `id`, `tags` and `note`, as they are now."""
    resources: int = 0
    """Rises with each change of what is known of resources and sources, told at most once a second."""
    scheduler: int = 0
    """Rises with each change of the policies in force and of the order or reasons of the queue, likewise."""
    sites: int = 0
    """Rises with each change of what is shown of a site, its connection above all, likewise."""
    slots: int = 0
    """Rises with each change of glideins, their slots and what is in these, likewise."""


class SandboxEntry(Wire):
    """A file the job was sent with."""

    name: str
    size: int
    sha256: str
    executable: bool = False


class TransferView(Wire):
    """Files of a job on their way between the broker and a site; sizes in bytes."""

    to_site: bool
    """Input goes to the site; else output comes home."""
    done: int
    total: int


class JobDetail(Wire):
    """Everything about one job but its events and files."""

    row: dict[str, Any]
    """Column to value; see `jobs.annotations.PAGE_COLUMNS`."""
    description: str
    """As submitted."""
    effective: str
    """As the broker runs it: parameter replaced, defaults added."""
    files: list[SandboxEntry]
    output_sandbox: list[str]
    stdin: str = ""
    stdout: str = ""
    stderr: str = ""
    waits_for: str = ""
    """Why it has not moved on, and what will move it; empty when nothing is awaited."""
    unheard_since: float | None = None
    """When its site was last heard from, seconds since the epoch, where it is not connected now: what is told
    of the job is from then."""
    transfer: TransferView | None = None
    """Files on their way at this moment."""
    repeated_by: str = ""
    """Id of the job that runs it once more, in its place of the batch; empty: none."""
    queue_place: int = 0
    """1 for the head of the broker's queue; 0 if not queued."""
    usage: dict[str, float] = {}
    """Resources used so far or in all: `wall_s`, `cpu_s`, `max_rss_bytes`, `output_bytes`, as known."""
    diagnostics: list[DiagnosticView] = []


class OutputFile(Wire):
    """One file of a job that can be read."""

    path: str
    """Relative to the job's directory, POSIX separators."""
    size: int
    modified: float
    role: str
    """stdout, stderr, output (listed in OutputSandbox, or fetched later), input or work (anything else)."""
    growing: bool = False
    """True while the job may still write to it."""


class LeftFileView(Wire):
    """A file that a job made and that did not come home."""

    path: str
    """Relative to the job's directory; as another made it: it may hold control characters."""
    size: int
    """Bytes."""


class LeftView(Wire):
    """What of an ended job stayed at its site: what OutputSandbox does not name, or is too large."""

    site: str
    files: list[LeftFileView]
    more: int = 0
    """Files that are not listed, as there are too many, and their bytes."""
    more_bytes: int = 0
    goes: float | None = None
    """When they are removed there, seconds since the epoch; None: with the job."""


class ExpiringView(Wire):
    """What a job left at its site and is removed there within a day."""

    job: str
    name: str
    """Of the job."""
    site: str
    size: int
    """Bytes."""
    goes: float
    """Seconds since the epoch."""


class StageCounts(Wire):
    """Counters of CB-LIFE-06 for one kind of job."""

    submitted: int = 0
    accepted: int = 0
    matched: int = 0
    run: int = 0
    completed: int = 0
    cleared: int = 0


class Statistics(Wire):
    """CB-UI-13."""

    kinds: dict[str, StageCounts]
    """`Normal batch`, `Normal interactive`, `Parallel batch`, ... to counts, in the order of table 5.3."""
    months: list[dict[str, Any]]
    """`{"month": "2026-11", "kind": ..., "jobs": n}`."""
    sizes: list[dict[str, Any]]
    """Job sizes: `{"cpus": n, "jobs": n}`."""
    waits: list[dict[str, Any]]
    """Seconds from submission to start: `{"upto": s, "jobs": n}`, rising bounds, the last None."""
    outcomes: dict[str, int] = {}
    """Outcome to number of jobs. An earlier broker does not say it, and of jobs that were purged by one it is
    not known."""


class BrokerInfo(Wire):
    """Who answers."""

    version: str
    api: int
    pid: int
    host: str
    user: str
    mode: str
    """embedded or shared."""
    state_dir: str
    epoch: int
    started: float
    position: int
    storage: str
    """ok, full or read-only."""
    storage_reason: str = ""
    notices: list[str] = []
    """What people should know of the store, e.g. of damaged records that were taken out of it."""
    accepting: bool
    """False while it hands over or stops."""
    limits: dict[str, int]
    """`input_sandbox_max` (bytes), `description_max` (bytes), `output_max` (bytes)."""
    dialect: str = "crossdesk"
    """Whose rules hold where descriptions of different grids conflict: crossdesk, glite or cream."""
    jobs: dict[str, int]
    """State to number of jobs."""


class RetentionView(Wire):
    """How long and how much a broker keeps. Times in seconds, sizes in bytes."""

    jobs_age: float
    """After its end a job is removed then; 0: never."""
    results_max: int
    """Of a job that names no outputs, what comes home; 0: no limit."""
    left_age: float
    """How long what did not come home stays at a site; 0: until its job is removed."""
    left_max: int
    """Of what all jobs leave at one site; 0: no limit."""
    inputs_age: float = 0.0
    """How long a site keeps an input file after its last job there; 0: for ever."""
    inputs_max: int = 0
    """Of the input files that one site keeps; 0: no limit."""
    fixed: str = ""
    """Why who asks cannot change them; empty: they can be changed."""


class RetentionChange(Wire):
    """What is to be another; None leaves it as it is."""

    jobs_age: float | None = Field(None, ge=0, le=AGE_MOST, allow_inf_nan=False)
    results_max: int | None = Field(None, ge=0, le=SIZE_MOST)
    left_age: float | None = Field(None, ge=0, le=AGE_MOST, allow_inf_nan=False)
    left_max: int | None = Field(None, ge=0, le=SIZE_MOST)
    inputs_age: float | None = Field(None, ge=0, le=AGE_MOST, allow_inf_nan=False)
    inputs_max: int | None = Field(None, ge=0, le=SIZE_MOST)


class ErrorView(Wire):
    """Every refusal and failure of the API."""

    code: str
    message: str
    place: str = ""
    remedy: str = ""
    diagnostics: list[DiagnosticView] = []
