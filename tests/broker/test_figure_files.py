"""Throughput and queue history of sites outlive the broker."""

from __future__ import annotations

import logging
import signal
from pathlib import Path

import pytest

from broker_core.broker.engine.site_metrics import POINTS, SAMPLE, WAIT_AGE, SiteMetrics
from broker_core.broker.site_management.metrics_files import FILE, MetricsFiles
from broker_core.broker.site_management.site_limits import with_usual_waits
from broker_core.client.client import BrokerClient
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.states import JobState
from broker_core.resources.facts import START_ESTIMATE, Facts
from tests.broker.jobs import reach, submit
from tests.broker.ready_sites import ready
from tests.broker.sites.watching import view
from tests.running import RunningBroker
from tests.waiting import eventually

NAMES = ["far"]
NOW = 1_000_000.0


def passed(figures: SiteMetrics, job: str, now: float) -> None:
    """A job ran and ended."""
    figures.note(ready(job), now)
    figures.note(ready(job, state=JobState.DONE), now)


def again(files: MetricsFiles, now: float) -> SiteMetrics:
    """The figures of the next broker."""
    figures = SiteMetrics()
    files.restore(figures, "far", now)
    return figures


def test_what_was_kept_is_there_again_as_far_as_it_is_not_too_old(tmp_path: Path) -> None:
    files, figures = MetricsFiles(tmp_path.joinpath), SiteMetrics()
    for number in range(POINTS + 40):
        figures.sample(NOW + number * SAMPLE, NAMES)
    end = NOW + (POINTS + 40) * SAMPLE
    passed(figures, "old", end - 3000)
    passed(figures, "new", end - 60)
    files.keep(figures, NAMES, end)
    found = again(files, end + 900)
    assert found.per_hour("far", end + 900) == 1
    times = list(found.courses["far"].times)
    assert times == [time for time in figures.courses["far"].times if time > end + 900 - POINTS * SAMPLE]
    passed(found, "next", end - 60)
    assert found.per_hour("far", end) == 2
    assert not again(files, end + 1e6).courses["far"].times


def test_jobs_of_the_last_hour_are_counted_by_their_outcome_over_a_restart(tmp_path: Path) -> None:
    files, figures = MetricsFiles(tmp_path.joinpath), SiteMetrics()
    passed(figures, "long-ago", NOW - 4000)
    for number, code in enumerate((0, 0, 7)):
        figures.note(ready(f"job-{number}"), NOW)
        figures.note(ready(f"job-{number}", state=JobState.DONE, exit_code=code), NOW)
    figures.note(ready("stopped"), NOW)
    figures.note(ready("stopped", state=JobState.CANCELED), NOW)
    files.keep(figures, NAMES, NOW)
    for known in (figures, again(files, NOW + 60)):
        counts = [known.outcome_per_hour("far", one, NOW + 60) for one in (Outcome.DONE, Outcome.FAILED)]
        assert (counts, known.per_hour("far", NOW + 60)) == ([2, 1], 4)


@pytest.mark.parametrize(
    "content", ["", "{", '{"points": [[1, "x"]]}', '{"points": [[NaN, 1, 1]]}', "\0" * 9]
)
@pytest.mark.expected_log("The history of far begins anew")
def test_a_damaged_file_is_left_out_with_a_word(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / FILE).write_text(content)
    with caplog.at_level(logging.WARNING):
        figures = again(MetricsFiles(tmp_path.joinpath), NOW)
    assert not figures.courses
    assert "begins anew" in caplog.text


async def test_it_is_written_at_most_once_a_minute_and_only_after_changes(tmp_path: Path) -> None:
    files, figures, path = MetricsFiles(tmp_path.joinpath), SiteMetrics(), tmp_path / "far" / FILE
    files.keep_soon(figures, NAMES, NOW)
    passed(figures, "one", NOW)
    files.keep_soon(figures, NAMES, NOW + 1)
    await eventually(path.exists)
    passed(figures, "two", NOW + 2)
    files.keep_soon(figures, NAMES, NOW + 30)
    files.keep_soon(figures, NAMES, NOW + 61)
    await eventually(lambda: again(files, NOW + 61).per_hour("far", NOW + 61) == 2)
    path.unlink()
    files.keep_soon(figures, NAMES, NOW + 200)
    passed(figures, "three", NOW + 210)
    files.keep_soon(figures, NAMES, NOW + 210)  # nothing was written ten seconds ago
    await eventually(path.exists)
    files.forget("far")
    assert not path.exists()


@pytest.mark.expected_log("The history of sites is not kept over a restart")
def test_where_nothing_can_be_written_the_log_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "far").touch()
    files = MetricsFiles(tmp_path.joinpath)
    for _ in range(2):
        files.keep(SiteMetrics(), NAMES, NOW)
    assert caplog.text.count("not kept over a restart") == 1


async def test_a_restarted_broker_shows_what_its_sites_did_before(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    job = (await submit(client, 'Executable = "/bin/true";', site="local")).ids[0]
    await reach(client, job, "Done")
    before = await view(client, "local")
    assert before.per_hour == 1
    running_broker.kill(signal.SIGTERM)
    running_broker.start()
    after = await view(client, "local")
    assert after.per_hour == 1
    assert after.times[: len(before.times)] == before.times


def test_what_jobs_waited_is_known_after_a_restart_and_forgotten_after_a_week(tmp_path: Path) -> None:
    files, figures = MetricsFiles(tmp_path.joinpath), SiteMetrics()
    for number, waited in enumerate((10.0, 300.0, 40.0)):
        job = f"job-{number}"
        figures.note(ready(job, state=JobState.SCHEDULED, scheduled=NOW), NOW)
        figures.note(ready(job, state=JobState.RUNNING, scheduled=NOW), NOW + waited)
    ce = ready("any").ce.id
    files.keep(figures, NAMES, NOW + 400)
    found = again(files, NOW + 400)
    assert found.usual_wait(ce, NOW + 400) == 40.0
    assert found.usual_wait(ce, NOW + WAIT_AGE + 1000) is None
    assert found.usual_wait("elsewhere:22/jobmanager-slurm-main", NOW + 400) is None


async def test_a_site_that_can_only_guess_its_waits_is_believed_less_than_the_jobs_there() -> None:
    def facts(by: str) -> Facts:
        return Facts("far:22/q", "far", {"GlueCEStateEstimatedResponseTime": 600, START_ESTIMATE: by})

    async def look() -> tuple[Facts, ...]:
        return facts("guess"), facts("batch system"), facts("idle")

    asked = with_usual_waits(look, lambda _: 42.4)
    told = [
        (one.attributes["GlueCEStateEstimatedResponseTime"], one.attributes[START_ESTIMATE])
        for one in await asked()
    ]
    assert told == [(42, "history"), (600, "batch system"), (600, "idle")]
    nobody = with_usual_waits(look, lambda _: None)
    assert await nobody() == await look()
