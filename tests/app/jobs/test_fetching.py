"""Output that is fetched from a real broker: where it stands, and what is left when the broker dies."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.jobs.fetching import fetch_jobs
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play
from tests.broker.jobs import key
from tests.running import RunningBroker
from tests.waiting import eventually

LARGE = """
Executable = "/bin/sh"; Arguments = "-c 'mkdir big; head -c 40000000 /dev/zero > big/zeros; echo 1 > small'";
OutputSandbox = {"big", "small"};
"""
SWEEP = """
Executable = "/bin/sh"; Arguments = "-c 'echo _PARAM_ > out'";
JobName = "scan"; OutputSandbox = {"out", "more"};
"""


async def _ended(on: Stage, text: str, *values: str) -> list[str]:
    await on.ready()
    sent = Submission(key=key(), items=[SubmissionItem(description=text, values=list(values) or None)])
    ids = (await on.context.client.submit(sent)).ids
    await eventually(lambda: all(on.ended(job) for job in ids), 60, "all have ended")
    return ids


@pytest.mark.expected_log("While fetching")
def test_a_broker_that_dies_amid_a_fetch_leaves_nothing_half_saved_and_the_next_try_has_all(
    qapp: QApplication, running_broker: RunningBroker, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        (job,) = await _ended(on, LARGE)
        told: list[str] = []
        on.context.noticed.connect(lambda notice: told.append(notice.text))
        kills = [running_broker.kill]

        def progress(done: int, total: int) -> None:
            if kills:
                kills.pop()()

        await on.context.run(fetch_jobs(on.context, [job], tmp_path, progress), "fetching")
        assert not kills, "it died amid it"
        assert list(tmp_path.iterdir()) == [], "no folder that looks like a result"
        (said,) = (text for text in told if "fetching" in text)
        assert "The broker ended amid its answer." in said
        assert ".sock" not in said, "words for its user, not for who made it"
        await eventually(lambda: on.context.link.up, 60, "a broker is there again")
        assert (on.context.jobs.row(job) or {})["state"] == "Done"
        place = await fetch_jobs(on.context, [job], tmp_path, lambda *_: None)
        assert place.parent == tmp_path
        assert (place / "big" / "zeros").stat().st_size == 40_000_000
        assert (place / "small").read_text() == "1\n"
        assert any(text.startswith("Saved 2 files (") and f"in {place}" in text for text in told)

    play(qapp, running_broker.state_dir, scenario)


def test_the_output_of_a_batch_stands_in_one_folder_with_one_for_each_value(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        ids = await _ended(on, SWEEP, "a", "b")
        told: list[str] = []
        on.context.noticed.connect(lambda notice: told.append(notice.text))
        place = await fetch_jobs(on.context, ids, tmp_path, lambda *_: None)
        assert list(tmp_path.iterdir()) == [place]
        assert place.name.startswith("scan-")
        made = {path.parent.name[:-9]: path.read_text() for path in place.glob("*/out")}
        assert made == {"scan-a": "a\n", "scan-b": "b\n"}
        (said,) = (text for text in told if text.startswith("Saved"))
        assert said == f"Saved 2 files of 2 jobs (4 B) in {place}. Not made: more, more."

    play(qapp, broker, scenario)
