"""Whatever is committed, ended and published in whatever order: no processor is given out twice."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from broker_core.resources.cache import ResourceCache
from tests.resources.made import facts, heard

CE = "a:2119/jobmanager-pbs-long"
TOTAL = 8


class _Site(RuleBasedStateMachine):
    """A site that others use too, and a broker that commits only what the cache says is free.

    The site's own figure counts a job of ours from the moment at which it has arrived there.
    """

    account = True

    def __init__(self) -> None:
        super().__init__()
        self.cache = ResourceCache()
        self.now = 0.0
        self.others = 0
        self.others_published = 0
        self.committed: dict[str, int] = {}
        self.arrived: set[str] = set()
        self.number = 0
        self.publish()

    @property
    def ours(self) -> int:
        return sum(self.committed[job] for job in self.arrived)

    @rule()
    def publish(self) -> None:
        free = max(0, TOTAL - self.others - self.ours)
        self.others_published = min(self.others, TOTAL - self.ours)
        said = facts(CE, free=free, total=TOTAL)
        self.cache.report(heard(said, at=self.now, account=self.account, interval=1e9))

    @rule(cpus=st.integers(1, 4))
    def choose(self, cpus: int) -> None:
        row = self.cache.entries[CE].row
        pool = self.cache.pool(self.now)
        if row in pool.barred or pool.free[row] < cpus:
            return
        self.number += 1
        job = f"job{self.number}"
        assert self.cache.lock([CE], job, self.now)
        self.cache.commit(CE, job, cpus, self.now)
        self.committed[job] = cpus

    @precondition(lambda self: self.committed)
    @rule(data=st.data())
    def arrive(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(sorted(self.committed)))
        self.arrived.add(job)
        self.cache.answered(job, self.now)

    @precondition(lambda self: self.committed)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(sorted(self.committed)))
        self.arrived.discard(job)
        del self.committed[job]
        self.cache.release(job, self.now)

    @rule(cpus=st.integers(0, TOTAL))
    def others_come_and_go(self, cpus: int) -> None:
        self.others = min(cpus, max(0, TOTAL - self.ours))

    @rule(seconds=st.sampled_from((1.0, 60.0, 130.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def no_more_is_given_out_than_there_is(self) -> None:
        assert sum(self.committed.values()) <= TOTAL

    @invariant()
    def the_figures_agree(self) -> None:
        entry = self.cache.entries[CE]
        given = sum(self.committed.values())
        assert entry.given == given == int(self.cache.board.pool.committed[entry.row])  # type: ignore[index]
        assert 0 <= entry.free <= TOTAL - given or entry.free == 0


class _Index(_Site):
    """The same, but known from an index alone."""

    account = False


TestSite = _Site.TestCase
TestIndex = _Index.TestCase
TestSite.settings = TestIndex.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
