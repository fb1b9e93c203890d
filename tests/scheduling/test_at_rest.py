"""While jobs wait, what a site says of others leads to no search unless it frees something."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptStarted
from broker_core.scheduling.selection import Selector
from tests.scheduling.stage import Stage, resource


def test_an_acceptance_and_a_start_make_nobody_look_again_and_an_end_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, searches = Stage([resource(cpus=2)]), list[str]()
    stage.submit(number=6)
    assert len(stage.submits) == 2
    choose = Selector.choose

    def counted(self: Selector, demand: Any, *words: Any, **named: Any) -> Any:
        searches.append(demand.key)
        return choose(self, demand, *words, **named)

    monkeypatch.setattr(Selector, "choose", counted)
    for submit in stage.submits[:2]:
        stage.tell(AttemptAccepted(submit.component))
        stage.tell(AttemptStarted(submit.component, stage.wall))
    assert searches == []
    stage.tell(AttemptEnded(stage.submits[0].component, stage.wall, 0))
    assert len(stage.submits) == 3
    assert len(searches) == 2, "one that found a place, and one for the next in the queue"
    stage.tell(AttemptAccepted(stage.submits[2].component))
    assert len(searches) == 2

