"""Who wants only the rows of jobs is spared reading their events."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.engine.stream import Change, message
from broker_core.client.follow import read_update
from tests.bookkeeping.made import first, open_store


@pytest.mark.parametrize("events", [True, False])
async def test_an_update_has_its_events_for_those_who_want_them_and_its_rows_for_all(
    tmp_path: Path, events: bool
) -> None:
    store = open_store(tmp_path)
    entry = first(store)
    store.close()
    sent = message(1, [(entry.event, entry.record)], Change(0, 0, 0, 0)).decode()
    update = await read_update(sent.partition("data: ")[2].strip(), with_events=events)
    assert [one.job for one in update.events] == [entry.event.job] * events
    assert update.rows["id"] == [entry.event.job]
