"""A user's day in a real window: dropping, typing, submitting, crashing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end2end.desktop import Control, Desktop
from tests.end2end.screen import Screen
from tests.waiting import wait_until

PICTURES = Path("build/screenshots")


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


@pytest.fixture
def desktop(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """A new one for each test: where something is dropped depends on what is open."""
    made = Desktop(screen, tmp_path_factory.mktemp("desktop"))
    yield made
    made.close()


def _script(folder: Path, name: str, body: str, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text(body)
    path.chmod(mode)
    return path


def _description(folder: Path, name: str, words: str) -> Path:
    path = folder / name
    path.write_text(
        f'Executable = "/bin/echo"; Arguments = "{words}";\n'
        'StdOutput = "std.out"; StdError = "std.err"; OutputSandbox = {"std.out", "std.err"};\n'
    )
    return path


def _new_text(desktop: Desktop) -> Control:
    """A new description by its text, which has the keyboard."""
    desktop.screen.press("ctrl+n")
    desktop.click("Text", "QToolButton")
    source = desktop.await_control("Description text", "SourceEditor")
    desktop.screen.click(*source["at"])
    wait_until(lambda: desktop.shown()["focus"] == "Description text", what="the text has the keyboard")
    return source


def _editor_texts(desktop: Desktop) -> list[str]:
    return [one["text"] for one in desktop.controls() if one["kind"] == "SourceEditor"]


def test_a_dropped_script_says_beforehand_what_happens_and_runs(desktop: Desktop, tmp_path: Path) -> None:
    before = len(desktop.jobs())
    data = tmp_path / "in put.txt"
    data.write_text("from the data file\n")
    script = _script(tmp_path, "show it.sh", '#!/bin/sh\ncat "in put.txt"\n')
    with desktop.carry_files(script, data) as drag:
        assert drag.accepted
        desktop.await_text("2 files, ")
        desktop.screen.picture(PICTURES / "real-window-drop.png")
        assert drag.drop()
    desktop.click("Submit", "QPushButton")
    (row,) = desktop.await_jobs(before, 1)
    assert desktop.output(row["id"]) == "from the data file\n"


def test_a_dropped_description_opens_in_the_editor_with_the_sheet(desktop: Desktop, tmp_path: Path) -> None:
    before = len(desktop.jobs())
    desktop.drop_files(_description(tmp_path, "hello.jdl", "dropped description"))
    desktop.await_control("Submit", "QPushButton")
    assert any("dropped description" in text for text in _editor_texts(desktop))
    desktop.screen.picture(PICTURES / "real-window-sheet.png")
    desktop.click("Submit", "QPushButton")
    (row,) = desktop.await_jobs(before, 1)
    assert desktop.output(row["id"]) == "dropped description\n"


def test_a_data_file_dropped_on_an_editor_joins_its_sandbox(desktop: Desktop, tmp_path: Path) -> None:
    source = _new_text(desktop)
    data = tmp_path / "table.csv"
    data.write_text("1,2\n")
    desktop.drop_files(data, at=tuple(source["at"]))
    wait_until(
        lambda: any(str(data) in text for text in _editor_texts(desktop)), what="the file is in the text"
    )
    assert any("InputSandbox" in text for text in _editor_texts(desktop))


def test_a_dropped_folder_offers_its_descriptions(desktop: Desktop, tmp_path: Path) -> None:
    before = len(desktop.jobs())
    for word in ("one", "two"):
        _description(tmp_path, f"{word}.jdl", word)
    desktop.drop_files(tmp_path)
    desktop.click("Continue with 2", "QPushButton")
    desktop.click("Submit 2 jobs", "QPushButton")
    rows = desktop.await_jobs(before, 2)
    assert sorted(desktop.output(row["id"]) for row in rows) == ["one\n", "two\n"]
    assert len({row["batch"] for row in rows}) == 1


def test_dropped_text_runs_as_a_script(desktop: Desktop) -> None:
    before = len(desktop.jobs())
    desktop.drop_text("echo from dropped text")
    desktop.click("Continue", "QPushButton")
    desktop.click("Submit", "QPushButton")
    (row,) = desktop.await_jobs(before, 1)
    assert desktop.output(row["id"]) == "from dropped text\n"


def test_a_dropped_text_that_is_a_description_opens_in_the_editor(desktop: Desktop) -> None:
    desktop.drop_text('Executable = "/bin/echo"; Arguments = "text description";')
    desktop.await_control("Submit", "QPushButton")
    desktop.await_text("text description")
    desktop.click("Cancel", "QPushButton")


def test_several_dropped_files_make_a_batch(desktop: Desktop, tmp_path: Path) -> None:
    before = len(desktop.jobs())
    files = [_script(tmp_path, f"{n}.py", f"print('{n}')\n", 0o644) for n in "abc"]
    left, top, _width, height = (desktop.main_window() or {})["frame"]
    desktop.drop_files(*files, at=(left + 60, top + height - 100))
    desktop.click("Submit 3 jobs", "QPushButton")
    rows = desktop.await_jobs(before, 3)
    assert sorted(desktop.output(row["id"]) for row in rows) == ["a\n", "b\n", "c\n"]


def test_a_description_is_typed_and_submitted_by_keys_alone(desktop: Desktop) -> None:
    before = len(desktop.jobs())
    desktop.screen.press("ctrl+n")
    wait_until(lambda: desktop.shown()["focus"] == "Program", what="the form has the keyboard")
    desktop.screen.write("/bin/echo")
    desktop.screen.press("Tab")
    desktop.screen.press("Tab")
    wait_until(lambda: desktop.shown()["focus"] == "Arguments", what="the arguments have the keyboard")
    desktop.screen.write("typed")
    desktop.screen.press("ctrl+Return")
    (row,) = desktop.await_jobs(before, 1)
    assert desktop.output(row["id"]) == "typed\n"


def test_a_killed_broker_is_told_restarted_and_nothing_is_lost(desktop: Desktop) -> None:
    before = [row["id"] for row in desktop.jobs()]
    with desktop.no_new_broker():
        killed = desktop.kill_broker()
        wait_until(lambda: "Connected" not in desktop.texts(), what="the window says that the broker is away")
    wait_until(lambda: desktop.broker_pid() not in (0, killed), what="another broker runs")
    assert [row["id"] for row in desktop.jobs()] == before
    wait_until(lambda: "Connected" in desktop.texts(), what="the window says that it is connected")
    desktop.screen.picture(PICTURES / "real-window-after-broker-kill.png")
    desktop.drop_text("echo after the kill")
    desktop.click("Continue", "QPushButton")
    desktop.click("Submit", "QPushButton")
    (row,) = desktop.await_jobs(len(before), 1)
    assert desktop.output(row["id"]) == "after the kill\n"


def test_unsaved_text_comes_back_after_a_crash(desktop: Desktop) -> None:
    _new_text(desktop)
    desktop.screen.write("// not saved before the crash")
    drafts = desktop.state_dir / "drafts"
    wait_until(
        lambda: any("before the crash" in file.read_text() for file in drafts.glob("*.json")),
        what="the draft is on the disk",
    )
    desktop.crash()
    desktop.start_again()
    wait_until(
        lambda: any("before the crash" in text for text in _editor_texts(desktop)), what="the text is back"
    )
    desktop.screen.picture(PICTURES / "real-window-recovered.png")
    assert len([text for text in _editor_texts(desktop) if "before the crash" in text]) == 1
