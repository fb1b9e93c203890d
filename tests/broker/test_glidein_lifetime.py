"""How long a glidein is asked for."""

from __future__ import annotations

import pytest

from broker_core.broker.glideins.order import lifetime
from broker_core.settings.glideins import GlideinSettings


@pytest.mark.parametrize(
    ("wall_limit", "most", "lasts"),
    [
        (None, 3600.0, 0.0),
        (300.0, None, 360.0),
        (300.0, 7200.0, 3600.0),
        (300.0, 1800.0, 1800.0),
        (3600.0, 7200.0, 3660.0),
        (600.0, 600.0, 600.0),
        (580.0, 600.0, 600.0),
    ],
)
def test_it_is_no_longer_than_the_queue_gives_and_no_shorter_than_its_job(
    wall_limit: float | None, most: float | None, lasts: float
) -> None:
    settings = GlideinSettings(glidein_wall_limit=3600.0)
    assert lifetime(wall_limit, most, settings) == lasts
