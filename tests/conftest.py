"""What every test gets: a home of its own, the offscreen platform, and a real broker on demand."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.fatal_errors import pytest_configure, pytest_runtest_protocol, pytest_terminal_summary  # noqa: F401
from tests.leaks import nothing_left, running_timers
from tests.log_records import only_expected
from tests.running import RunningBroker, end_all
from tests.told_at_once import pytest_runtest_logreport, pytest_sessionstart  # noqa: F401

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# As in the desktop (app/shell/garbage.py): widgets must not be freed in whichever thread allocates.
gc.disable()
# A shell lets what it starts in the background ignore these; programs that tests start must not.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
_GARBAGE = 10_000
"""Allocations after which garbage is collected between two tests."""

# How long a busy machine takes says nothing of what is tested.
settings.register_profile("crossdesk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("crossdesk")

_HERE = Path(__file__).parent
_UNCOVERED = frozenset((_HERE / "uncovered.txt").read_text().split("\n"))
"""Test modules that are not checked yet for what they leave running and log; it may only shrink."""
_WITH_WIDGETS = frozenset({"app", "end2end"})
"""Folders of tests that have windows."""
_LONG_AGO = 1e9
"""Larger numbers are times."""
_HOMES = {
    "HOME": "home",
    "XDG_DATA_HOME": "home/.local/share",
    "XDG_CONFIG_HOME": "home/.config",
    "XDG_STATE_HOME": "home/.local/state",
    "XDG_CACHE_HOME": "home/.cache",
    "CROSSDESK_STATE_DIR": "state",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--uncovered", action="store_true", help="check modules of uncovered.txt for leaks too")
    parser.addoption("--soak", action="store_true", help="run the long forms: more cases, kills and seeds")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "agent_files" in getattr(item, "fixturenames", ()):
            item.add_marker("agent_file")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names of tests are the same in every process that collects them: they do not hang on the clock."""
    return argname if isinstance(val, float) and val > _LONG_AGO else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    yield
    if gc.get_count()[0] > _GARBAGE:
        gc.collect()
        gc.freeze()  # what is left, modules above all, is looked at again when the module of tests ends


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    """True if the long forms are asked for."""
    return bool(request.config.getoption("--soak"))


def _covered(request: pytest.FixtureRequest) -> bool:
    name = request.path.relative_to(_HERE).as_posix()
    return name not in _UNCOVERED or bool(request.config.getoption("--uncovered"))


@pytest.fixture(autouse=True)
def clean(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail if the test leaves a thread, task or child, or logs a warning that no `expected_log` allows."""
    if not _covered(request):
        yield
        return
    patterns = [str(one) for mark in request.node.iter_markers("expected_log") for one in mark.args]
    with only_expected(patterns), nothing_left():
        yield


@pytest.fixture(scope="module", autouse=True)
def _no_timers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail if a timer of Qt runs on behind the last test of the module, but for what others have left.

    To look at all objects takes half a second: it is done where widgets are.
    """
    if not _covered(request) or not _WITH_WIDGETS.intersection(request.path.relative_to(_HERE).parts):
        yield
        return
    before = running_timers()
    yield
    gc.unfreeze()
    gc.collect()
    assert [one for one in running_timers() if one not in before] == []


@pytest.fixture(autouse=True)
def isolated(
    clean: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Give the test its own home, XDG folders and state directory; returns their parent.

    The runtime folder has a short name, because a UNIX socket's path is at most 107 bytes.
    """
    base = tmp_path_factory.mktemp("own")
    for variable, folder in _HOMES.items():
        path = base / folder
        if variable != "CROSSDESK_STATE_DIR":
            path.mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv(variable, str(path))
    runtime = tempfile.mkdtemp(prefix="cd-")
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    yield base
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def state_dir(isolated: Path) -> Iterator[Path]:
    """The test's state directory (the value of CROSSDESK_STATE_DIR), not made yet; a broker that somebody
    starts for it ends with the test."""
    yield isolated / "state"
    end_all(isolated / "state")


@pytest.fixture
def running_broker(state_dir: Path) -> Iterator[RunningBroker]:
    """A broker that the test may kill and start again; nothing of it may be left afterwards."""
    broker = RunningBroker(state_dir)
    broker.start()
    yield broker
    broker.close()


@pytest.fixture
def broker(running_broker: RunningBroker) -> Path:
    """State directory of a running broker."""
    return running_broker.state_dir
