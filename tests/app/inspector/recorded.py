"""A desk with the real theme, rows and link, in front of a broker whose answers are written down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.context import Notice
from app.stores.jobs import JobStore
from app.stores.link import BrokerLink, ConnectionState
from app.stores.named_texts import NamedTexts
from app.stores.outside import OutsideStore
from app.stores.preferences import Preferences
from app.stores.saved_queries import SavedQueries
from app.stores.sites import SiteStore
from app.stores.slots import SlotStore
from app.stores.topics import TopicSignals
from app.stores.transfers import Transfers
from app.theme.theme import Theme
from broker_core.client.client import FilePart
from broker_core.errors import CrossDeskError, NotFound
from broker_core.wire.matches import ClauseView, MatchedResource, MatchReport
from broker_core.wire.queue import WhyView
from broker_core.wire.views import EventView, JobDetail, LeftView, OutputFile, SandboxEntry

JOB = "Zk3v9aPq0LxT7mWc2RdYbA"
OTHER = "b_Q0u3Rj8kYtN1sVx5EwMg"
BEGUN = time.time() - 400
TEXT = """// trains a small network
[
  Executable = "train.sh";
  Arguments = "--epochs 40 --rate 0.05";
  StdOutput = "out.txt";
  StdError = "err.txt";
  InputSandbox = {"train.sh", "digits.csv"};
  OutputSandbox = {"losses.csv", "weights.png"};
  Requirements = other.GlueCEInfoTotalCPUs >= 4;
]
"""


def row(state: str, **more: Any) -> dict[str, Any]:
    """A row of the jobs table."""
    usual = {
        "id": JOB, "owner": "ann", "name": "train-network", "structure": "Normal", "interactive": False,
        "cpus": 4, "state": state, "description": "0" * 64, "batch": "", "parameter": "", "reason": "",
        "held": "", "site": "local", "attempt": 1, "submitted": BEGUN, "accepted": BEGUN + 0.004,
        "matched": BEGUN + 35, "scheduled": BEGUN + 35.1, "started": BEGUN + 42.1, "ended": None,
        "exit_code": None, "signal": None, "canceling": None, "seq": 5, "position": 5, "schema": 1,
    }  # fmt: skip
    return usual | more


def story(*steps: tuple[float, str, str | None, str, str], **details: Any) -> list[EventView]:
    """Events from (seconds after the start, type, state before, state after, reason); details go last."""
    return [
        EventView(
            position=place, job=JOB, seq=place, time=BEGUN + after, source="Scheduler", type=kind, old=old,
            new=new, owner="ann", attempt=1, resources=["local"], reason=reason,
            details=details if place == len(steps) else {},
        )
        for place, (after, kind, old, new, reason) in enumerate(steps, start=1)
    ]  # fmt: skip


TO_RUNNING = (
    (0.0, "job.submitted", None, "Submitted", ""),
    (0.004, "job.accepted", "Submitted", "Waiting", ""),
    (1.2, "job.postponed", "Waiting", "Waiting", "No site has 4 free CPUs now; the job keeps its place."),
    (35.0, "job.matched", "Waiting", "Ready", "local: rank 2"),
    (35.1, "job.scheduled", "Ready", "Scheduled", ""),
    (42.1, "job.running", "Scheduled", "Running", ""),
)
TO_FAILED = (*TO_RUNNING, (392.0, "job.done", "Running", "Done", ""))
REPORT = MatchReport(
    known=2, matching=1, selected=2, analysis="1 of 2 resources matches; the other has too few CPUs.",
    advice="Ask for at most 2 CPUs, then cluster-b matches too.",
    resources=[
        MatchedResource(
            ce="here:0/jobmanager-fork-all", site="local", matches=True, rank=2, total_cpus=8, free_cpus=2,
            clauses=[ClauseView(text="other.GlueCEInfoTotalCPUs >= 4", value="true",
                            explanation="It has 8 CPUs; at least 4 are asked for")],
        ),
        MatchedResource(
            ce="b.example.org:2119/jobmanager-slurm-short", site="cluster-b", matches=False, total_cpus=2,
            free_cpus=2, reason="it has 2 CPUs in all, 4 are asked for",
            clauses=[
                ClauseView(text="other.GlueCEInfoTotalCPUs >= 4", value="false",
                       explanation="It has 2 CPUs; at least 4 are asked for"),
                ClauseView(text='other.GlueHostArch == "arm"', value="undefined",
                       explanation="Nothing is known of GlueHostArch here"),
            ],
        ),
    ],
)  # fmt: skip


class RecordedBroker:
    """Answers what the test wrote down; the files are real files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.details: dict[str, JobDetail] = {}
        self.events: dict[str, list[EventView]] = {}
        self.roles = {"out.txt": "stdout", "err.txt": "stderr"}
        self.growing = False
        self.error: CrossDeskError | None = None
        self.gate: asyncio.Event | None = None
        """When set, answers wait for it."""
        self.asked: list[str] = []
        self.report = REPORT
        self.cleared: list[str] = []
        self.left = LeftView(site="labhost", files=[])

    async def _answer(self, question: str) -> None:
        self.asked.append(question)
        await (self.gate.wait() if self.gate else asyncio.sleep(0))
        if self.error:
            raise self.error

    async def sites(self) -> list[Any]:
        return []

    async def job(self, job: str) -> JobDetail:
        await self._answer(f"job {job}")
        return self.details[job]

    async def events_of(self, job: str) -> list[EventView]:
        await self._answer(f"events {job}")
        return self.events.get(job, [])

    async def why(self, job: str) -> WhyView:
        await self._answer(f"why {job}")
        return WhyView(
            job=job, headline="No site has 4 free CPUs now.", details=["Two sites match when they are idle."],
            place=2, held_back_by=OTHER, matching_ever=2, known=3, next_round=time.time() + 30,
            remedy="Ask for 2 CPUs: then cluster-b could take it now.",
        )  # fmt: skip

    async def watch(self, ids: Sequence[str]) -> None:
        self.asked.append(f"watch {' '.join(ids)}")

    async def stayed(self, job: str) -> LeftView:
        await self._answer(f"stayed {job}")
        return self.left

    async def fetch_stayed(self, job: str, names: Sequence[str] = ()) -> LeftView:
        await self._answer(f"fetch {job}")
        for one in self.left.files:
            (self.folder / one.path).write_bytes(b"x" * one.size)
        self.left = LeftView(site=self.left.site, files=[])
        return self.left

    async def forget_stayed(self, job: str, names: Sequence[str] = ()) -> LeftView:
        await self._answer(f"forget {job}")
        self.left = LeftView(site=self.left.site, files=[])
        return self.left

    async def files(self, job: str) -> list[OutputFile]:
        await self._answer(f"files {job}")
        return [self._file(path) for path in sorted(self.folder.rglob("*")) if path.is_file()]

    def _file(self, path: Path) -> OutputFile:
        name, facts = str(path.relative_to(self.folder)), path.stat()
        return OutputFile(path=name, size=facts.st_size, modified=facts.st_mtime,
                          role=self.roles.get(name, "output"), growing=self.growing)  # fmt: skip

    async def read_file(self, job: str, path: str, start: int = 0, length: int | None = None) -> FilePart:
        await self._answer(f"read {path} {start}")
        place = self.folder / path
        if not place.exists():
            raise NotFound(f"The job has no file {path!r}.", place=job)
        with place.open("rb") as stream:
            stream.seek(start)
            return FilePart(stream.read(-1 if length is None else length), start, place.stat().st_size)

    async def stream_file(self, job: str, path: str) -> Any:
        yield (self.folder / path).read_bytes()

    async def stream_input(self, job: str, name: str) -> Any:
        yield b"#!/bin/sh\n"

    async def match(self, description: str, files: Any = None, **wanted: Any) -> MatchReport:
        await self._answer("match")
        ces = wanted.get("ces") or [one.ce for one in self.report.resources]
        shown = [one for one in self.report.resources if one.ce in ces]
        return self.report.model_copy(update={"resources": shown})

    async def fetched(self, job: str, missing: Any = ()) -> None:
        self.cleared.append(job)


class TestContext:
    """What the shell gives to views, without the shell."""

    __test__ = False

    def __init__(self, theme: Theme, client: Any) -> None:
        self.theme, self.client = theme, client
        self.jobs, self.link, self.topics = JobStore(), BrokerLink(), TopicSignals()
        self.preferences = Preferences()
        self.presets = NamedTexts(self.preferences, "presets")
        self.saved = SavedQueries(self.preferences)
        self.link.set(ConnectionState.CONNECTED)
        self.sites, self.outside, self.slots = SiteStore(self), OutsideStore(self), SlotStore(self)
        self.shown_sites: list[str] = []
        self.notices: list[str] = []
        self.triggered: list[str] = []
        self.opened: list[str] = []
        self.state_dir: Path | None = None
        self.transfers = Transfers()

    def run(self, work: Any, doing: str) -> asyncio.Task[None]:
        return asyncio.get_event_loop().create_task(self._run(work, doing))

    async def _run(self, work: Any, doing: str) -> None:
        try:
            await work
        except CrossDeskError as error:
            self.notices.append(f"{doing}: {error}")

    finish = run

    def notify(self, notice: Notice) -> None:
        self.notices.append(notice.text)

    def withdraw(self, topic: str) -> None:
        self.notices.append(f"over: {topic}")

    def show_job(self, job: str, tab: str = "") -> None:
        self.opened.append(f"{job} {tab}")

    def show_site(self, name: str) -> None:
        self.shown_sites.append(name)

    def open_editor(
        self, text: str, path: Path | None = None, files: tuple[Path, ...] = (), translation: object = None
    ) -> None:
        self.opened.append(text)

    def trigger(self, action: str) -> None:
        self.triggered.append(action)

    def put(self, told: dict[str, Any], events: list[EventView], **more: Any) -> None:
        """The broker tells a job's row, events and whatever else its detail holds."""
        told = told | {"position": told["position"] + len(events)}
        detail: dict[str, Any] = {
            "row": told, "description": TEXT, "effective": TEXT + "// defaults\n",
            "files": [SandboxEntry(name="train.sh", size=1200, sha256="0" * 64)], "output_sandbox": [],
            "usage": {"wall_s": 349.9, "cpu_s": 1203.2, "max_rss_bytes": 412e6},
        }  # fmt: skip
        self.client.details[told["id"]] = JobDetail(**(detail | more))
        self.client.events[told["id"]] = events
        self.jobs.merge({name: [value] for name, value in told.items()})
        self.jobs.flush()
