"""Calls to a site whose connection breaks at chosen moments: a stand-in, since no real one does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.site_management import site_worker as site_work
from broker_core.broker.site_management.site_worker import SiteWorker
from broker_core.errors import CrossDeskError
from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.sites.contract import KnownAttempt, Report, SiteRefused
from broker_core.sites.link import LinkEvent
from broker_core.sites.shell.workspace import SiteUnfit
from broker_core.sites.transport.contract import LinkLost
from tests.broker.ready_sites import ready
from tests.broker.stand_in_site import Heard, Orders, StandIn
from tests.waiting import LONG, eventually


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_work, "_FIRST_PAUSE", 0.01)


def work_at(site: StandIn, heard: Heard, most: int = 0) -> SiteWorker:
    return SiteWorker(site, heard, Orders(), FailPoints(), 10, most)  # type: ignore[arg-type]


async def begun(site: StandIn, *records: JobRecord, known: Sequence[JobRecord] = (), most: int = 0) -> Any:
    heard = Heard({record.id: record for record in records})
    work = work_at(site, heard, most)
    await work.begin(known)
    for record in records:
        work.submit(record, record.component)
    return work, heard


@pytest.mark.expected_log("Whether far has a.1 is not known; asked again")
async def test_an_answer_that_is_lost_is_asked_for_again_and_no_refusal() -> None:
    site = StandIn(LinkLost("cut"), LinkLost("cut"), "7")
    work, heard = await begun(site, ready("a"))
    await eventually(lambda: heard.posted)
    assert heard.posted == [AttemptAccepted(Component("a", 1), "7", held=True)]
    assert site.asked == ["a.1"] * 3
    await work.close()


@pytest.mark.expected_log("Whether far has a.1 is not known; asked again")
async def test_a_submission_that_takes_for_ever_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_work, "SUBMIT_DEADLINE", 0.02)
    site = StandIn(asyncio.Event(), "8")
    work, heard = await begun(site, ready("a"))
    await eventually(lambda: heard.posted)
    assert heard.posted == [AttemptAccepted(Component("a", 1), "8", held=True)]
    await work.close()


async def test_a_refusal_is_told_with_its_reason() -> None:
    site = StandIn(SiteRefused("no such queue", place="far"))
    work, heard = await begun(site, ready("a"))
    [refused] = await eventually(lambda: heard.posted)
    assert isinstance(refused, AttemptRefused)
    assert (refused.reason, refused.counts) == ("far: no such queue", True)
    await work.close()


async def test_what_was_never_sent_goes_elsewhere_while_the_site_is_away() -> None:
    site = StandIn()
    site.link.transition(LinkEvent.LOST, "no route")
    work, heard = await begun(site, ready("a"))
    [refused] = await eventually(lambda: heard.posted)
    assert isinstance(refused, AttemptRefused)
    assert (refused.counts, "no route" in refused.reason, site.asked) == (False, True, [])
    await work.close()


@pytest.mark.expected_log("Whether far has a.1 is not known; asked again")
async def test_what_may_have_been_sent_before_a_restart_waits_for_the_site() -> None:
    site = StandIn()
    site.link.transition(LinkEvent.LOST, "no route")
    record = ready("a")
    heard = Heard({"a": record})
    work = work_at(site, heard)
    await work.begin([record])
    assert site.known == [KnownAttempt(Component("a", 1), resubmitted=True)]
    site.answers = [LinkLost("still away")]
    work.submit(record, record.component)
    await eventually(lambda: site.asked)
    assert not heard.posted
    site.link.transition(LinkEvent.ANSWERED)
    work.link_changed()
    await eventually(lambda: heard.posted)
    assert heard.posted == [AttemptAccepted(Component("a", 1), "id", held=True)]
    await work.close()


async def test_an_order_that_cannot_be_made_keeps_no_site_from_beginning() -> None:
    class Lacking(Orders):
        async def of(self, record: JobRecord, component: Component, placements: object) -> str:
            if record.id == "bad":
                raise CrossDeskError("no relay can be started")
            return await super().of(record, component, placements)

    site, records = StandIn(), [ready("bad"), ready("good")]
    heard = Heard({record.id: record for record in records})
    work = SiteWorker(site, heard, Lacking(), FailPoints(), 10)  # type: ignore[arg-type]
    async with asyncio.timeout(LONG):
        await work.begin(records)
    assert [one.component.job for one in site.known] == ["bad", "good"]
    for record in records:
        work.submit(record, record.component)
    await eventually(lambda: len(heard.posted) == 2)
    assert {(type(one).__name__, one.component.job) for one in heard.posted} == {
        ("AttemptRefused", "bad"),
        ("AttemptAccepted", "good"),
    }
    await eventually(lambda: site.canceled)
    assert site.canceled == ["bad.1"], "it may be there all the same"
    await work.close()


async def test_files_are_removed_as_soon_as_the_site_can_be_used() -> None:
    site, gone = StandIn(), [Component("a", 1)]
    answers: list[Exception | None] = [SiteUnfit("no room"), LinkLost("cut"), None]
    forgotten = []

    async def forget(attempts: Sequence[Component]) -> None:
        if error := answers.pop(0):
            raise error
        forgotten.extend(attempts)

    site.forget = forget  # type: ignore[attr-defined]
    work, _ = await begun(site)
    await work.forget(gone)
    await eventually(lambda: forgotten == gone)
    await work.close()


@pytest.mark.expected_log("Whether far has a.1 is not known; asked again")
async def test_a_cancel_of_what_may_be_there_is_asked_of_the_site() -> None:
    site = StandIn(LinkLost("cut"))
    work, heard = await begun(site, ready("a"))
    await eventually(lambda: site.asked)
    heard.jobs["a"] = ready("a", canceling=5.0)
    await eventually(lambda: site.canceled)
    assert (site.canceled, site.asked, heard.posted) == (["a.1"], ["a.1"], [])
    await work.close()


@pytest.mark.expected_log("Whether far has a.1 is not known; asked again")
async def test_an_attempt_that_was_given_up_is_not_sent_any_more() -> None:
    site = StandIn(LinkLost("cut"))
    work, heard = await begun(site, ready("a"), ready("b"))
    await eventually(lambda: heard.posted)
    heard.jobs["a"] = ready("a", attempt=2)
    work.submit(ready("c"), Component("c", 1))
    await eventually(lambda: len(work._tasks) == 1, what="nothing but the sweep is under way")
    assert site.asked.count("a.1") == 1
    await work.close()


async def test_no_more_attempts_are_sent_than_are_allowed_there() -> None:
    site = StandIn()
    work, heard = await begun(site, ready("a"), ready("b"), ready("c"), most=2)
    await eventually(lambda: len(heard.posted) == 2)
    assert site.asked == ["a.1", "b.1"]
    site.report(AttemptEnded(Component("a", 1), 9.0, 0))
    await eventually(lambda: len(site.asked) == 3)
    assert [type(one) for one in heard.posted[2:]] == [AttemptEnded, AttemptAccepted]
    await work.close()


async def test_what_finds_no_place_for_long_is_matched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_work, "KEPT_BACK", 0.1)
    site = StandIn()
    work, heard = await begun(site, ready("a"), ready("b"), most=1)
    await eventually(lambda: len(heard.posted) == 2)
    assert site.asked == ["a.1"]
    refused = heard.posted[1]
    assert isinstance(refused, AttemptRefused)
    assert (refused.component.job, refused.counts) == ("b", False)
    await work.close()


@pytest.mark.expected_log("Work at far cannot begin yet: not now")
async def test_a_site_whose_work_cannot_begin_is_tried_again() -> None:
    class Shy(StandIn):
        refusals = 2

        async def start(self, report: Report, known: Sequence[KnownAttempt]) -> None:
            if self.refusals:
                self.refusals -= 1
                raise CrossDeskError("not now")
            await super().start(report, known)

    site = Shy()
    work, heard = await begun(site, ready("a"))
    await eventually(lambda: heard.posted)
    assert site.asked == ["a.1"]
    await work.close()


@pytest.mark.expected_log("Work at far cannot begin yet")
async def test_work_begins_though_its_first_try_failed_in_an_unforeseen_way(
    caplog: pytest.LogCaptureFixture,
) -> None:
    site = StandIn()
    site.faults = [RuntimeError("nobody thought of this")]
    work, heard = await begun(site, ready("a"))
    await eventually(lambda: heard.posted)
    assert heard.posted == [AttemptAccepted(Component("a", 1), "id", held=True)]
    assert "nobody thought of this" in caplog.text
    await work.close()


@pytest.mark.expected_log("Whether far has a.1 is not known; asked again", "To cancel a.1 at far failed")
async def test_a_cancel_of_what_may_have_arrived_is_asked_again_after_an_unforeseen_error() -> None:
    site = StandIn(LinkLost("cut"))
    work, heard = await begun(site, ready("a"))
    await eventually(lambda: site.asked)
    heard.jobs["a"] = ready("a", canceling=1.0)
    site.faults = [RuntimeError("nobody thought of this")]
    await eventually(lambda: site.canceled)
    assert site.canceled == ["a.1"]
    await work.close()
