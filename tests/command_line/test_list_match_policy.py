"""A policy of the user that fails: `crossdesk job list-match` says that the built-in order counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.running import RunningBroker

EIGHT = Path(__file__).parents[1] / "matching_sets" / "eight_ces.toml"
BODIES = {
    "boom": ("raise ValueError('no order today')", "ValueError: no order today"),
    "wild": ("return [99]", "it named choice 99, but there are only 8"),
}


@pytest.fixture
def jdl(tmp_path: Path) -> Path:
    path = tmp_path / "job.jdl"
    path.write_text('Executable = "/bin/true";')
    return path


@pytest.fixture(autouse=True)
def policies(isolated: Path) -> Path:
    """The user's folder of policies, with one that does not load and some that fail."""
    folder = isolated / "home/.config/crossdesk/policies"
    folder.mkdir(parents=True)
    (folder / "broken.py").write_text("def order(")
    for name, (body, _) in BODIES.items():
        (folder / f"{name}.py").write_text(f"def order(choices, request):\n    {body}\n")
    return folder


@pytest.mark.parametrize("name", BODIES)
def test_a_policy_that_fails_is_told_of(jdl: Path, name: str) -> None:
    words = ("job", "list-match", str(jdl), "-r", str(EIGHT))
    note = f"The policy {name} failed, the built-in order counts: {BODIES[name][1]}."
    said = crossdesk(*words, "--policy", name)
    assert said.code == 0
    assert " ".join(said.err.split()).count(note) == 1
    assert said.out == crossdesk(*words).out
    assert crossdesk(*words, "--policy", name, "--json").json["notes"] == note


def test_a_policy_that_does_not_load_is_told_of_where_it_is_asked_for(jdl: Path) -> None:
    words = ("job", "list-match", str(jdl), "-r", str(EIGHT))
    assert "broken" not in crossdesk(*words).err
    said = crossdesk(*words, "--policy", "broken")
    assert said.code == 1
    assert "SyntaxError" in said.err


def test_a_broker_tells_of_a_policy_that_fails_and_lists_it_so_while_it_is_in_force(
    jdl: Path, state_dir: Path
) -> None:
    broker = RunningBroker(state_dir)
    try:
        broker.start()
        asked = crossdesk("job", "list-match", str(jdl), "--policy", "boom", "--json").json
        assert asked["notes"].startswith("The policy boom failed")
        assert crossdesk("policy", "choose", "--order", "boom").code == 0
        assert crossdesk("job", "submit", str(jdl), "--wait").code == 0
        (view,) = (
            one
            for one in crossdesk("policy", "list", "--json").json["policies"]
            if one["chosen"] and one["kind"] == "order"
        )
        assert view["error"] == "it failed last time, the built-in order counted: ValueError: no order today"
        assert "failed last time" in " ".join(crossdesk("policy", "list").out.split())
    finally:
        broker.close()
