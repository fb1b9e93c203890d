"""No measure of the sources grows worse, and what was gained is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import ratchet
from tests.architecture.every import MEASURES
from tests.architecture.measure import Measure
from tests.architecture.modules import product

_NAMES = [measure.name for measure in MEASURES]


@pytest.mark.parametrize("measure", MEASURES, ids=_NAMES)
def test_a_measure_is_what_is_recorded(measure: Measure) -> None:
    figure = {measure.name: measure.take(product())}
    before = ratchet.recorded()
    assert ratchet.worse(figure, before) + ratchet.better(figure, before) == []


def test_every_figure_recorded_belongs_to_a_measure() -> None:
    assert set(ratchet.recorded()) == set(_NAMES)


def test_a_figure_that_grew_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "ratchet.toml"
    ratchet.record({"cycles": 4, "flags": 9}, file)
    ratchet.record({"cycles": 5, "flags": 7}, file)
    assert ratchet.recorded(file) == {"cycles": 4, "flags": 7}


def test_what_grew_and_what_fell_are_both_told_with_the_command_that_helps() -> None:
    before = {"cycles": 4, "flags": 9}
    assert ratchet.worse({"cycles": 5, "flags": 8}, before) == [
        "cycles is 5, 4 at most: python -m tests.architecture --list cycles"
    ]
    assert ratchet.better({"cycles": 5, "flags": 8}, before) == [
        "flags is 8, 9 is recorded: python -m tests.architecture --record"
    ]
