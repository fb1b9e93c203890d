from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.interactive.keyboard import Keyboard
from tests.running import end_all
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def nothing_stays(state_dir: Path) -> Iterator[None]:
    yield
    end_all(state_dir)


def test_a_broker_is_started_looked_at_and_stopped() -> None:
    assert crossdesk("broker", "start").code == 0
    status = crossdesk("broker", "status", "--json")
    assert status.code == 0
    assert status.json["pid"] > 1
    assert crossdesk("broker", "stop").code == 0
    again = crossdesk("broker", "status", "--json")
    assert (again.code, again.json["running"], again.json["pid"]) == (1, False, None)


def test_starting_twice_keeps_the_same_broker() -> None:
    first, second = (crossdesk("broker", "start", "--json").json["pid"] for _ in range(2))
    assert first == second


def test_the_state_directory_may_be_given_before_or_behind_the_noun(tmp_path: Path) -> None:
    try:
        given = str(tmp_path / "elsewhere")
        before = crossdesk("--state-dir", given, "broker", "start", "--json").json
        behind = crossdesk("broker", "status", "--state-dir", given, "--json").json
        assert before["state_dir"] == behind["state_dir"] == given
        assert before["pid"] == behind["pid"]
    finally:
        end_all(tmp_path / "elsewhere")


def test_a_submission_starts_the_broker_by_itself(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('Executable = "/bin/true";')
    said = crossdesk("job", "submit", "--wait", str(tmp_path / "job.jdl"))
    assert said.code == 0
    assert crossdesk("broker", "status").code == 0


def test_the_log_is_shown() -> None:
    crossdesk("broker", "start")
    assert crossdesk("broker", "logs", "--json").json["lines"]


def test_without_a_log_it_is_said_where_it_would_be(state_dir: Path) -> None:
    said = crossdesk("broker", "logs")
    assert said.code == 1
    assert str(state_dir) in said.err


def test_an_unusable_state_directory_is_told_with_place_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = crossdesk("broker", "start", "--state-dir", str(tmp_path / "file" / "state"), "--json")
    assert said.code == 1
    assert str(tmp_path / "file") in said.json["error"]["place"]
    assert said.json["error"]["remedy"]


def test_stopping_where_none_runs_is_fine() -> None:
    said = crossdesk("broker", "stop", "--json")
    assert (said.code, said.json["stopped"]) == (0, None)


def test_a_store_that_is_gone_is_told_with_its_lost_jobs(state_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('Executable = "/bin/true";')
    crossdesk("broker", "start")
    job = crossdesk("job", "submit", "--follow", str(tmp_path / "job.jdl"), "--json").json["ids"][0]
    crossdesk("broker", "stop")
    (state_dir / "store" / "broker.sqlite").unlink()
    only_looked = crossdesk("broker", "repair")
    assert (only_looked.code, "the store is gone" in only_looked.out) == (1, True)
    done = crossdesk("broker", "repair", "--apply")
    assert (done.code, job in done.out, "whole again" in done.out + done.err) == (1, True, False)
    assert crossdesk("broker", "repair", "--json").json["findings"] == []


def test_a_sound_store_needs_no_repair() -> None:
    crossdesk("broker", "start")
    crossdesk("broker", "stop")
    assert crossdesk("broker", "repair").code == 0


def test_a_broker_that_was_stopped_is_not_started_without_a_word(tmp_path: Path) -> None:
    assert crossdesk("broker", "start").code == 0
    assert crossdesk("broker", "stop").code == 0
    said = crossdesk("job", "list")
    assert (said.code, said.out) == (1, "")
    assert "The broker was stopped on " in said.err
    assert "crossdesk broker start" in said.err
    assert crossdesk("job", "status", "abcd", "--json").json["error"]["code"] == "broker_stopped"
    assert crossdesk("broker", "status").code == 1
    keyboard = Keyboard("job", "list")
    try:
        wait_until(keyboard.shows(b"Start it? [Y/n]"))
        keyboard.type(b"n\n")
        assert keyboard.process.wait(60) == 130
    finally:
        keyboard.close()
    assert crossdesk("broker", "status").code == 1
    assert crossdesk("job", "list", "--start").code == 0
    assert crossdesk("broker", "status").code == 0
    assert crossdesk("job", "list").code == 0
    assert crossdesk("broker", "stop").code == 0
    assert crossdesk("--start", "site", "list").code == 0


def test_a_sweep_without_values_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jdl"
    path.write_text('JobName = "scan-_PARAM_"; Executable = "/bin/echo"; Arguments = "_PARAM_";')
    said = crossdesk("job", "submit", str(path))
    assert (said.code, said.out) == (1, "")
    assert "no values are given" in said.err
    assert "--values FILE" in said.err
    assert crossdesk("job", "submit", "--hold", "look", str(path), "--value", "1").code == 0
