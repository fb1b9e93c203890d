"""A new kind of entity is a table, a reactor and its effects; it runs wherever the scheduler runs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

from broker_core.bookkeeping.replay import Replay, StateFold, folds_with, replay_log
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.engine.stream import Stream
from broker_core.jdl.check import check
from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptStarted
from broker_core.jobs.states import JobState
from broker_core.reactor.core import Core
from broker_core.reactor.entities import ENTITY_PREFIX, EntityEvent, RecordEvent, is_entity
from broker_core.resources.facts import SourceHeard, facts_of
from broker_core.scheduling.build import build
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.demand import demand_of
from broker_core.scheduling.effects import Ask, Cancel, Confirm, LateMessage, Submit
from broker_core.scheduling.messages import Arrival
from broker_core.simulation import production
from broker_core.simulation.replay import TraceReplay
from tests.bookkeeping.made import TEXT, first, new_id, open_store, submission
from tests.reactor import notices
from tests.reactor.notices import E, Notices, NoticeSent, S, SendNotice
from tests.scheduling.stage import matched, resource
from tests.simulation.made import sites, workload
from tests.waiting import eventually


async def test_it_runs_in_the_engine_beside_jobs_and_its_events_are_replayed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    reactor = Notices(store.next_position, delay=0.05)
    engine = Engine(store, Core([build(matched, store.next_position), reactor]), Stream(store), FailPoints())
    submits, sent = list[Submit](), list[SendNotice]()
    ignored = dict.fromkeys((Confirm, Cancel, Ask, LateMessage, ReleaseBarrier, EndLauncher), lambda _: None)
    engine.connect({**ignored, Submit: submits.append, SendNotice: sent.append})
    engine.post(SourceHeard("here", 0.0, 0.0, (facts_of(resource()),), complete=True, interval=1e9))
    description = check(TEXT).description
    assert description is not None
    entry = first(store)
    job = entry.event.job
    arrival = Arrival(entry.record, demand_of(description, TEXT))
    await engine.record_submission(submission([entry]), (arrival,))
    await eventually(lambda: submits)
    component = submits[0].component
    engine.post(AttemptAccepted(component))
    engine.post(AttemptStarted(component, 0.0))
    engine.post(AttemptEnded(component, 0.0, 0))
    subject = f"notice-{job}"
    assert reactor.entities.state(subject) is S.DUE
    await eventually(lambda: sent)
    engine.post(NoticeSent(sent[0]))
    await engine.settled()
    engine.stop()
    row = await store.job(job)
    assert row is not None
    assert row.state is JobState.DONE
    store.close()
    fold, jobs = StateFold(notices.LIFE), Replay()
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        replay_log(connection, {**folds_with(jobs), "notice": fold})
    assert fold.states == {subject: (S.SENT, 2)}
    assert jobs.rows[job].state is JobState.DONE
    again = Notices(count(1).__next__, delay=1.0)
    again.entities.restore(fold.states)
    assert again.entities.state(subject) is None, "it is over"


def test_ids_of_entities_are_told_from_those_of_jobs() -> None:
    assert is_entity(f"{ENTITY_PREFIX}vega")
    assert not is_entity(new_id())


def test_it_runs_in_the_simulator() -> None:
    events, sent = list[EntityEvent](), list[SendNotice]()

    def send(effect: SendNotice) -> None:
        sent.append(effect)
        run.after(30.0, run.post, NoticeSent(effect))

    trace = workload(seed=3, jobs=100)
    core = Core([*production.core().reactors, Notices(count(1).__next__, delay=60.0)])
    carriers = {SendNotice: send, RecordEvent: lambda effect: events.append(effect.event)}
    run = TraceReplay(trace, sites({"a": 12, "b": 8}), core, carriers=carriers)
    run.run()
    kinds = [event.type for event in events]
    assert kinds.count(E.DUE) == 100
    assert 50 < kinds.count(E.SENT) <= len(sent) < 100, "the replay ends with the last job"
    due = {event.subject: event.time for event in events if event.type is E.DUE}
    over = [event.time - due[event.subject] for event in events if event.type is E.SENT]
    assert all(abs(one - 90.0) < 1e-6 for one in over)
    assert core.validate() == []


def test_it_is_small() -> None:
    source = Path(notices.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 60
