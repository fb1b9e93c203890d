"""The relay that a broker starts by itself, as a real process."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path

import pytest

from broker_core.interactive.relay import own_relay as relay_start
from broker_core.interactive.relay.own_relay import NoRelay, OwnRelay
from tests.running import processes_of

pytestmark = pytest.mark.filterwarnings(
    # It is to outlive the one who starts it, which Popen takes for a mistake.
    "ignore:.*Popen.__del__:pytest.PytestUnraisableExceptionWarning"
)


def pid_of(folder: Path) -> int:
    """Of the relay that announced itself there."""
    return int(json.loads((folder / "relay.json").read_bytes())["pid"])


async def test_a_relay_that_does_not_answer_for_a_while_keeps_its_port_and_gets_no_rival(
    ground: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tempfile.mkdtemp(dir=ground))
    relay = OwnRelay(folder, "127.0.0.1", 600.0)
    place = await relay.place()
    pid = pid_of(folder)
    with monkeypatch.context() as patched:
        patched.setattr(relay_start, "PATIENCE", 0.2)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert await relay.place() == place
        finally:
            os.kill(pid, signal.SIGCONT)
    assert (await relay.place(), pid_of(folder)) == (place, pid)
    os.kill(pid, signal.SIGTERM)


async def test_a_number_that_belongs_to_another_process_by_now_does_not_pass_for_a_relay(
    ground: Path,
) -> None:
    folder = Path(tempfile.mkdtemp(dir=ground))
    said = {"host": "127.0.0.1", "port": 1, "pid": os.getpid()}
    (folder / "relay.json").write_text(json.dumps(said))
    place = await OwnRelay(folder, "127.0.0.1", 600.0).place()
    assert (place.port, pid_of(folder)) != (1, os.getpid())
    os.kill(pid_of(folder), signal.SIGTERM)


async def test_a_relay_that_does_not_start_in_time_is_ended_and_announces_nothing_later(
    ground: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tempfile.mkdtemp(dir=ground))
    monkeypatch.setattr(relay_start, "START", 0.0)
    with pytest.raises(NoRelay):
        await OwnRelay(folder, "127.0.0.1", 600.0).place()
    assert not processes_of(folder)
    assert not (folder / "relay.json").exists()


async def test_a_relay_that_was_killed_comes_back_where_agents_know_it_though_another_one_started_meanwhile(
    ground: Path,
) -> None:
    folders = [Path(tempfile.mkdtemp(dir=ground)) for _ in range(2)]
    one, other = (OwnRelay(folder, "127.0.0.1", 600.0) for folder in folders)
    place = await one.place()
    os.kill(pid_of(folders[0]), signal.SIGKILL)
    await other.place()
    assert await one.place() == place
    for folder in folders:
        os.kill(pid_of(folder), signal.SIGTERM)
