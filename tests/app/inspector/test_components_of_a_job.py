"""The Components tab: a lane for each site, the barrier before the ranks, and the reactions taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from app.inspector.coallocation.pane import CoallocationPane
from app.inspector.inspector import Inspector
from app.inspector.story.event_list import sentence
from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptStarted
from broker_core.jobs.components import ComponentStanding
from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.jobs.placement import column
from broker_core.resources.record import Resource
from broker_core.scheduling.coallocation.messages import ComponentGathered, TrafficCounted
from broker_core.wire.views import EventView
from tests.app.inspector.pictures import shoot
from tests.app.inspector.recorded import JOB, OTHER, TestContext, row
from tests.scheduling.components import components, gone, held
from tests.scheduling.over_several import ABLE
from tests.scheduling.stage import Stage

Until = Callable[..., Any]
NAMES = ("vega.izum.example", "leonardo", "karolina-cluster-of-it4innovations.example")
CES = tuple(f"{name}:22/jobmanager-slurm-x" for name in NAMES)
WANTED = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = {}; Executable = "/bin/true";'


class Played:
    """A job of the production scheduler whose events a desk shows."""

    def __init__(self, context: TestContext, each: int = 4, cpus: int = 10) -> None:
        self.context = context
        self.stage = Stage([Resource(ce, ce.partition(":")[0], each, each, 0, 0, 0.0, ABLE) for ce in CES])
        (self.job,) = self.stage.submit(WANTED.format(cpus))

    def tell(self, *messages: Any) -> None:
        """Each a bit later than the one before; the desk hears of all."""
        for message in messages:
            self.stage.wait(17)
            self.stage.tell(message)
        self.show()

    def show(self) -> None:
        events = []
        for event in self.stage.stories[self.job]:
            told = asdict(event) | {"job": JOB, "resources": list(event.resources)}
            events.append(EventView(**{name: told[name] for name in EventView.model_fields}))
        record = self.stage.records[self.job]
        facts = {name: getattr(record, name) for name in ("cpus", "attempt", "reason")}
        self.context.put(row(record.state.value, site=column(record.placements), **facts), events)


def opened(inspector: Inspector, until: Until) -> CoallocationPane:
    """The tab with the job."""
    inspector.show_tab("components")
    inspector.show_jobs([JOB])
    pane = inspector.panes["components"]
    assert isinstance(pane, CoallocationPane)
    until(pane.showing_content)
    return pane


def test_the_way_of_three_sites_to_their_barrier(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    played = Played(context)
    one, two, three = components(played.stage, played.job, 3)
    played.tell(*(AttemptAccepted(each, held=True) for each in (two, three, one)))
    pane = opened(inspector, until)
    assert (pane.picture.gate_words, pane.picture.gate_token()) == ("0 of 3", "state-Scheduled")
    played.tell(AttemptStarted(one, 0.0), ComponentGathered(one), AttemptStarted(three, 0.0))
    until(lambda: pane.picture.gate_words == "1 of 3")
    assert pane.barrier.text().startswith("1 of 3 components reached MPI_Init; those there wait for ")
    lanes = pane.picture.story.components
    assert [each.words for each in lanes] == [
        "In MPI_Init", "In the queue", "Starting",
    ]  # fmt: skip
    assert pane.picture.accessibleName().startswith("Barrier: 1 of 3")
    assert pane.picture.words_at(60).startswith(f"{lanes[0].site}: 4 CPUs, ranks 0-3. In MPI_Init\n")
    assert shoot(inspector, context, "components-gathering", turn)
    played.tell(ComponentGathered(three), ComponentGathered(two))
    until(lambda: pane.picture.gate_words == "3 of 3")
    assert pane.picture.gate_token() == "positive"
    ranks = ", ".join(f"{each.ranks} at {each.site}" for each in lanes)
    assert pane.ranks.text() == f"Ranks {ranks}."
    assert pane.heading.isHidden()
    assert shoot(inspector, context, "components-released", turn)
    played.tell(AttemptEnded(two, 0.0, 139))
    until(lambda: pane.picture.gate_token() == "negative")
    assert pane.picture.story.components[1].standing is ComponentStanding.FAILED
    assert shoot(inspector, context, "components-failed", turn)


def test_reactions_are_listed_the_latest_first_with_what_followed(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    played = Played(context)
    for _ in range(2):
        held(played.stage, played.job, 3)
        played.stage.wait(30)
        played.tell(AttemptEnded(components(played.stage, played.job, 3)[1], 0.0, 1))
        if played.stage.records[played.job].attempt == 1:
            gone(played.stage, played.job, 3)
    played.show()
    pane = opened(inspector, until)
    shown = [pane.reactions.itemAt(place).widget() for place in range(pane.reactions.count())]
    texts = [[part.text() for part in one.children() if hasattr(part, "text")] for one in shown]
    assert ["Attempt 2 was given up" in one[0] for one in texts] == [True, False]
    assert texts[0][2].endswith("as soon as nothing is left.")
    assert texts[1][2].startswith("Once more at the same sites, at ")
    assert shoot(inspector, context, "components-reactions", turn)


def test_very_many_ranks_are_one_block_each(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    played = Played(context, each=20_000, cpus=45_000)
    played.show()
    pane = opened(inspector, until)
    assert pane.picture.story.components[1].ranks == "20000-39999"
    assert shoot(inspector, context, "components-many", turn)


def test_the_tab_is_there_for_jobs_over_several_sites_only(
    context: TestContext, inspector: Inspector, until: Until
) -> None:
    played = Played(context)
    played.show()
    context.put(row("Running", id=OTHER), [])
    index = inspector.tabs.indexOf(inspector.panes["components"])
    for job, there in ((JOB, True), (OTHER, False), (JOB, True)):
        inspector.show_jobs([job])
        assert inspector.tabs.isTabVisible(index) is there


def test_the_story_names_the_site_of_a_component(context: TestContext) -> None:
    played = Played(context)
    played.tell(AttemptAccepted(components(played.stage, played.job, 3)[1], held=True))
    last = context.client.events[JOB][-1]
    assert sentence(last) == f"A component at {last.resources[0].partition(':')[0]}"
    assert last.reason == "1 of 3 components are at their sites"


def test_a_job_by_way_of_the_broker_shows_what_has_passed_between_its_sites(
    context: TestContext, inspector: Inspector, until: Until, turn: Callable[[], None]
) -> None:
    played = Played(context)
    parts = components(played.stage, played.job, 3)
    counted = ((0, 0), (0, 0), (0, 0))
    held(played.stage, played.job, 3)
    played.tell(TrafficCounted(played.job, 1, counted))
    pane = opened(inspector, until)
    assert pane.ways.text() == "Between sites: overlay, by way of the broker. 0 B so far."
    counted = ((5 << 30, 1 << 20), (700, 2 << 30), (1 << 20, 3 << 30))
    played.tell(*map(ComponentGathered, parts), TrafficCounted(played.job, 1, counted))
    until(lambda: pane.ways.text().endswith(" 5.0 GiB so far."))
    assert "5.0 GiB sent to other sites, 1.0 MiB received" in pane.picture.words_at(60)
    assert shoot(inspector, context, "components-overlay", turn)
    # What is told of an attempt that is not the current one counts for none.
    played.tell(TrafficCounted(played.job, 7, counted), TrafficCounted("another", 1, counted))
    assert context.client.events[JOB][-1].type == "job.traffic_counted"
    assert context.client.events[JOB][-1].attempt == 1


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (OverlayWay.NAMESPACE, "by a network namespace at each site"),
        (OverlayWay.PRELOAD, "by a preload library at each site"),
    ],
)
def test_it_is_shown_how_its_sites_get_to_the_broker(
    context: TestContext, inspector: Inspector, until: Until, way: OverlayWay, words: str
) -> None:
    played = Played(context)
    held(played.stage, played.job, 3)
    played.tell(TrafficCounted(played.job, 1, ((1, 0), (0, 1), (0, 0)), way))
    shown = opened(inspector, until).ways.text()
    assert shown == f"Between sites: overlay, by way of the broker ({words}). 1 B so far."


def test_of_direct_connections_no_traffic_is_told(
    context: TestContext, inspector: Inspector, until: Until
) -> None:
    Played(context).show()
    assert opened(inspector, until).ways.text().startswith("Between sites: direct connections.")
