"""Policies of the user and of installed packages (CB-SCH-03)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from broker_core.broker.matchmaking.policy_plugins import PolicyPlugins, user_folder
from broker_core.errors import BadRequest
from broker_core.policies.built_in import POLICIES, best_fit
from broker_core.policies.policy import Choices, Request

BACKWARDS = '''
def order(choices, request):
    """The last one first."""
    return range(len(choices))[::-1]
'''


@pytest.fixture
def folder(isolated: Path) -> Path:
    """The user's folder of policies."""
    found = user_folder()
    assert found.is_relative_to(isolated)
    found.mkdir(parents=True)
    return found


def test_the_built_in_policies_are_there_with_what_they_do() -> None:
    known = PolicyPlugins("embedded").look()
    assert list(known) == list(POLICIES)
    assert all(one.doc and not one.error and one.origin == "built-in" for one in known.values())


def test_a_file_in_the_folder_is_a_policy_by_its_name(folder: Path) -> None:
    (folder / "backwards.py").write_text(BACKWARDS)
    plugins = PolicyPlugins("embedded")
    found = plugins.look()["backwards"]
    assert (found.origin, found.doc) == (str(folder / "backwards.py"), "The last one first.")
    assert plugins.usable() == [*POLICIES, "backwards"]


def test_a_file_that_comes_changes_or_goes_is_noticed(folder: Path) -> None:
    plugins = PolicyPlugins("embedded")
    path = folder / "mine.py"
    path.write_text(BACKWARDS)
    assert plugins.look()["mine"].doc == "The last one first."
    path.write_text(BACKWARDS.replace("last", "very last"))
    assert plugins.look()["mine"].doc == "The very last one first."
    path.unlink()
    assert "mine" not in plugins.look()
    assert plugins.policy("mine") is best_fit


def test_an_unchanged_file_is_not_run_again(folder: Path) -> None:
    count = folder / "count"
    counting = f"from pathlib import Path\nPath({str(count)!r}).open('x').close()\n"
    (folder / "mine.py").write_text(counting + BACKWARDS)
    plugins = PolicyPlugins("embedded")
    assert count.exists()
    assert plugins.look()["mine"].error == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def order(", "SyntaxError"),
        ("raise RuntimeError('not today')", "RuntimeError: not today"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def sort(choices, request): ...", "it has no function order"),
        ("order = 7", "TypeError"),
        ("def order(choices): ...", "TypeError"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
    ],
)
def test_a_file_that_does_not_load_is_listed_with_its_error(folder: Path, text: str, why: str) -> None:
    (folder / "mine.py").write_text(text)
    plugins = PolicyPlugins("embedded")
    assert why in plugins.look()["mine"].error
    assert plugins.policy("mine") is best_fit
    assert "mine" not in plugins.usable()
    with pytest.raises(BadRequest, match=why):
        plugins.named("mine")


def test_a_policy_that_nobody_asks_for_is_not_complained_about(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "mine.py").write_text("order = 7")
    plugins = PolicyPlugins("embedded")
    assert plugins.named("first-fit") is plugins.policy("first-fit")
    with pytest.raises(BadRequest, match="no policy of this name") as refused:
        plugins.named("yours")
    assert refused.value.remedy == "Use " + ", ".join(POLICIES) + "."
    assert not caplog.records


def test_a_file_that_cannot_be_read_is_listed_with_its_error(folder: Path) -> None:
    (folder / "mine.py").symlink_to(folder / "nowhere.py")
    assert "FileNotFoundError" in PolicyPlugins("embedded").look()["mine"].error


def test_a_name_that_is_taken_stays_with_who_had_it(folder: Path) -> None:
    (folder / "best-fit.py").write_text(BACKWARDS)
    plugins = PolicyPlugins("embedded")
    assert plugins.policy("best-fit") is best_fit
    (other,) = (one for one in plugins.look().values() if one.origin != "built-in")
    assert other.error == "there is a policy best-fit already (built-in)"


def test_a_shared_broker_knows_only_installed_policies(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.py").write_text(BACKWARDS)
    _install(tmp_path, monkeypatch)
    shared = PolicyPlugins("shared")
    assert shared.usable() == [*POLICIES, "polite"]
    assert shared.look()["polite"].origin == "installed"
    assert list(shared.policy("polite")(_nothing(), Request(1))) == []
    assert PolicyPlugins("embedded").usable() == [*POLICIES, "polite", "mine"]


def test_an_installed_policy_that_does_not_load_is_listed_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, monkeypatch, "no_such_function")
    assert "AttributeError" in PolicyPlugins("shared").look()["polite"].error


def _install(place: Path, monkeypatch: pytest.MonkeyPatch, function: str = "order") -> None:
    """A package with an entry point, as an installer leaves it."""
    name = f"polite_policy_{os.urandom(4).hex()}"
    (place / f"{name}.py").write_text(BACKWARDS)
    metadata = place / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[crossdesk.policies]\npolite = {name}:{function}\n")
    monkeypatch.setattr(sys, "path", [str(place), *sys.path])


def _nothing() -> Choices:
    from broker_core.matching.match import match
    from broker_core.policies.policy import single
    from tests.matching.made import job

    return single(match(job(), []).candidates)
