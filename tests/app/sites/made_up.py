"""Sites in every state, and a broker that tells them: a stand-in for tests of the views only."""

from __future__ import annotations

import math
import time
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.wire.resources import (
    AccountView,
    GpuCount,
    LicenseView,
    NodeTypeView,
    QosView,
    ResourceDetail,
)
from broker_core.wire.sites import (
    SITE_KINDS,
    Detection,
    LinkView,
    LogLine,
    QuestionAnswer,
    QuestionView,
    QueueFound,
    SiteRemoved,
    SiteSpec,
    SiteTest,
    SiteView,
    SystemFound,
)
from broker_core.wire.slots import SlotsView

PASSPHRASE = QuestionView(
    id="q1", kind="passphrase", text="The key ~/.ssh/id_ed25519 is locked. What is its passphrase?",
    keep_as="ssh:~/.ssh/id_ed25519",
)  # fmt: skip
NEW_HOST = QuestionView(
    id="q2", kind="trust-host", secret=False,
    text="login.cluster-b.example.org is not known yet. Its ED25519 key has the fingerprint "
    "SHA256:vZ3u8w0Qd1k2mYxXhJ0oW5r7pTn9aLcE4sGfB6iUeR0. Compare it with what the site publishes.",
)  # fmt: skip

GPUS = [GpuCount(model="a100", total=48, free=9), GpuCount(model="v100", total=16, free=3)]
NOTHING: dict[str, Any] = {
    "total_cpus": 0, "free_cpus": 0, "queued": 0, "running": 0, "done": 0, "failed": 0, "recent_done": 0,
    "recent_failed": 0, "per_hour": 0.0, "times": [], "history_queued": [], "history_running": [],
}  # fmt: skip
"""Numbers of a site where nothing happened yet."""


def site(name: str, kind: str = "slurm", state: str = "connected", **more: Any) -> SiteView:
    """A site with numbers that look real; `link` and `spec` fields by their names."""
    now = time.time()
    of_link = {
        key: more.pop(key)
        for key in ("reason", "retry_at", "question", "since", "heard", "credential_until")
        if key in more
    }
    of_spec = {key: more.pop(key) for key in ("drained", "host", "url", "lease") if key in more}
    spec = SiteSpec(name=name, kind=kind, **{"host": f"login.{name}.example.org"} | of_spec)
    link = LinkView(state=state, **{"since": now - 3600, "heard": now - 2} | of_link)
    times = [now - 7200 + 120 * at for at in range(60)]
    usual: dict[str, Any] = {
        "title": SITE_KINDS[kind],
        "ces": [f"{name}:22/jobmanager-{kind}-{queue}" for queue in ("short", "long")],
        "total_cpus": 128, "free_cpus": 41, "queued": 12, "running": 34, "done": 812, "failed": 9,
        "recent_done": 88, "recent_failed": 2, "per_hour": 42.0, "times": times,
        "history_queued": [round(20 + 18 * math.sin(at / 7)) for at in range(60)],
        "history_running": [min(34, at) for at in range(60)],
    }  # fmt: skip
    return SiteView(spec=spec, link=link, **usual | more)


def every_state() -> list[SiteView]:
    """One site in each state, and this machine."""
    now = time.time()
    return [
        site("local", "local", host="", removable=False, queued=0, running=2, total_cpus=8, free_cpus=6,
             ces=["localhost:2119/jobmanager-fork-local"]),
        site("cluster-a", gpus=GPUS),
        site("cluster-b", "sge", "needs credentials", question=PASSPHRASE, reason=PASSPHRASE.text,
             heard=now - 5400, running=3, queued=0),
        site("cluster-c", state="retrying", reason="login.cluster-c.example.org does not answer on port 22",
             retry_at=now + 12.4, heard=now - 720, running=7),
        site("grid-d", "arc", "down", host="", url="https://arc.grid-d.example.org/arex", heard=None,
             reason="The proxy /tmp/x509up_u1000 has expired; make a new one with arcproxy", **NOTHING),
        site("old-cluster", "pbs", drained=True, queued=0, running=1),
        site("quick", state="connecting", heard=None, **NOTHING),
        site("black-hole", throttled="9 of the last 10 jobs ended within 2 s; one at a time until 14:20",
             recent_done=1, recent_failed=9, per_hour=2.5),
    ]  # fmt: skip


def equipped(ce: str) -> ResourceDetail:
    """A queue of a cluster that tells everything of itself; its long one has no GPUs."""
    gpus = [
        NodeTypeView(
            count=12, cpus=64, memory=515_000, gpus=4, gpu_model="a100", gpus_free=9, features=["ib", "epyc"]
        ),
        NodeTypeView(
            count=8, cpus=32, memory=192_000, gpus=2, gpu_model="v100", gpus_free=3, features=["ib"]
        ),
    ]
    plain = NodeTypeView(count=240, cpus=128, memory=257_000, features=["ib", "epyc", "local-scratch"])
    short = ce.endswith("short")
    return ResourceDetail(
        ce=ce, site="cluster-a", attributes=[], nodes=[*(gpus if short else []), plain],
        gpus=GPUS if short else [],
        accounts=[
            AccountView(name="phys", default=True, qos=["normal", "long"], default_qos="normal",
                        limits="50 jobs at the same time"),
            AccountView(name="<b>chem</b>", qos=["normal"], default_qos="normal"),
        ],
        qos=[
            QosView(name="normal"),
            QosView(name="long", limits="2 days for each job; 2 GPUs for each user"),
        ],
        licenses=[LicenseView(name="matlab", total=30, free=18)],
    )  # fmt: skip


def found() -> Detection:
    """What a Slurm cluster answers."""
    spec = SiteSpec(name="cluster-b", kind="slurm", host="login.cluster-b.example.org", user="ann")
    queues = [
        QueueFound(name="short", total_cpus=96, free_cpus=24, wall_limit=14400, memory=64000, default=True),
        QueueFound(name="long", total_cpus=96, free_cpus=24, wall_limit=172800, memory=64000),
        QueueFound(name="debug", total_cpus=4, free_cpus=0, open=False),
    ]
    return Detection(
        id="d1", state="found", host="login1", user="ann", home="/home/ann",
        systems=[SystemFound(kind="slurm", title="Slurm", version="22.05.8", queues=queues),
                 SystemFound(kind="shell", title="Host without a batch system"),
                 SystemFound(kind="pbs", title="PBS", trouble="qstat is there, but no server answers")],
        mpi=["openmpi 4.1.4"], python="3.11.2", shared=True, outbound=False,
        modules=["gcc/12", "openmpi/4.1", "root/6.28", "geant4/11", "python/3.11"], suggestion=spec,
    )  # fmt: skip


class SitesBroker:
    """Answers what the sites view and the adding of a site ask; keeps what it was told."""

    def __init__(self, sites: list[SiteView] | None = None) -> None:
        self.views = list(sites or [])
        self.error: CrossDeskError | None = None
        self.asked: list[str] = []
        self.answers: list[tuple[str, QuestionAnswer]] = []
        self.detections: list[Detection] = []
        """Told one after the other; the last one again and again."""
        self.added: list[SiteSpec] = []
        self.refused: CrossDeskError | None = None
        """Why a site is not added."""
        self.asks: QuestionView | None = None
        """What a site asks that is added."""
        self.left = ""
        """What is left at a site that is removed."""
        self.job = ""
        """Test job that the next test answers."""

    async def _note(self, what: str) -> None:
        self.asked.append(what)
        if self.error:
            raise self.error

    async def slots(self) -> SlotsView:
        return SlotsView(now=time.time(), sites=[], glideins=[])

    async def sites(self) -> list[SiteView]:
        await self._note("sites")
        return list(self.views)

    async def site_log(self, name: str) -> list[LogLine]:
        await self._note(f"log {name}")
        now = time.time()
        silent = f"retrying: login.{name}.example.org does not answer"
        told = ((3600, "connecting"), (3598, "connected"), (720, silent))
        return [LogLine(time=now - ago, words=said) for ago, said in told]

    async def resource(self, ce: str) -> ResourceDetail:
        return equipped(ce) if ce.startswith("cluster-a") else ResourceDetail(ce=ce, site="", attributes=[])

    async def answer_site(self, name: str, answer: QuestionAnswer) -> SiteView | None:
        await self._note(f"answer {name}")
        self.answers.append((name, answer))
        return None

    async def drain_site(self, name: str) -> None:
        await self._note(f"drain {name}")

    async def resume_site(self, name: str) -> None:
        await self._note(f"resume {name}")

    async def connect_site(self, name: str) -> None:
        await self._note(f"connect {name}")

    async def remove_site(self, name: str, force: bool = False) -> SiteRemoved:
        await self._note(f"remove {name}{' by force' if force else ''}")
        self.views = [one for one in self.views if one.name != name]
        return SiteRemoved(left=self.left)

    async def change_site(self, spec: SiteSpec) -> None:
        await self._note(f"change {spec.name}")
        self.added.append(spec)

    async def add_site(self, spec: SiteSpec) -> SiteView:
        await self._note(f"add {spec.name}")
        if self.refused:
            raise self.refused
        self.added.append(spec)
        state = "needs credentials" if self.asks else "connected"
        link = LinkView(state=state, question=self.asks, reason=self.asks.text if self.asks else "")
        self.views.append(SiteView(spec=spec, title="Slurm", link=link))
        return self.views[-1]

    async def test_site(self, name: str, *, speed: bool = False) -> SiteTest:
        await self._note(f"{'measure' if speed else 'test'} {name}")
        return SiteTest(job=self.job)

    async def detect_site(self, request: Any) -> Detection:
        await self._note(f"detect {request.url or request.host or 'here'}")
        return self._next()

    async def detection(self, id: str) -> Detection:
        return self._next()

    async def answer_detection(self, id: str, answer: QuestionAnswer) -> None:
        await self._note(f"answer detection {id}")
        self.answers.append((id, answer))
        self.detections = [one for one in self.detections if not one.question or one.question.id != answer.id]

    def _next(self) -> Detection:
        return self.detections.pop(0) if len(self.detections) > 1 else self.detections[0]
