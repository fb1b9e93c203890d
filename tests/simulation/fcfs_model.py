"""The plain system once more, written for SimPy from its description alone.

All jobs wait in one queue, first come first served. The head of the queue goes to the site where, of the
sites with enough free processors, fewest stay free; the name decides between equals. As long as it finds
no place, nobody behind it moves. At one moment, jobs end before others are submitted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import simpy

_END, _SUBMISSION = 1, 2
"""Order of what happens at one moment; simpy takes the smallest number first."""


class Moment(simpy.Event):
    """A moment after a delay, before or after others at the same time."""

    def __init__(self, env: simpy.Environment, delay: float, priority: int) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        env.schedule(self, priority, delay)


@dataclass
class Model:
    env: simpy.Environment
    free: dict[str, int]
    run: Sequence[float]
    cpus: Sequence[int]
    queue: deque[int] = field(default_factory=deque)
    start: dict[int, float] = field(default_factory=dict)
    end: dict[int, float] = field(default_factory=dict)
    place: dict[int, str] = field(default_factory=dict)

    def users(self, moment: float, jobs: list[int]) -> Generator[simpy.Event]:
        yield Moment(self.env, moment, _SUBMISSION)
        self.queue.extend(jobs)
        self.dispatch()

    def dispatch(self) -> None:
        while self.queue:
            need = self.cpus[self.queue[0]]
            room = [(free - need, site) for site, free in self.free.items() if free >= need]
            if not room:
                return
            site = min(room)[1]
            self.free[site] -= need
            self.env.process(self.job(self.queue.popleft(), site))

    def job(self, job: int, site: str) -> Generator[simpy.Event]:
        self.start[job], self.place[job] = self.env.now, site
        yield Moment(self.env, self.run[job], _END)
        self.end[job] = self.env.now
        self.free[site] += self.cpus[job]
        self.dispatch()


def modelled(
    sites: Mapping[str, int], submit: Sequence[float], run: Sequence[float], cpus: Sequence[int]
) -> Model:
    """The model after all jobs have ended."""
    env = simpy.Environment()
    model = Model(env, dict(sites), run, cpus)
    for moment, jobs in groupby(range(len(submit)), key=lambda job: submit[job]):
        env.process(model.users(moment, list(jobs)))
    env.run()
    return model
