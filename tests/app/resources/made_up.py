"""A Resource Cache as a broker would tell it, made up by a seed."""

from __future__ import annotations

import random
import time
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.wire.resources import (
    RESOURCE_COLUMNS,
    AttributeView,
    CommitmentView,
    ResourceDetail,
    ResourcesPage,
    SourceView,
)

COUNTRIES = ("es", "de", "pl", "pt", "ie", "gr", "nl", "sk", "cy", "at", "it", "fr", "gb", "us", "tw")


def columns(number: int, seed: int = 1) -> dict[str, list[Any]]:
    """Columns of a resources page, by computing element."""
    rng = random.Random(seed)
    now = time.time()
    rows = []
    for at in range(number):
        country = COUNTRIES[at // 3 % len(COUNTRIES)]
        total = rng.choice((8, 16, 64, 256, 1024))
        free = rng.randrange(total + 1)
        mark = rng.choice(("",) * 12 + ("stale", "down", "bad", "drained"))
        locked = rng.random() < 0.03
        rows.append((
            f"ce{at // 3:05}.grid.{country}:2119/jobmanager-lcgpbs-{('short', 'long', 'mpi')[at % 3]}",
            f"{country.upper()}-GRID-{at // 3:05}", country, None, None, rng.choice(("pbs", "sge", "slurm")),
            total, free, rng.choice((0, 0, 0, 4)), total - free, 0 if free else rng.randrange(90),
            now - rng.randrange(300), rng.choice(("index", "index,file")), mark,
            "k9-locking-job" if locked else "", now + 20 if locked else None, rng.randrange(9),
            rng.random() > 0.1,
        ))  # fmt: skip
    rows.sort()
    return {name: [row[at] for row in rows] for at, name in enumerate(RESOURCE_COLUMNS)}


def sources() -> list[SourceView]:
    """Sources in every state."""
    now = time.time()
    return [
        SourceView(name="local", kind="local", state="ok", last_heard=now - 3, resources=1, interval=120),
        SourceView(name="index", kind="ldap", state="ok", last_heard=now - 40, resources=9_000, duration=1.2,
                   address="ldap://index.example.org:2170", silent=["PL-GRID-0012", "DE-GRID-0004"]),
        SourceView(name="old-index", kind="ldap", state="failed", last_heard=now - 4000, resources=12,
                   reason="old.example.org does not answer; its resources go stale in 2 min"),
        SourceView(name="rgma", kind="rgma", state="disabled", reason="no such service is left"),
    ]  # fmt: skip


class CacheBroker:
    """Answers what the resources view asks."""

    def __init__(self, number: int) -> None:
        self.columns = columns(number)
        self.number = number
        self.generation = 1
        self.error: CrossDeskError | None = None
        self.refreshed: list[list[str]] = []
        self.told = sources()

    async def resources_page(self, offset: int = 0, limit: int = 1000) -> ResourcesPage:
        if self.error:
            raise self.error
        part = {name: values[offset : offset + limit] for name, values in self.columns.items()}
        return ResourcesPage(columns=part, total=self.number, generation=self.generation, offset=offset,
                             now=time.time())  # fmt: skip

    async def sources(self) -> list[SourceView]:
        if self.error:
            raise self.error
        return self.told

    async def refresh_sources(self, names: Any = ()) -> list[SourceView]:
        self.refreshed.append(list(names))
        return self.told

    async def sites(self) -> list[Any]:
        return []

    async def resource(self, ce: str) -> ResourceDetail:
        row = self.columns["ce"].index(ce)
        now, rng = time.time(), random.Random(row)
        values = {
            "GlueCEUniqueID": ce, "GlueCEInfoTotalCPUs": self.columns["total_cpus"][row],
            "GlueCEStateFreeCPUs": self.columns["free_cpus"][row], "GlueHostMainMemoryRAMSize": 2048,
            "GlueCEInfoLRMSType": self.columns["lrms"][row], "GlueCEStateStatus": "Production",
            "GlueHostApplicationSoftwareRunTimeEnvironment": ["MPICH", "OPENMPI", "VO-cms-8.2"],
        }  # fmt: skip
        attributes = [AttributeView(name=name, value=value, source="index", heard=now - 40) for name, value in
                      values.items()]  # fmt: skip
        attributes[3].others = {"file": 4096}
        times = [now - 86400 + 300 * at for at in range(288)]
        return ResourceDetail(
            ce=ce, site=self.columns["site"][row], attributes=attributes,
            marks={"stale": "nothing was heard of it for 6 min; the next answer of index ends this"}
            if row % 3 == 0 else {},
            commitments=[CommitmentView(job="k1", cpus=4, visible=False),
                         CommitmentView(job="k2", cpus=8, visible=True)],
            lock_owner="k9", lock_until=now + 18, times=times,
            free=[rng.randrange(40) for _ in times], waiting=[rng.randrange(9) for _ in times],
        )  # fmt: skip
