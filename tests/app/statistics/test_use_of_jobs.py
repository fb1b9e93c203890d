"""Statistics tell what jobs used and why they failed: by site, by day, by reason."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.statistics.usage import DAYS, Usage
from tests.app.windows import Stage, play
from tests.waiting import eventually

NOW = 1_700_000_000.0
PLACE = "far:22/jobmanager-slurm-q"


def _columns(*jobs: dict[str, object]) -> dict[str, list[object]]:
    plain = {"state": "Done", "exit_code": 0, "signal": None, "reason": "", "site": PLACE,
             "started": NOW - 7200, "ended": NOW - 3600, "cpus": 1}  # fmt: skip
    return {name: [(plain | job)[name] for job in jobs] for name in plain}


def test_hours_are_those_of_all_cpus_at_the_site_of_the_job() -> None:
    columns = _columns(
        {"cpus": 4},
        {"exit_code": 7},
        {"state": "Running", "exit_code": None, "ended": None},
        {"state": "Waiting", "exit_code": None, "site": "", "started": None, "ended": None},
        {"state": ""},
    )
    used = Usage()
    used.count(columns, range(5), range(5), NOW)
    site = used.sites["far"]
    assert (site.jobs, site.failed, site.cpu_seconds) == (3, 1, 4 * 3600 + 3600 + 7200)
    assert used.cpu_hours == 7
    day = datetime.datetime.fromtimestamp(NOW - 7200).date()
    days = used.last_days(day)
    assert (len(days), days[-1][1]) == (DAYS, 7.0)


def test_failures_are_counted_by_their_reason() -> None:
    columns = _columns(
        *({"exit_code": 7} for _ in range(3)),
        {"state": "Aborted", "exit_code": None, "signal": 9, "reason": ""},
        {"state": "Aborted", "exit_code": None, "reason": "no account there"},
        {"state": "Canceled", "exit_code": None},
    )
    used = Usage()
    used.count(columns, range(6), range(6), NOW)
    assert used.reasons == {"exit 7": 3, "SIGKILL": 1, "no account there": 1}


def test_all_runs_use_hours_and_the_last_one_says_how_the_job_came_out() -> None:
    columns = _columns({"exit_code": 7}, {"site": "near:22/jobmanager-slurm-q"})
    used = Usage()
    used.count(columns, range(2), {1}, NOW)
    found = {name: (site.jobs, site.failed, site.cpu_seconds) for name, site in used.sites.items()}
    assert found == {"far": (0, 0, 3600), "near": (1, 0, 3600)}
    assert used.reasons == {}


@pytest.mark.expected_log(r"\d+ failed")
def test_the_page_shows_sites_and_reasons_of_real_jobs(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.finished("fails")
        on.context.trigger("view.statistics")
        page = on.window.tabs.currentWidget()
        await eventually(lambda: page.numbers is not None and page.sites.rowCount())
        assert [page.sites.item(0, column).text() for column in range(3)] == ["local", "1", "1"]
        assert [page.reasons.item(0, column).text() for column in range(2)] == ["exit 7", "1"]
        assert "CPU hours" in page.used.text()

    play(qapp, broker, scenario)
