"""What a screen reader says of each control in reach of the keyboard: a name, and not another's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.prepare import prepare
from tests.end2end.desktop import Desktop
from tests.end2end.screen import Screen
from tests.end2end.screen_reader import Accessible, ScreenReader
from tests.waiting import wait_until

pytestmark = pytest.mark.display
PAGES = (
    "Show logs", "Show output", "Show story", "Sites", "Statistics", "Resources", "Scheduler",
    "Where could it run?", "Simulator", "Welcome", "Help", "New job",
)  # fmt: skip
"""Actions that show the views of a job, then the places, then a description."""
DIALOGS = ("Settings…", "Keyboard shortcuts", "About CrossDesk", "Add a site…")
_LEAST = 10
"""Controls in reach of the keyboard that every page has with the window around it."""


@pytest.fixture
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


@pytest.fixture
def reader(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScreenReader]:
    made = ScreenReader(screen)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    yield made
    made.close()


@pytest.fixture
def desktop(screen: Screen, reader: ScreenReader, tmp_path: Path) -> Iterator[Desktop]:
    made = Desktop(screen, tmp_path)
    yield made
    made.close()


def _faults(told: list[Accessible]) -> set[str]:
    """Controls that are told without a name, or by a name that does not tell them apart."""
    controls = [one for one in told if one.focusable and one.role != "label" and not one.inner]
    times = Counter((one.role, one.name, one.within) for one in controls)
    unnamed = {str(one) for one in controls if not any(letter.isalnum() for letter in one.name)}
    alike = {str(one) for one in controls if times[one.role, one.name, one.within] > 1}
    # On this desktop the name of a combo box is what is chosen in it; a label or a description says of what.
    choices = {
        str(one) for one in controls if one.role == "combo box" and not (one.labeled or one.description)
    }
    return unnamed | alike | choices


def _open(desktop: Desktop, action: str) -> None:
    """Do an action by the palette, or choose a job."""
    desktop.screen.press("ctrl+k")
    desktop.await_control("Search jobs, actions, help", "QLineEdit")
    words = action.rstrip("…")
    desktop.screen.write(words)

    def first() -> bool:
        found = desktop.control("What was found", "QListWidget")
        return found is not None and str(found["rows"][:1]).startswith(f"[['{words}")

    wait_until(first, what=f"the palette offers {action}")
    desktop.screen.press("Return")
    wait_until(
        lambda: desktop.control("What was found", "QListWidget") is None, what="the palette has closed"
    )


def _run_a_job(desktop: Desktop) -> None:
    """Run a job and choose it."""

    async def submit(client: BrokerClient) -> object:
        text = 'JobName = "heard aloud"; Executable = "/bin/echo"; Arguments = "a"; StdOutput = "std.out";'
        return await client.submit_prepared(await prepare(text, desktop.base))

    desktop.ask(submit)
    desktop.await_jobs(0, 1)
    _open(desktop, "heard aloud")


def test_every_control_of_the_pages_has_a_name_of_its_own(desktop: Desktop, reader: ScreenReader) -> None:
    _run_a_job(desktop)
    found: dict[str, set[str]] = {}
    for page in PAGES:
        _open(desktop, page)
        told = [one for _, window in reader.windows() for one in reader.walk(window)]
        assert sum(one.focusable for one in told) > _LEAST, f"{page} is walked"
        found[page] = _faults(told)
    assert {page: sorted(faults) for page, faults in found.items() if faults} == {}


def test_every_control_of_the_dialogs_has_a_name_of_its_own(desktop: Desktop, reader: ScreenReader) -> None:
    found: dict[str, set[str]] = {}
    for dialog in DIALOGS:
        before = {title for title, _ in reader.windows()}
        _open(desktop, dialog)
        shown = wait_until(
            lambda before=before: [window for title, window in reader.windows() if title not in before],
            what=f"{dialog} is a window for screen readers",
        )
        told = list(reader.walk(shown[0]))
        assert any(one.focusable for one in told)
        found[dialog] = _faults(told)
        desktop.screen.press("Escape")
        wait_until(
            lambda before=before: {title for title, _ in reader.windows()} <= before, what="it is closed"
        )
    assert {dialog: sorted(faults) for dialog, faults in found.items() if faults} == {}
