"""A batch of jobs as one line: the one site where they are, or how many sites there are."""

from __future__ import annotations

import pytest

from broker_core.command_line.job.folding import BatchLine, folded

LONG, SHORT = "cluster:22/jobmanager-slurm-long", "cluster:22/jobmanager-slurm-short"
OTHER = "hut:22/jobmanager-shell-default"


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([LONG], LONG),
        ([LONG, SHORT, ""], "cluster"),
        ([LONG, SHORT, OTHER], "2 sites"),
        ([""], ""),
    ],
)
def test_queues_of_one_site_are_one_site(places: list[str], said: str) -> None:
    rows = [{"id": f"{number}", "batch": "b", "site": places[number % len(places)]} for number in range(12)]
    (line,) = folded(rows)
    assert isinstance(line, BatchLine)
    assert line.site.partition(":")[0] == said.partition(":")[0]
