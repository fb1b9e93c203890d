"""kill -9 of a broker with two clusters and a plain host, at every exchange and every recorded step.

Each life of the broker ends at another point, while it takes over what the life before it left: so every
death but the first is one during recovery as well (reliability cases 1 to 3 and 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from tests.crash.sites_survivor import SitesSurvivor

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]
TOGETHER = 5
"""Deaths in a row."""
SITES = ("alpha", "beta", "host")


def exchanges(*calls: str) -> Iterator[str]:
    """Before, amid and after a call to each of the sites."""
    return (
        f"{when}:{site}.{call}" for call in calls for when in ("during", "after", "before") for site in SITES
    )


def around(*steps: str) -> Iterator[str]:
    return (f"{when}:{step}" for step in steps for when in ("before", "after"))


HANDED_OVER = [
    *around("site.submit", "job.matched", "job.scheduled", "site.confirm"),
    *exchanges("submit", "release"),
]
WATCHED = [
    *("before:site.runs", "before:attempt.started", "after:job.running", "before:job.running"),
    *exchanges("poll"),
    *("before:recovery", "during:recovery", "before:sites.start", "after:sites.start", "after:recovery"),
]
BROUGHT_HOME = [*around("keep", "job.done"), "before:attempt.ended", *exchanges("fetch", "remove")]
ENDED = [*around("job.cancel_requested", "site.cancel", "job.canceled", "job.purged"), *exchanges("cancel")]


def some(points: Iterable[str], soak: bool) -> list[str]:
    """All points, or a few of them that are far from each other."""
    points = list(points)
    return points if soak else points[:: max(1, len(points) // 3)]


@pytest.mark.parametrize(
    "points",
    [HANDED_OVER, WATCHED, BROUGHT_HOME, ENDED],
    ids=["handed over", "watched", "brought home", "ended"],
)
async def test_killed_at_any_step_every_job_runs_once_and_nothing_stays(
    survivor_with_sites: SitesSurvivor, points: list[str], soak: bool
) -> None:
    survivor, points = survivor_with_sites, some(points, soak)
    async with survivor.client() as client:
        await survivor.die_in_turns(client, points, TOGETHER)
