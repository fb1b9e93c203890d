"""`crossdesk sim` as its users call it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest

from broker_core.command_line.sim import SAMPLE
from broker_core.command_line.sim_run import Wish, run
from broker_core.errors import BadRequest
from broker_core.simulation.production import scheduler

COMMAND = [sys.executable, "-m", "app.launch", "sim"]


def call(*words: str, code: int = 0) -> str:
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_replay_prints_figures_and_curves_and_writes_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "curves.svg"
    said = call("replay", "lcg-2005", "--jobs", "600", "--cpus", "170", "--plot", str(picture))
    for wanted in (
        "600 jobs",
        "courtesy of Hui Li",
        "Utilisation",
        "Bounded slowdown",
        "Jobs waiting",
        "longer",
    ):
        assert wanted in said
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_the_same_replay_has_the_same_result_and_other_policies_another() -> None:
    words = ("replay", "lcg-2005", "--jobs", "600", "--cpus", "170", "--json")
    results = [orjson.loads(call(*words, *more)) for more in ((), (), ("--policy", "worst-fit"))]
    for result in results:
        assert result.pop("took") > 0
        assert result["summary"]["finished"] == 600
    assert results[0] == results[1]
    assert results[2]["sites"] != results[0]["sites"]


def test_progress_comes_as_lines_of_json_with_the_result_last(tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    sites.write_text('[[sites]]\nname = "a"\ncpus = 30\nspeed = 2.0\nsubmission_delay = 60\n')
    said = call("replay", "lcg-2005", "--jobs", "300", "--sites", str(sites), "--json", "--progress")
    lines = [orjson.loads(line) for line in said.splitlines()]
    over = [line["progress"]["over"] for line in lines[:-1]]
    assert over == sorted(over)
    assert len(over) > 10
    assert lines[-1]["result"]["summary"]["wait"]["median"] >= 60, "the delay of every submission"


def test_what_cannot_be_is_told_in_words() -> None:
    error = orjson.loads(call("replay", "nowhere.swf", "--json", code=1))["error"]
    assert "cannot be read" in error["message"]
    with pytest.raises(BadRequest, match="There is no policy 'magic'"):
        scheduler("magic")
    with pytest.raises(BadRequest, match="There is no queue policy 'magic'"):
        scheduler("best-fit", "magic")
    with pytest.raises(BadRequest) as caught:
        run(Wish(SAMPLE, None, "best-fit", "fcfs", 0, True, 0, Path("curves.bmp"), False))
    assert "ends in .svg" in caught.value.remedy


def test_the_policies_are_listed() -> None:
    policies = orjson.loads(call("policies", "--json"))
    assert "best-fit" in policies["order"]
    assert "fcfs" in policies["queue"]
    assert "worst-fit" in call("policies")


def test_a_replay_that_is_ended_from_outside_leaves_at_once() -> None:
    child = subprocess.Popen([*COMMAND, "replay", "lcg-2005", "--json", "--progress"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert b"progress" in child.stdout.readline()
    child.terminate()
    assert child.wait(20) == -signal.SIGTERM
    child.stdout.close()
