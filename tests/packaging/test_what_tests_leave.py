"""The checks that every test is under: they find what is left running and what is logged."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from broker_core.sites.local.processes import adopt_orphans
from tests.architecture.uncovered import uncovered
from tests.leaks import lasting, nothing_left, running_timers
from tests.log_records import only_expected
from tests.packaging.sources import ROOT
from tests.testbed.guardian import Guardian

SOON = 0.05


def test_a_thread_that_does_not_end_is_found() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    with pytest.raises(AssertionError, match="thread forgotten"), nothing_left(SOON):
        thread.start()
    end.set()
    thread.join()


def test_a_child_that_does_not_end_is_found() -> None:
    with pytest.raises(AssertionError, match="sleep 600"), nothing_left(SOON):
        child = subprocess.Popen(["sleep", "600"])
    child.kill()
    child.wait()


def test_a_child_of_a_test_bed_is_found_unless_the_bed_is_a_lasting_one(tmp_path: Path) -> None:
    folder = tmp_path / "bed"
    folder.mkdir()
    with pytest.raises(AssertionError, match=r"testbed\.guardian"), nothing_left(SOON):
        passing = Guardian(tmp_path / "passing")
    with nothing_left(SOON), lasting():
        guardian = Guardian(folder)
    with nothing_left(SOON):
        child = subprocess.Popen(["sleep", "600"], cwd=folder)
    for one in (passing, guardian):
        one.close()
    assert child.wait() == -signal.SIGKILL


def test_an_orphan_is_adopted_only_by_the_test_that_asks_for_it() -> None:
    forget = ["sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"]
    assert adopt_orphans()
    with nothing_left(SOON):
        stranger = int(subprocess.run(forget, check=True, capture_output=True).stdout)
    with pytest.raises(AssertionError, match="sleep 600"), nothing_left(SOON):
        orphan = adopt_orphans() and int(subprocess.run(forget, check=True, capture_output=True).stdout)
    for pid in (stranger, orphan):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(orphan, 0)


def test_a_task_that_only_the_end_of_its_loop_ends_is_found() -> None:
    async def forget() -> None:
        asyncio.get_running_loop().create_task(asyncio.sleep(600), name="forgotten")

    with pytest.raises(AssertionError, match="task forgotten"), nothing_left(SOON):
        asyncio.run(forget())


def test_what_ends_in_time_is_no_leak() -> None:
    with nothing_left():
        threading.Timer(SOON, bool).start()
        subprocess.run(["true"], check=True)
        asyncio.run(asyncio.sleep(0))
    assert threading.active_count() >= 1


def test_a_timer_that_runs_on_is_found(qapp: object) -> None:
    from PySide6.QtCore import QTimer

    timer = QTimer()
    timer.start(600_000)
    assert running_timers() == ["timer of None"]
    timer.deleteLater()
    assert running_timers() == []


@pytest.mark.expected_log("the disk is full")
def test_a_warning_is_found_unless_it_is_expected() -> None:
    handlers = list(logging.getLogger("crossdesk").handlers)
    with pytest.raises(AssertionError, match=r"WARNING crossdesk.store: the disk is full"), only_expected([]):
        logging.getLogger("crossdesk.store").warning("the disk is %s", "full")
    with only_expected(["disk is full"]):
        logging.getLogger("crossdesk.store").warning("the disk is %s", "full")
        logging.getLogger("crossdesk.store").info("nothing to speak of")
    assert logging.getLogger("crossdesk").handlers == handlers


def test_every_module_that_is_not_covered_yet_exists() -> None:
    assert [path for path in uncovered([]) if not (ROOT / "tests" / path).is_file()] == []
