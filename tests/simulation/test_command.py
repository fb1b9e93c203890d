"""`crossdesk sim` as its users call it."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest

from broker_core.command_line.invocation import begin
from broker_core.command_line.simulation.replay import SAMPLE
from broker_core.command_line.simulation.run import ReplayRequest, run
from broker_core.errors import BadRequest
from broker_core.simulation.production import core
from broker_core.simulation.swf import read_swf

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
        "Utilization",
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


def test_policies_are_compared_over_the_same_jobs() -> None:
    words = ("replay", "lcg-2005", "--jobs", "600", "--cpus", "170", "--compare", "worst-fit")
    results = orjson.loads(call(*words, "--compare", "/bounded-backfill", "--json"))["runs"]
    policies = [(one["policy"], one["queue"]) for one in results]
    assert policies == [("best-fit", "fcfs"), ("worst-fit", "fcfs"), ("best-fit", "bounded-backfill")]
    alone = orjson.loads(call(*words[:-2], "--policy", "worst-fit", "--json"))
    assert results[1]["summary"] == alone["summary"]
    said = call(*words)
    assert "600 jobs of" in said
    assert [line.split()[0] for line in said.splitlines()[-2:]] == ["best-fit", "worst-fit"]
    error = orjson.loads(call(*words, "--compare", "magic", "--json", code=1))["error"]
    assert error["message"] == "There is no policy of this name."


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
    assert error["message"] == "The trace cannot be read: no such file or directory."
    assert (error["place"], error["remedy"][:14]) == ("nowhere.swf", "Check the name")
    with pytest.raises(BadRequest, match="There is no queue policy 'magic'"):
        core(queue="magic")
    with pytest.raises(BadRequest) as caught:
        run(ReplayRequest(SAMPLE, None, "best-fit", "fcfs", 0, True, 0, Path("curves.bmp"), False))
    assert "ends in .svg" in caught.value.remedy


@pytest.mark.parametrize(("sites", "plot"), [("none.toml", None), ("none.ldif", None), (None, "no/x.svg")])
def test_a_file_that_is_not_there_is_named_with_the_remedy(
    sites: str | None, plot: str | None, tmp_path: Path
) -> None:
    begin([])
    named = tmp_path / (sites or plot or "")
    wish = ReplayRequest(
        SAMPLE, named if sites else None, "best-fit", "fcfs", 0, True, 3, named if plot else None, False
    )
    with pytest.raises(BadRequest, match="no such file or directory") as caught:
        run(wish)
    assert caught.value.place == str(named)
    assert "Errno" not in str(caught.value)
    assert caught.value.remedy.startswith("Check the name")


def test_a_trace_that_is_cut_short_is_told_in_words(tmp_path: Path) -> None:
    cut = tmp_path / "cut.swf.gz"
    cut.write_bytes(gzip.compress(b"; a trace\n" * 1000)[:40])
    with pytest.raises(BadRequest, match="it is damaged or cut short") as caught:
        read_swf(cut)
    assert "SWF" in caught.value.remedy


def test_the_policies_are_listed() -> None:
    policies = orjson.loads(call("policies", "--json"))
    assert "best-fit" in policies["order"]
    assert "fcfs" in policies["queue"]
    assert "worst-fit" in call("policies")


def own_policy(isolated: Path, name: str, text: str) -> None:
    folder = isolated / "home/.config/crossdesk/policies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(f"def order(choices, request):\n    {text}\n")


def test_a_policy_of_the_user_decides_a_replay_and_is_listed(isolated: Path) -> None:
    own_policy(isolated, "backwards", "return range(len(choices))[::-1]")
    own_policy(isolated, "broken", "return (")
    assert orjson.loads(call("policies", "--json"))["order"][-1] == "backwards"
    words = ("replay", "lcg-2005", "--jobs", "600", "--cpus", "170", "--json")
    own = orjson.loads(call(*words, "--policy", "backwards"))
    assert (own["policy"], own["policy_note"]) == ("backwards", "")
    assert own["sites"] != orjson.loads(call(*words))["sites"]
    for name, why in (("broken", "SyntaxError"), ("magic", "There is no policy of this name")):
        assert why in orjson.loads(call(*words, "--policy", name, code=1))["error"]["message"]


def test_a_policy_that_fails_in_a_replay_is_told_of(isolated: Path) -> None:
    own_policy(isolated, "boom", "raise ValueError('no order today')")
    words = ("replay", "lcg-2005", "--jobs", "100", "--cpus", "170", "--json", "--policy", "boom")
    note = orjson.loads(call(*words))["policy_note"]
    assert note == "The policy boom failed, the built-in order counts: ValueError: no order today."


def test_a_replay_that_is_ended_from_outside_leaves_at_once() -> None:
    child = subprocess.Popen([*COMMAND, "replay", "lcg-2005", "--json", "--progress"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert b"progress" in child.stdout.readline()
    child.terminate()
    assert child.wait(20) == -signal.SIGTERM
    child.stdout.close()
