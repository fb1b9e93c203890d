"""A disk that fails: what cannot be known to be durable is never acknowledged (reliability case 6)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.bookkeeping.faults import StorageFailed
from broker_core.errors import CrossDeskError
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.made import first, open_store, step


def _replace_log(directory: Path, flags: int) -> None:
    """Put /dev/null in the place of the open write-ahead log: it can be written, but not flushed."""
    null = os.open(os.devnull, flags)
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if target == str(directory / "broker.sqlite-wal"):
            os.dup2(null, int(name))
    os.close(null)


@pytest.mark.parametrize("flags", [os.O_RDWR, os.O_RDONLY], ids=["flush fails", "write fails"])
async def test_a_failed_write_or_flush_is_fatal_and_never_retried(tmp_path: Path, flags: int) -> None:
    store = open_store(tmp_path)
    told: list[CrossDeskError] = []
    store.listen(fatal=told.append)
    job = first(store)
    await store.append([job])
    _replace_log(tmp_path, flags)
    late = step(store, job.record, EventType.ACCEPTED)
    with pytest.raises(StorageFailed) as failed:
        await store.append([late])
    assert told == [failed.value]
    assert store.error is failed.value
    assert failed.value.remedy
    with pytest.raises(StorageFailed):
        await store.append([late])
    store.close()


@pytest.mark.expected_log("the writer failed")
async def test_whatever_ends_the_writer_is_told_and_nobody_waits_for_ever(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    told: list[CrossDeskError] = []
    store.listen(fatal=told.append)
    with pytest.raises(StorageFailed) as failed:
        await store.append(["no entry at all"])  # type: ignore[list-item]
    assert told == [failed.value]
    store.close()
