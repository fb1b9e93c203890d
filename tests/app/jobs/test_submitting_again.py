"""What a job that is submitted again keeps of the first one, before a real broker."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.stores.jobs import JobStore
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play
from tests.broker.jobs import upload
from tests.waiting import eventually


def test_jobs_submitted_again_keep_their_site_and_what_can_be_executed(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        client = on.context.client
        program = await upload(client, b"#!/bin/sh\nexit 0\n", "tool.sh", executable=True)
        data = await upload(client, b"1 2 3\n", "data.txt")
        text = 'Executable = "/bin/sh"; Arguments = "-c ./tool.sh"; InputSandbox = {"tool.sh", "data.txt"};'
        item = SubmissionItem(description=text, files=[program, data])
        first = []
        for site in ("local", ""):
            receipt = await client.submit(
                Submission(key=f"again-and-again{site}", items=[item], site=site, hold="test")
            )
            first += receipt.ids
        await eventually(lambda: len(on.context.jobs) == 2 and on.window.jobs.view.choose_all(first))
        on.context.trigger("job.resubmit")
        await eventually(lambda: len(on.context.jobs) == 4)
        again = [job for job in on.context.jobs.at if job not in first]
        assert sorted(on.context.jobs.row(job)["pinned"] for job in again) == ["", "local"]
        for job in again:
            sent = {file.name: file.executable for file in (await client.job(job)).files}
            assert sent == {"tool.sh": True, "data.txt": False}

    play(qapp, broker, scenario)


def test_a_row_of_a_broker_that_knows_fewer_columns_has_the_values_of_a_plain_job(
    qapp: QApplication,
) -> None:
    rows = JobStore()
    rows.merge({"id": ["a"], "state": ["Done"], "position": [1]})
    row = rows.row("a") or {}
    assert (row["pinned"], row["name"], row["cpus"], row["interactive"]) == ("", "", 1, False)
    assert (row["attempt"], row["submitted"], row["exit_code"]) == (0, 0.0, None)
