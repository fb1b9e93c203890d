"""`crossdesk site` and `replica` against a real broker, without any other site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk

pytestmark = pytest.mark.usefixtures("broker")


def test_this_machine_is_drained_resumed_tested_and_shown() -> None:
    assert crossdesk("site", "drain", "local", "--json").json["site"]["spec"]["drained"] is True
    assert "drained" in crossdesk("site", "list").out
    assert crossdesk("site", "resume", "local").code == 0
    tested = crossdesk("site", "test", "local")
    assert (tested.code, "files ok" in tested.out) == (0, True)
    shown = crossdesk("site", "show", "local")
    assert ("This machine" in shown.out, "1 ended well" in shown.out) == (True, True)
    assert crossdesk("site", "show", "local", "--json").json["about"]["done"] == 1
    assert "connected" in crossdesk("site", "log", "local").out
    assert crossdesk("site", "remove", "local").code == 1


def test_what_makes_no_sense_is_refused_in_words() -> None:
    assert crossdesk("site", "add", "x", "--kind", "abacus").code == 1
    assert crossdesk("site", "add", "x", "--env", "nonsense").code == 1
    no_url = crossdesk("site", "add", "https://[")
    assert (no_url.code, "url: " in no_url.err, "Traceback" in no_url.err) == (1, True, False)
    assert "Name at least one" in crossdesk("site", "change", "local").err
    missing = crossdesk("site", "drain", "nowhere", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "not_found")


def test_jobs_for_a_site_that_nobody_knows_are_told_of(tmp_path: Path) -> None:
    path = tmp_path / "job.jdl"
    path.write_text('Executable = "/bin/true";')
    assert "No site is called lokal" in crossdesk("job", "submit", str(path), "--site", "lokal").err
    for name in ("local", "localhost:2119/jobmanager-fork-local"):
        assert "No site" not in crossdesk("job", "submit", str(path), "--site", name).err


def test_a_job_that_is_at_no_site_cannot_be_run_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "job.jdl"
    path.write_text('Executable = "/bin/true";')
    job = crossdesk("job", "submit", str(path), "--hold", "later").out.strip()
    said = crossdesk("job", "rematch", job)
    assert (said.code, "at no site" in said.err) == (1, True)


def test_where_files_are_is_told_listed_and_forgotten() -> None:
    assert crossdesk("replica", "add", "lfn:/data/a", "srm://se.example.org/a").code == 0
    assert crossdesk("replica", "add", "lfn:/data/b", "se.example.org", "--json").json["addresses"] == [
        "se.example.org"
    ]
    listed = crossdesk("replica", "list", "lfn:/data", "--json").json
    assert [one["name"] for one in listed["files"]] == ["lfn:/data/a", "lfn:/data/b"]
    assert crossdesk("replica", "list", "--limit", "1", "--json").json["more"] is True
    assert crossdesk("replica", "remove", "lfn:/data/a").code == 0
    again = crossdesk("replica", "remove", "lfn:/data/a", "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "not_found")
    assert crossdesk("replica", "add", "http://no.name", "se").code == 1


def test_the_id_of_a_batch_stands_for_its_jobs(tmp_path: Path) -> None:
    path = tmp_path / "job.jdl"
    path.write_text('Executable = "/bin/sleep"; Arguments = "_PARAM_";')
    words = ("job", "submit", str(path), "--value", "600", "--value", "601", "--hold", "later", "--json")
    receipt = crossdesk(*words).json
    told = crossdesk("job", "status", receipt["batch"], "--json").json["jobs"]
    assert [one["id"] for one in told] == receipt["ids"]
    assert crossdesk("job", "cancel", receipt["batch"], "--json").json["results"] == dict.fromkeys(
        receipt["ids"]
    )
    unknown = crossdesk("job", "cancel", "x" * 22)
    assert (unknown.code, "no such job" in unknown.err) == (1, True)


def test_the_settings_tell_which_policy_was_chosen_instead() -> None:
    assert "in force" not in crossdesk("config").err
    assert crossdesk("policy", "choose", "--order", "worst-fit").code == 0
    rows = {one["name"]: one for one in crossdesk("config", "--json").json["settings"]}
    assert (rows["policy"]["value"], rows["policy"]["in_force"]) == ("best-fit", "worst-fit")
    assert "in_force" not in rows["queue_policy"]
    assert "worst-fit is in force" in crossdesk("config").err


def test_a_catalogue_that_cannot_be_asked_is_said_not_to_be(tmp_path: Path) -> None:
    path = tmp_path / "job.jdl"
    path.write_text('Executable = "/bin/true"; InputData = {"lfn:/a"}; ReplicaCatalog = "rls://rc";')
    said = crossdesk("jdl", "check", str(path), "--json").json
    assert "catalogue-not-asked" in str(said)
