"""A state directory has one holder, and a holder that lost it writes no more (reliability case 4)."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from broker_core.bookkeeping import directory, repair
from broker_core.bookkeeping.directory import network_kind, read_holder
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.errors import CrossDeskError, StateDirectoryTaken
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.made import first, open_store, step

_HOLD = """
import sys
from pathlib import Path
from broker_core.bookkeeping.store import Store
store = Store.open(Path(sys.argv[1]), host="elsewhere.example", pid=4711)
print("held", flush=True)
sys.stdin.read()
"""


async def test_a_second_opener_is_refused_with_the_holders_name(tmp_path: Path) -> None:
    store = open_store(tmp_path, host="desk.example", pid=42)
    with pytest.raises(StateDirectoryTaken) as told:
        open_store(tmp_path)
    assert told.value.place == "desk.example pid 42"
    await store.append([first(store)])
    store.close()
    assert read_holder(tmp_path) is None
    open_store(tmp_path).close()


def test_another_process_is_refused_and_its_death_frees_the_directory(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _HOLD, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StateDirectoryTaken) as told:
            open_store(tmp_path)
        assert told.value.place == "elsewhere.example pid 4711"
        other.kill()
    store = open_store(tmp_path)
    assert store.epoch == 2
    store.close()


_KILLED_WHILE_STARTING_A_PROGRAM = """
import os, socket, sys
from pathlib import Path
from broker_core.bookkeeping.store import Store
store = Store.open(Path(sys.argv[1]), host=socket.gethostname(), pid=os.getpid())
if os.fork() == 0:
    os.read(0, 1)
    os._exit(0)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_holder_was_starting_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-c", _KILLED_WHILE_STARTING_A_PROGRAM, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as other:
        assert other.stdin is not None
        assert other.wait() == -9
        monkeypatch.setattr(directory, "OUTLIVED", 0.1)
        with pytest.raises(StateDirectoryTaken) as told:
            open_store(tmp_path, host=socket.gethostname())
        assert told.value.place == f"{socket.gethostname()} pid {other.pid}"
        other.stdin.close()
        monkeypatch.setattr(directory, "OUTLIVED", 30.0)
        open_store(tmp_path, host=socket.gethostname()).close()


async def test_a_writer_whose_epoch_was_taken_stops_for_good(tmp_path: Path) -> None:
    store, told = open_store(tmp_path, host="old", pid=1), []
    store.listen(fatal=told.append)
    job = first(store)
    await store.append([job])
    (tmp_path / "broker.lock").unlink()
    thief = open_store(tmp_path, host="new", pid=2)
    late = step(store, job.record, EventType.ACCEPTED)
    with pytest.raises(StateDirectoryTaken) as refused:
        await store.append([late])
    assert refused.value.place == "new pid 2"
    with pytest.raises(StateDirectoryTaken):
        await store.append([late])
    assert told == [refused.value]
    assert thief.live() == [job.record]
    assert await thief.events_after(0) == [job.event]
    store.close()
    thief.close()


def _network_mounts(tmp_path: Path, kind: str) -> Path:
    table = tmp_path / "mounts"
    directory = str(tmp_path / "shared disk").replace(" ", "\\040")
    table.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {directory} {kind} rw 0 0\n/dev/b /mnt ext4 rw 0 0\n")
    return table


async def test_no_write_ahead_log_is_used_on_a_network_file_system(tmp_path: Path) -> None:
    mounts, directory = _network_mounts(tmp_path, "nfs4"), tmp_path / "shared disk" / "state"
    store = open_store(directory, mounts=mounts)
    await store.append([first(store)])
    assert sorted(path.name for path in directory.iterdir()) == ["broker.lock", STORE_FILE, "reserve"]
    assert (await store.jobs_page()).total == 1
    store.close()
    assert network_kind(directory, mounts) == "nfs4"
    assert network_kind(tmp_path, mounts) == ""


def test_a_second_host_is_refused_on_a_network_file_system_until_released(tmp_path: Path) -> None:
    mounts, directory = _network_mounts(tmp_path, "cifs"), tmp_path / "shared disk"
    directory.mkdir()
    (directory / "broker.lock").write_text('{"host":"far.example","pid":7,"started":1.0}')
    with pytest.raises(StateDirectoryTaken) as told:
        open_store(directory, mounts=mounts)
    assert told.value.place == "far.example pid 7"
    assert "broker repair --release" in told.value.remedy
    repair.release(directory)
    open_store(directory, mounts=mounts).close()


def test_the_same_host_takes_its_directory_back_after_a_crash(tmp_path: Path) -> None:
    mounts, directory = _network_mounts(tmp_path, "nfs"), tmp_path / "shared disk"
    directory.mkdir()
    (directory / "broker.lock").write_text('{"host":"here","pid":7,"started":1.0}')
    store = open_store(directory, mounts=mounts, host="here")
    assert read_holder(directory) is not None
    store.close()


def test_a_directory_that_cannot_be_made_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CrossDeskError) as told:
        open_store(tmp_path / "file" / "state")
    assert str(tmp_path / "file" / "state") in told.value.place
    assert "--state-dir" in told.value.remedy


def test_the_store_records_who_holds_it(tmp_path: Path) -> None:
    store = open_store(tmp_path, host="desk", pid=os.getpid())
    with closing(sqlite3.connect(store.path)) as connection:
        row = connection.execute("SELECT epoch, host, pid, started > 0 FROM meta").fetchone()
    store.close()
    assert row == (1, "desk", os.getpid(), 1)
