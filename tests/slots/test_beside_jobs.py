"""The monitor runs beside the scheduler, in the engine and in the simulator; its log is replayed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from broker_core.bookkeeping.replay import DetailFold, Replay, folds_with, replay_log
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.engine.stream import Stream
from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.reactor.core import Core
from broker_core.reactor.entities import EntityEvent, RecordEvent
from broker_core.reactor.reactor import Now
from broker_core.scheduling.build import build
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.effects import Ask, Cancel, Confirm, LateMessage, Submit
from broker_core.scheduling.slots.effects import (
    EndPayload,
    StartGlidein,
    StartPayload,
    StopGlidein,
    ToGlidein,
)
from broker_core.scheduling.slots.glidein_life import GlideinEvent, GlideinState
from broker_core.scheduling.slots.messages import (
    GlideinAccepted,
    GlideinAlive,
    GlideinConnected,
    GlideinGone,
    GlideinStarted,
    GlideinWanted,
    PayloadEnded,
    PayloadStarted,
    SlotsRecovered,
    SlotsWanted,
)
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import SlotRules, SlotUse
from broker_core.simulation import production
from broker_core.simulation.replay import TraceReplay
from tests.bookkeeping.made import open_store
from tests.scheduling.stage import matched
from tests.simulation.made import sites, workload
from tests.slots.stage import CE, Stage, payload

NOW = Now(1.8e9, 5.0)
_OF_JOBS = (Submit, Confirm, Cancel, ReleaseBarrier, EndLauncher, Ask, LateMessage)
QUIET: Any = dict.fromkeys((*ToGlidein.__args__, *_OF_JOBS), lambda _: None)


async def test_in_the_engine_every_step_is_durable_before_it_is_carried_out_and_a_restart_goes_on(
    tmp_path: Path,
) -> None:
    store, ids = open_store(tmp_path), count(1)
    monitor = GlideinMonitor(store.next_position, lambda: f"glide{next(ids)}")
    engine = Engine(store, Core([build(matched, store.next_position), monitor]), Stream(store), FailPoints())
    starts = list[StartPayload]()

    def join(effect: StartGlidein) -> None:
        with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
            rows = connection.execute("SELECT type FROM events WHERE job = ?", (effect.glidein,)).fetchall()
        assert rows == [("glidein.requested",)]
        for message in (
            GlideinAccepted(effect.glidein, "17"),
            GlideinStarted(effect.glidein),
            GlideinConnected(effect.glidein, "n1"),
        ):
            engine.post(message)

    def start(effect: StartPayload) -> None:
        starts.append(effect)
        engine.post(PayloadStarted(effect.claim))

    engine.connect({**QUIET, StartGlidein: join, StartPayload: start})
    engine.post(GlideinWanted(payload("j1"), CE))
    await engine.settled()
    engine.post(SlotsWanted((payload("i1", SlotUse.INTERACTIVE),)))
    await engine.settled()
    engine.post(PayloadEnded(starts[0].claim, 0))
    await engine.settled()
    engine.stop()
    store.close()
    assert [one.payload.component.job for one in starts] == ["j1", "i1"]
    folds = folds_with(Replay())
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        replay_log(connection, folds)
    live = [
        fold.live() for kind in ("glidein", "slot", "claim") if isinstance(fold := folds[kind], DetailFold)
    ]
    assert [(len(found), {str(one.state) for one in found}) for found in live] == [
        (1, {"Busy"}),
        (2, {"Free", "Claimed"}),
        (1, {"Running"}),
    ]
    again = GlideinMonitor(count(1).__next__, lambda: f"again{next(ids)}")
    core = Core([again])
    core.handle(SlotsRecovered(*live), NOW)
    assert core.validate() == []
    assert [(one.node, state) for one, state in again.glideins()] == [("n1", "Busy")]
    assert again.offers(payload("j2")) == {CE: 1}
    assert again.offers(payload("i2", SlotUse.INTERACTIVE)) == {}


class Simulated:
    """Every job of a trace runs in a glidein, which comes after 90 s."""

    def __init__(self) -> None:
        ids = count(1)
        self.monitor = GlideinMonitor(count(1).__next__, lambda: f"g{next(ids)}", SlotRules(idle_exit=0.0))
        self.events = list[EntityEvent]()
        self.run: TraceReplay
        self.live = set[str]()
        self.starts = list[str]()

    def carriers(self) -> dict[type, Any]:
        return {
            **QUIET,
            RecordEvent: lambda effect: self.events.append(effect.event),
            Submit: self.submit,
            StartGlidein: self.request,
            StopGlidein: lambda effect: self.live.discard(effect.glidein),
            StartPayload: self.start,
            EndPayload: lambda effect: self.run.post(PayloadEnded(effect.claim)),
        }

    def submit(self, effect: Submit) -> None:
        one = Payload(effect.component, effect.record.owner, "trace", SlotUse.BATCH)
        self.run.post(GlideinWanted(one, effect.ce.id))

    def request(self, effect: StartGlidein) -> None:
        self.live.add(effect.glidein)
        self.run.after(90.0, self.join, effect.glidein)

    def join(self, glidein: str) -> None:
        self.run.post(GlideinConnected(glidein, "n"))
        self.run.after(60.0, self.beat, glidein)

    def beat(self, glidein: str) -> None:
        if glidein in self.live:
            self.run.post(GlideinAlive(glidein))
            self.run.after(60.0, self.beat, glidein)

    def start(self, effect: StartPayload) -> None:
        component, now = effect.payload.component, self.run.now
        index = int(component.job)
        self.starts.append(component.job)
        self.run.start[index] = now
        for message in (PayloadStarted(effect.claim), AttemptAccepted(component)):
            self.run.post(message)
        self.run.post(AttemptStarted(component, self.run.epoch + now))
        self.run.after(self.run.trace.run[index], self.end, (effect.claim, component))

    def end(self, ended: tuple[str, Component]) -> None:
        claim, component = ended
        self.run.end[int(component.job)] = self.run.now
        self.run.post(PayloadEnded(claim, 0))
        self.run.post(AttemptEnded(component, self.run.epoch + self.run.now, 0))


def test_in_the_simulator_each_job_of_a_trace_runs_once_in_a_glidein_that_ends_after_it() -> None:
    world, trace = Simulated(), workload(seed=3, jobs=100)
    core = Core([*production.core().reactors, world.monitor])
    world.run = run = TraceReplay(trace, sites({"a": 12, "b": 8}), core, carriers=world.carriers())
    run.run()
    assert sorted(map(int, world.starts)) == list(range(100))
    assert min(start - submit for start, submit in zip(run.start, trace.submit, strict=True)) >= 90.0
    kinds = [event.type for event in world.events]
    assert kinds.count(GlideinEvent.REQUESTED) == kinds.count(GlideinEvent.ORIGINATOR_STARTED) == 100
    assert 95 <= kinds.count(GlideinEvent.EXITED) <= 100, "the replay ends with the last job"
    assert kinds.count(GlideinEvent.LOST) == 0
    assert core.validate() == []


def test_the_death_of_a_glidein_is_told_to_the_scheduler_as_an_internal_event() -> None:
    monitor = GlideinMonitor(count(1).__next__, map("g{}".format, count(1)).__next__)
    core = Core([monitor])
    effects = core.handle(GlideinWanted(payload("j1"), CE), NOW)
    glidein = next(one.glidein for one in effects if isinstance(one, StartGlidein))
    core.handle(GlideinConnected(glidein), NOW)
    gone = core.handle(GlideinGone(glidein, "killed"), NOW)
    assert {type(one).__name__ for one in gone} == {"RecordEvent", "StopGlidein", "Wake"}


def test_who_has_a_slot_is_known_by_the_attempt_and_by_the_job() -> None:
    stage = Stage()
    glidein = stage.requested("job")
    assert stage.monitor.has(payload("job").component)
    assert not stage.monitor.has(payload("job", attempt=2).component)
    known = stage.monitor.glidein(glidein)
    assert known is not None
    assert known[1] is GlideinState.REQUESTED
    assert stage.monitor.glidein("strange") is None
    stage.joined("other")
    assert stage.monitor.has(payload("other").component)
    assert not stage.monitor.has(payload("other", attempt=2).component)
    assert stage.monitor.has_any(payload("other", attempt=2).component)
    assert not stage.monitor.has_any(payload("strange").component)
    assert not stage.monitor.has(payload("strange").component)
