"""Which policies are in force: settings, the choice of before, and files of the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.broker.matchmaking.policy_choice import ActivePolicies
from broker_core.broker.matchmaking.policy_plugins import PolicyPlugins, user_folder
from broker_core.errors import BadRequest, StorageFull
from broker_core.wire.queue import PolicyChoice

REVERSED = '''
def order(choices, request):
    """Those listed last first."""
    return range(len(choices) - 1, -1, -1)
'''


def chooser(
    path: Path, order: str = "best-fit", queue: str = "fcfs", mode: str = "embedded"
) -> ActivePolicies:
    return ActivePolicies(path / "policies.json", PolicyPlugins(mode), order, queue)


def test_an_unknown_policy_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    for wrong in ({"order": "coin"}, {"queue": "coin"}):
        with pytest.raises(BadRequest) as refused:
            chooser(tmp_path, **wrong)
        assert "Use " in refused.value.remedy
    assert chooser(tmp_path, order="worst-fit").order == "worst-fit"


def test_the_choice_is_kept_and_wins_over_the_settings(tmp_path: Path) -> None:
    chooser(tmp_path).choose(PolicyChoice(order="first-fit", queue="bounded-backfill"))
    again = chooser(tmp_path, order="worst-fit")
    assert (again.order, again.queue) == ("first-fit", "bounded-backfill")
    again.choose(PolicyChoice(queue="fcfs"))
    assert chooser(tmp_path).order == "first-fit"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"order": 3}', '{"order": "gone", "queue": "fcfs"}'])
@pytest.mark.expected_log("The choice of policies is not restored")
def test_a_choice_that_cannot_be_restored_leaves_the_settings_in_force(tmp_path: Path, content: str) -> None:
    (tmp_path / "policies.json").write_text(content)
    assert chooser(tmp_path, order="worst-fit").order == "worst-fit"


def test_a_file_of_the_user_is_found_chosen_and_told_why_it_does_not_load(tmp_path: Path) -> None:
    known = chooser(tmp_path)
    folder = user_folder()
    folder.mkdir(parents=True)
    (folder / "reversed.py").write_text(REVERSED)
    (folder / "broken.py").write_text("order = 3")
    views = {one.name: one for one in known.views()}
    assert views["reversed"].doc == "Those listed last first."
    assert views["reversed"].origin == os.fspath(folder / "reversed.py")
    assert views["broken"].error
    known.choose(PolicyChoice(order="reversed"))
    assert chooser(tmp_path).order == "reversed"
    with pytest.raises(BadRequest):
        known.choose(PolicyChoice(order="broken"))
    assert known.order == "reversed"


def test_a_choice_that_cannot_be_kept_is_not_put_in_force(tmp_path: Path) -> None:
    known = ActivePolicies(tmp_path / "gone" / "policies.json", PolicyPlugins("embedded"), "best-fit", "fcfs")
    with pytest.raises(StorageFull):
        known.choose(PolicyChoice(order="worst-fit"))
    assert known.order == "best-fit"


def test_files_of_users_count_for_nothing_on_a_shared_broker(tmp_path: Path) -> None:
    user_folder().mkdir(parents=True)
    (user_folder() / "reversed.py").write_text(REVERSED)
    with pytest.raises(BadRequest):
        chooser(tmp_path, mode="shared").choose(PolicyChoice(order="reversed"))


def test_a_policy_in_force_changes_only_when_it_is_chosen_again(tmp_path: Path) -> None:
    folder = user_folder()
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text(REVERSED)
    known = chooser(tmp_path)
    known.choose(PolicyChoice(order="mine"))
    before = known.policy()
    (folder / "mine.py").write_text(REVERSED.replace("listed last", "that come last"))
    assert {one.name: one.doc for one in known.views()}["mine"] == "Those that come last first."
    assert known.policy() is before
    known.choose(PolicyChoice(order="mine"))
    assert known.policy().__doc__ == "Those that come last first."


def test_a_policy_in_force_that_failed_last_time_says_so_and_another_one_does_not(tmp_path: Path) -> None:
    known = chooser(tmp_path, order="worst-fit")
    told = {one.name: one.error for one in known.views("ValueError: not today") if one.error}
    assert told == {"worst-fit": "it failed last time, the built-in order counted: ValueError: not today"}
    assert not any(one.error for one in known.views())


@pytest.mark.expected_log("The policy mine does not load")
def test_a_policy_of_the_settings_that_does_not_load_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    user_folder().mkdir(parents=True)
    (user_folder() / "mine.py").write_text("order = 3")
    chooser(tmp_path)
    assert not caplog.records
    chooser(tmp_path, order="mine")
    (told,) = caplog.messages
    assert told.startswith("The policy mine does not load, the built-in order counts: TypeError")
