"""Figures and curves against sums made by hand and second by second."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from broker_core.simulation.curves import curves
from broker_core.simulation.outcome import ReplayOutcome
from broker_core.simulation.picture import svg
from broker_core.simulation.site import SiteFacts
from broker_core.simulation.trace import WorkloadTrace
from tests.simulation.made import replayed, sites, workload

NAN = float("nan")


def outcome() -> ReplayOutcome:
    """Three jobs on two sites of 2 and 4 CPUs; the last could never run."""
    trace = WorkloadTrace(
        "three", [0.0, 0.0, 5.0], [20.0, 4.0, 1.0], [2, 4, 99], [-1.0] * 3, [-1] * 3, [-1.0] * 3
    )
    places = (SiteFacts("small", 2), SiteFacts("large", 4))
    return ReplayOutcome(trace, places, [0.0, 10.0, NAN], [20.0, 14.0, NAN], [0, 1, -1])


def test_the_figures_are_those_of_a_calculation_by_hand() -> None:
    figures = outcome().summary()
    assert (figures.jobs, figures.finished, figures.given_up) == (3, 2, 1)
    assert (figures.sites, figures.cpus, figures.makespan) == (2, 6, 20.0)
    assert figures.utilization == pytest.approx((2 * 20 + 4 * 4) / (6 * 20))
    assert (figures.wait.mean, figures.wait.most) == (5.0, 10.0)
    assert figures.slowdown.most == pytest.approx((10 + 4) / 4)
    assert figures.bounded_slowdown.most == pytest.approx((10 + 4) / 10), "4 s count as 10"
    assert figures.bounded_slowdown.mean == pytest.approx((1 + 1.4) / 2)


def test_each_site_has_its_share() -> None:
    shares = {share.site: (share.cpus, share.jobs, share.utilization) for share in outcome().shares()}
    assert shares["small"] == (2, 1, 1.0)
    assert shares["large"] == (4, 1, pytest.approx(4 * 4 / (4 * 20)))


def test_curves_are_means_over_equal_parts() -> None:
    shape = curves(outcome(), parts=4)
    assert shape.time == [5.0, 10.0, 15.0, 20.0]
    assert shape.utilization == pytest.approx([2 / 6, 2 / 6, (10 + 16) / 30, 2 / 6])
    assert shape.average == pytest.approx([2 / 6, 2 / 6, 46 / 90, 56 / 120])
    assert shape.queue == pytest.approx([1.0, 1.0, 0.0, 0.0])
    assert dict(zip(shape.wait_bounds, shape.wait_counts, strict=True))[1] == 1
    assert dict(zip(shape.wait_bounds, shape.wait_counts, strict=True))[10] == 1
    assert sum(shape.wait_counts) == 2


def test_curves_agree_with_counting_second_by_second() -> None:
    made = replayed(workload(3, whole=True, load=1.5), sites({"a": 8, "b": 12}))
    seconds = np.arange(0, made.makespan) + 0.5
    used = sum(
        cpus * ((start <= seconds) & (seconds < end))
        for start, end, cpus in zip(made.start, made.end, made.cpus, strict=True)
    )
    waiting = sum(
        1 * ((submit <= seconds) & (seconds < start))
        for submit, start in zip(made.submit, made.start, strict=True)
    )
    shape = curves(made, parts=int(made.makespan))
    assert np.asarray(shape.utilization) * 20 == pytest.approx(used)
    assert shape.queue == pytest.approx(waiting, abs=1e-6)


def test_nothing_that_ran_has_figures_too() -> None:
    trace = WorkloadTrace("none", [0.0], [1.0], [9], [-1.0], [-1], [-1.0])
    empty = ReplayOutcome(trace, (SiteFacts("a", 1),), [NAN], [NAN], [-1])
    assert empty.summary().utilization == 0.0
    assert sum(curves(empty).wait_counts) == 0


def test_the_picture_is_well_formed_and_holds_all_curves() -> None:
    made = replayed(workload(1), sites({"a": 8, "b": 12}))
    root = ElementTree.fromstring(svg(made, curves(made)))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("polyline") == 3
    assert "seed 1: 400 jobs on 20 CPUs" in "".join(root.itertext())
