"""Events are routed by type, internal ones until it is quiet; one timer serves all reactors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from broker_core.jobs.immutable import immutable
from broker_core.reactor.core import ROUNDS, Core, Delivery, Restless
from broker_core.reactor.effect_runner import EffectRunner, NoCarrier
from broker_core.reactor.reactor import InternalEvent, Now, TimerFired, Wake


@immutable
class Asked:
    number: int


@immutable
class Counted(InternalEvent):
    number: int


@immutable
class Unheeded(InternalEvent):
    number: int


@immutable
class Print:
    number: int


class Scripted:
    """A reactor that answers each type of event by a function."""

    def __init__(self, **answers: Callable[[Any], list[Any]]) -> None:
        known = {kind.__name__: kind for kind in (Asked, Counted, TimerFired)}
        self.takes = frozenset(known[name] for name in answers)
        self.gives = frozenset({Print, Counted, Unheeded})
        self.times: list[float] = []
        self._answers = answers

    def handle(self, event: Any, now: Now) -> list[Any]:
        self.times.append(now.monotonic)
        return self._answers[type(event).__name__](event)

    def validate(self) -> list[str]:
        return [f"handled {len(self.times)}"] if len(self.times) > 3 else []


def at(moment: float) -> Now:
    return Now(1000.0 + moment, moment)


def test_internal_events_are_handed_on_in_order_and_stay_inside() -> None:
    asker = Scripted(
        Asked=lambda event: [Print(0), Counted(event.number), Counted(event.number + 1), Print(1)]
    )
    printer = Scripted(Counted=lambda event: [Print(10 * event.number), Unheeded(3)])
    core = Core([asker, printer])
    assert core.handle(Asked(1), at(0)) == [Print(0), Print(1), Print(10), Print(20)]
    assert core.gives == {Print, Wake}


def test_each_delivery_names_the_one_from_which_its_event_came() -> None:
    asker = Scripted(Asked=lambda event: [Counted(event.number)])
    printer = Scripted(Counted=lambda event: [Counted(event.number - 1)] if event.number else [])
    core = Core([asker, printer])
    core.handle(Asked(1), at(0))
    core.handle(Asked(0), at(1))
    assert core.recent() == [
        Delivery(1, 0, "Asked", "Scripted"),
        Delivery(2, 1, "Counted", "Scripted"),
        Delivery(3, 2, "Counted", "Scripted"),
        Delivery(4, 0, "Asked", "Scripted"),
        Delivery(5, 4, "Counted", "Scripted"),
    ]


def test_reactors_that_answer_each_other_for_ever_are_stopped() -> None:
    core = Core([Scripted(Asked=lambda _: [Counted(1)]), Scripted(Counted=lambda event: [event])])
    with pytest.raises(Restless, match=f"{ROUNDS} internal events"):
        core.handle(Asked(1), at(0))


def test_an_event_that_no_reactor_takes_is_refused() -> None:
    with pytest.raises(TypeError, match="no reactor takes Print"):
        Core([Scripted(Asked=lambda _: [])]).handle(Print(1), at(0))


def test_the_earliest_moment_of_all_is_the_one_timer() -> None:
    early = Scripted(Asked=lambda event: [Wake(5.0)], TimerFired=lambda _: [Wake(9.0)])
    late = Scripted(Asked=lambda event: [Wake(7.0)], TimerFired=lambda _: [Wake(7.0)])
    idle = Scripted(Asked=lambda event: [Print(1)], TimerFired=lambda _: [])
    core = Core([late, early, idle])
    assert core.handle(Asked(1), at(0)) == [Print(1), Wake(5.0)]
    assert core.handle(TimerFired(), at(5.0)) == [Wake(7.0)]
    assert [one.times for one in (early, late, idle)] == [[0, 5.0]] * 3


def test_nobody_is_woken_where_nobody_asked_for_it() -> None:
    core = Core([Scripted(TimerFired=lambda _: [])])
    assert core.handle(TimerFired(), at(1.0)) == []
    assert min([math.inf, *(one.at for one in core.handle(TimerFired(), at(2.0)))]) == math.inf


def test_what_does_not_fit_together_is_told_for_all() -> None:
    core = Core([Scripted(Asked=lambda _: []), Scripted(Asked=lambda _: [])])
    for moment in range(4):
        assert core.validate() == []
        core.handle(Asked(1), at(moment))
    assert core.validate() == ["handled 4", "handled 4"]


def test_a_reactor_is_found_by_its_type() -> None:
    reactor = Scripted(Asked=lambda _: [])
    assert Core([reactor]).part(Scripted) is reactor
    with pytest.raises(LookupError, match="no dict"):
        Core([reactor]).part(dict)


def test_effects_go_to_their_carriers_in_order() -> None:
    done = list[object]()
    runner = EffectRunner({Print: done.append, Wake: lambda effect: done.append(effect.at)})
    runner.run([Print(1), Wake(2.0), Print(3)])
    assert done == [Print(1), 2.0, Print(3)]


def test_an_effect_that_fails_keeps_none_of_the_others_from_being_carried_out() -> None:
    done = list[object]()

    def fails(effect: object) -> None:
        raise ValueError(f"not {effect}")

    runner = EffectRunner({Print: done.append, Wake: fails})
    with pytest.raises(ValueError, match="not Wake"):
        runner.run([Print(1), Wake(2.0), Print(3)])
    with pytest.raises(ExceptionGroup, match="2 effects") as raised:
        runner.run([Wake(2.0), Asked(1), Print(4)])
    assert [type(one) for one in raised.value.exceptions] == [ValueError, NoCarrier]
    assert done == [Print(1), Print(3), Print(4)]


def test_an_effect_without_a_carrier_is_an_error_before_it_comes_up() -> None:
    runner = EffectRunner({Print: lambda _: None})
    runner.require({Print})
    with pytest.raises(NoCarrier, match="Asked, Wake"):
        runner.require({Print, Wake, Asked})
    with pytest.raises(NoCarrier, match="Asked"):
        runner.run([Asked(1)])
