"""Co-allocations that compete for the processors of few sites, whatever order sites answer in (case 14)."""

from __future__ import annotations

from random import Random

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused
from broker_core.jobs.placement import Component
from broker_core.resources.record import Resource
from broker_core.scheduling.coallocation.messages import ComponentGathered
from broker_core.scheduling.effects import Cancel, Confirm, Submit
from broker_core.scheduling.messages import Message
from tests.scheduling.over_several import ABLE, JOB, fixed
from tests.scheduling.stage import Stage

SITES = {f"{name}:22/jobmanager-slurm-x": cpus for name, cpus in zip("abcd", (2, 3, 4, 5), strict=True)}


class CompetedGrid:
    """Sites that answer in any order, refuse and lose at times, and never have more than they can take."""

    def __init__(self, random: Random) -> None:
        self.random = random
        resources = [Resource(ce, ce[0], cpus, cpus, 0, 0, 0.0, ABLE) for ce, cpus in SITES.items()]
        self.stage = Stage(resources)
        self.words: list[Message] = []
        self.ends: dict[Component, AttemptEnded] = {}
        self.deaths = 4
        """Of the broker, that are still to come."""
        self.there: dict[Component, str] = {}
        self.seen = [0, 0, 0, 0]

    def submit(self, count: int) -> list[str]:
        """Flexible ones, and some that fix their components."""
        texts = [JOB.replace("= 6", f"= {self.random.randint(2, 12)}"), fixed((2, "true"), (3, "true"))]
        return [self.stage.submit(self.random.choice(texts))[0] for _ in range(count)]

    def run(self, jobs: list[str]) -> None:
        """Until all have ended."""
        for _ in range(3000):
            if not any(self.stage.state(job).active for job in jobs):
                return
            self._hear()
            if self.words:
                word = self.words.pop(self.random.randrange(len(self.words)))
                if isinstance(word, AttemptEnded):
                    self.ends[word.component] = word
                self.stage.tell(word)
                self.stage.run()
            else:
                self.stage.wait(60)
            if self.deaths and self.random.random() < 0.03:
                self.deaths -= 1
                self.stage.restart(died=True)
                # A new broker asks its sites how all are.
                self.words += [end for one, end in self.ends.items() if self._current(one)]
        raise AssertionError([self.stage.stories[job][-1].reason for job in jobs])

    def _current(self, one: Component) -> bool:
        record = self.stage.records[one.job]
        return record.state.active and record.attempt == one.attempt

    def _hear(self) -> None:
        """What sites do about what the broker asked of them since."""
        asked: list[Submit | Confirm | Cancel] = []
        for kind, effects in enumerate((self.stage.submits, self.stage.confirms, self.stage.cancels)):
            asked += effects[self.seen[kind] :]
            self.seen[kind] = len(effects)
        for one in asked:
            self._asked(one)
        for release in self.stage.releases[self.seen[3] :]:
            parts = [one for one in self.there if (one.job, one.attempt) == (release.job, release.attempt)]
            self.words += [AttemptEnded(one, self.stage.wall, 0) for one in parts]
        self.seen[3] = len(self.stage.releases)

    def _asked(self, one: Submit | Confirm | Cancel) -> None:
        about, end = one.component, AttemptEnded(one.component, self.stage.wall, failure="killed")
        if isinstance(one, Cancel):
            self.words.append(end)
        elif isinstance(one, Submit):
            if about not in self.there and self.random.random() < 0.1:
                self.words.append(AttemptRefused(about, "no room"))
                return
            self.there[about] = one.ce.id
            self.words.append(AttemptAccepted(about, held=True))
        elif len(one.record.placements) < 2:
            self.words.append(AttemptEnded(about, self.stage.wall, 0))
        else:
            luck = self.random.random()
            self.words.append(end if luck < 0.1 else ComponentGathered(about))


@pytest.mark.parametrize("seed", range(10))
def test_whatever_sites_say_in_whatever_order_competing_co_allocations_come_to_an_end(seed: int) -> None:
    random = Random(seed)
    count = random.randint(2, 6)
    grid = CompetedGrid(random)
    jobs = grid.submit(count)
    grid.run(jobs)
    cache = grid.stage.scheduler.cache
    assert [cache.commitments_at(ce) for ce in SITES] == [{}] * len(SITES)
    assert grid.stage.scheduler.live() == []
    for job in jobs:
        released = [one for one in grid.stage.releases if one.job == job]
        assert len({one.attempt for one in released}) == len(released), "no barrier is released twice"
