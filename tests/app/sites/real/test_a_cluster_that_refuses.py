"""A job that a real Slurm does not take: which choices were tried, with their errors, and when the next round
is, on the command line, in its JSON and in the window (SA-UI-01)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.match.candidates import SITE, WHY
from app.match.choices import FAILED
from app.theme.tokens import Mode
from app.widgets.cells import BADGE
from broker_core.wire.sites import SiteSpec
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.pictures import PICTURES, SIZES
from tests.app.windows import Stage, play, turns
from tests.command_line.calling import crossdesk
from tests.testbed.slurm import QUEUES
from tests.waiting import eventually

REFUSED = """
Executable = "/bin/true";
BatchOptions = [ slurm = {"--nodelist=nowhere"} ];
Requirements = other.GlueCEInfoLRMSType == "slurm";
"""
"""Whether there is such a node only Slurm knows, which says so when it is handed the job."""


@pytest.mark.usefixtures("trusting", "cluster")
def test_a_waiting_job_tells_what_was_tried_with_errors_and_when_the_next_round_is(
    qapp: QApplication, broker: Path, spec: SiteSpec
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.context.client.add_site(spec)
        await eventually(lambda: on.context.sites.named("cluster") and on.context.sites.named("cluster").ces)
        item = SubmissionItem(description=REFUSED)
        job = (await on.context.client.submit(Submission(key="refused-by-slurm", items=[item]))).ids[0]
        told = await _refused(job)
        assert {one["ces"][0].rsplit("-", 1)[1] for one in told["failed"]} == set(QUEUES)
        assert all("node name" in one["error"] for one in told["failed"]), told["failed"]
        assert told["next_round"] > 0
        said = " ".join((await asyncio.to_thread(crossdesk, "job", "status", job)).out.split())
        assert all(f"cluster, slurm-{queue}: " in said for queue in QUEUES), said
        assert "node name" in said
        assert "at the latest" in said
        on.window.show_job(job, "where")
        match = on.window.inspector.panes["where"].match
        # This machine has no Slurm: it stands in the list, and was not tried.
        await eventually(lambda: _marks(match) == [FAILED, FAILED, None], what="both choices are marked")
        why = match.candidates.index(0, WHY).data(Qt.ItemDataRole.DisplayRole)
        assert why.startswith("Tried: "), why
        assert "node name" in why
        note = on.window.inspector.panes["where"].note.text().replace("\u200b", "")
        assert all(f"cluster, slurm-{queue} did not take it: " in note for queue in QUEUES), note
        assert "The next selection round is at" in note
        for size in SIZES:
            for mode in (Mode.LIGHT, Mode.DARK):
                on.window.resize(*size)
                on.context.theme.wear(mode=mode)
                await turns()
                picture = PICTURES / f"desk-choices-refused-{mode.value}-{size[0]}.png"
                assert on.window.grab().save(str(picture))
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job))

    play(qapp, broker, scenario)


def _marks(match: Any) -> list[str | None]:
    model = match.candidates
    return [model.index(row, SITE).data(BADGE) for row in range(model.rowCount())]


async def _refused(job: str) -> dict[str, Any]:
    """What `job status --json` says once both queues have refused and another round is to come."""

    async def told() -> dict[str, Any] | None:
        said = await asyncio.to_thread(crossdesk, "job", "status", job, "--json")
        (found,) = said.json["jobs"]
        assert found["state"] not in ("Aborted", "Done"), found["reason"]
        return found if len(found.get("failed", ())) == len(QUEUES) and found["next_round"] else None

    result: dict[str, Any] = await eventually(told, what="both queues have refused the job")
    return result
