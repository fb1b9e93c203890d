from __future__ import annotations

import pytest

from broker_core.client.prepare import prepare_now
from broker_core.client.samples import sample, samples
from broker_core.errors import NotFound


def test_the_samples_come_in_their_order() -> None:
    names = [one.name for one in samples()]
    assert names[0] == "neural-net"
    assert " ".join(names[1:]) == (
        "heat-image explore radiotherapy data-reduction sweep-200 fails killed thesis "
        "notebook tensorboard web-page pi-in-parallel plasma"
    )


@pytest.mark.parametrize("name", [one.name for one in samples()])
def test_every_description_of_a_sample_is_in_order(name: str) -> None:
    for path in sample(name).descriptions:
        ready = prepare_now(path)
        assert ready.ok, ready.diagnostics


def test_the_sweep_has_200_jobs() -> None:
    assert len(sample("sweep-200").values or ()) == 200


def test_the_sample_jobs_need_nothing_but_what_they_bring() -> None:
    for one in samples():
        if one.runs_here:
            ready = prepare_now(one.jdl)
            assert ready.description is not None
            assert ready.description.executable in {file.name for file in ready.files}


def test_an_unknown_sample_is_told_with_a_remedy() -> None:
    with pytest.raises(NotFound, match="sample list"):
        sample("nothing")
