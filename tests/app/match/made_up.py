"""Reports of matching as a broker would tell them, made up by a seed."""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import Any

from broker_core.errors import BadRequest, CrossDeskError
from broker_core.wire.matches import (
    ClauseCountView,
    ClauseView,
    MatchedGroup,
    MatchedResource,
    MatchPart,
    MatchReport,
    StartForecast,
)

TEXT = """// simulation of a wing
Executable = "wing";
NodeNumber = 4;
Requirements = other.GlueCEInfoTotalCPUs >= 16 && other.GlueHostMainMemoryRAMSize >= 2048;
Rank = other.GlueCEStateFreeCPUs;
"""
CLAUSES = (
    "other.GlueCEInfoTotalCPUs >= 16",
    "other.GlueHostMainMemoryRAMSize >= 2048",
)
_COUNTRIES = ("es", "de", "pl", "pt", "ie", "gr", "nl", "sk", "cy", "at")


def resources(number: int, seed: int = 1) -> list[MatchedResource]:
    """Made-up resources, candidates by falling rank first, then the others."""
    rng = random.Random(seed)
    made = []
    for at in range(number):
        country = _COUNTRIES[at % len(_COUNTRIES)]
        total, memory = rng.choice((4, 8, 16, 32, 64, 128)), rng.choice((1024, 2048, 4096))
        free = rng.randrange(total + 1)
        holds = (total >= 16, memory >= 2048)
        fits = all(holds) and free >= 4
        said = f"{free} CPUs are free now, 4 are asked for"
        said = said if all(holds) else "it has fewer than 16 CPUs" if holds[1] else "its nodes have 1,024 MB"
        made.append(MatchedResource(
            ce=f"ce{at // 3:04}.grid.{country}:2119/jobmanager-lcgpbs-{('short', 'long', 'mpi')[at % 3]}",
            site=f"{country.upper()}-GRID-{at // 3:04}", matches=fits, rank=float(free) if fits else None,
            total_cpus=total, free_cpus=free, waiting=0 if free else rng.randrange(200),
            reason="" if fits else said, now_only=all(holds) and not fits,
            order=f"rank {free} by Best Fit, then fewest waiting jobs" if fits else "",
            clauses=[
                ClauseView(text=CLAUSES[0], value=str(holds[0]).lower(), explanation=f"It has {total} CPUs"),
                ClauseView(text=CLAUSES[1], value=str(holds[1]).lower(),
                       explanation=f"Its nodes have {memory} MB"),
                ClauseView(text="other.GlueHostApplication == \"wing\"", value="undefined",
                       explanation="Nothing is known of it here"),
                ClauseView(text="4 CPUs free", value=str(free >= 4).lower(), origin="cpus",
                       explanation=f"{free} of {total} are free"),
            ],
        ))  # fmt: skip
    return sorted(made, key=lambda one: (not one.matches, -(one.rank or 0)))


def counts(those: list[MatchedResource]) -> list[ClauseCountView]:
    """The clauses of Requirements and the number of resources at which each holds."""
    found = []
    for at, text in enumerate((*CLAUSES, "4 CPUs free")):
        holds = [[c.value == "true" for c in one.clauses if "wing" not in c.text] for one in those]
        start = TEXT.find(text)
        found.append(ClauseCountView(
            text=text, origin="requirements" if at < 2 else "cpus", satisfied=sum(one[at] for one in holds),
            alone=sum(not one[at] and sum(one) == 2 for one in holds),
            start=max(start, 0), end=start + len(text) if start >= 0 else 0,
        ))  # fmt: skip
    return found


def groups(those: list[MatchedResource]) -> list[MatchedGroup]:
    """Pairs and triples of neighbours among the resources."""
    made = []
    for size in (2, 3):
        for at in range(0, min(len(those), 12) - size, size):
            members = those[at : at + size]
            used = [one.free_cpus for one in members]
            parts = " + ".join(f"{cpus} x {one.rank or 1:g}" for cpus, one in zip(used, members, strict=True))
            weighted = sum(cpus * (one.rank or 1) for cpus, one in zip(used, members, strict=True))
            rank = weighted / max(1, sum(used))
            made.append(MatchedGroup(
                size=size, rank=rank, calculation=f"({parts}) / {sum(used)} = {rank:.4g}", cpus=used,
                total_cpus=sum(one.total_cpus for one in members), free_cpus=sum(used), members=members,
            ))  # fmt: skip
    return made


class MatchBroker:
    """Answers match requests over made-up resources, with the fields that a broker honours."""

    def __init__(self, number: int, grouped: bool = False) -> None:
        self.those = resources(number)
        self.grouped = grouped
        self.asked: list[dict[str, Any]] = []
        self.error: CrossDeskError | None = None
        self.parts: list[MatchPart] = []
        self.gates: list[asyncio.Event] = []
        """The next answers wait for these, in order."""

    async def start_forecasts(self, description: str, ces: list[str]) -> list[StartForecast]:
        self.asked.append({"description": description, "forecasts": ces})
        answers = ({"wait": 600.0}, {"trouble": "Slurm says: Invalid account"}, {})
        more = zip(ces, itertools.cycle(answers), strict=False)
        return [StartForecast(ce=ce, source="Slurm", **one) for ce, one in more]  # type: ignore[arg-type]

    async def match(self, description: str, files: Any = None, **wanted: Any) -> MatchReport:
        self.asked.append({"description": description, **wanted})
        await (self.gates.pop(0).wait() if self.gates else asyncio.sleep(0))
        if self.error:
            raise self.error
        if wanted.get("part") and wanted["part"] not in {one.name for one in self.parts}:
            raise BadRequest("The description has no part of this name.", code="no_such_part")
        left = [one for one in self.those if _passes(one, wanted)]
        if wanted.get("ces"):
            page = [one for one in self.those if one.ce in wanted["ces"]]
        else:
            offset = wanted.get("offset", 0)
            page = left[offset : offset + wanted.get("limit", 200)]
        if not wanted.get("explain", True):
            page = [one.model_copy(update={"clauses": []}) for one in page]
        matching = sum(one.matches for one in self.those)
        said = f"{matching:,} of {len(self.those):,} resources match; most of the others have too few CPUs."
        return MatchReport(
            resources=page, known=len(self.those), matching=matching, selected=len(left), analysis=said,
            clauses=counts(self.those), offset=wanted.get("offset", 0),
            advice="" if matching else "Ask for 2 CPUs: then 3 of them match.",
            groups=groups(self.those) if self.grouped else [], trace=["SELECT 2 of 12", "TAKE the first"],
            parts=self.parts,
        )  # fmt: skip


def _passes(one: MatchedResource, wanted: dict[str, Any]) -> bool:
    only, needle, fails = wanted.get("only", "all"), wanted.get("text", ""), wanted.get("fails", "")
    if only != "all" and one.matches != (only == "matching"):
        return False
    if needle and needle.lower() not in f"{one.ce} {one.site} {one.reason}".lower():
        return False
    return not fails or any(c.text == fails and c.value != "true" for c in one.clauses)
