"""`crossdesk job tag`, and tags in lists, queries and status, typed against a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk

pytestmark = pytest.mark.usefixtures("broker")


@pytest.fixture
def jobs(tmp_path: Path) -> list[str]:
    """Two jobs that ended, the first with a tag of its description."""
    ids = []
    for name, more in (("scan", 'UserTags = [ study = "A-17" ];'), ("other", "")):
        jdl = tmp_path / f"{name}.jdl"
        jdl.write_text(f'Executable = "/bin/true"; JobName = "{name}"; {more}')
        said = crossdesk("job", "submit", "--wait", str(jdl))
        ids.append(said.out.split()[0] if said.out else said.err)
    return ids


def test_jobs_are_tagged_by_id_and_by_query_and_found_by_their_tags(jobs: list[str]) -> None:
    assert crossdesk("job", "list", "tag:study:a-17", "--json").json["jobs"][0]["id"] == jobs[0]
    said = crossdesk("job", "tag", jobs[0][:6], "name:other", "--add", "Calib", "--note", "look\nagain")
    assert (said.code, said.out.split()) == (0, jobs)
    assert "Changed: 2 jobs." in said.err
    found = crossdesk("job", "list", "tag:cal*", "note:AGAIN", "--json").json["jobs"]
    assert [(row["id"], row["tags"], row["note"]) for row in found] == [
        (jobs[1], "Calib", "look\nagain"),
        (jobs[0], "study:A-17 Calib", "look\nagain"),
    ]
    assert crossdesk("job", "tag", "-name:scan", "--remove", "calib", "--note", "").code == 0
    assert crossdesk("job", "list", "-tag:*", "--json").json["jobs"][0]["id"] == jobs[1]
    shown = crossdesk("job", "list", "--all").out
    assert "TAGS" in shown
    assert "study:A-17" in shown
    status = crossdesk("job", "status", jobs[0]).out
    assert "Calib, study:A-17" in status or "study:A-17, Calib" in status
    assert "look\\nagain" in status or "look" in status


def test_what_can_be_no_tag_names_no_job_or_changes_nothing_is_told_with_the_remedy(jobs: list[str]) -> None:
    said = crossdesk("job", "tag", jobs[0], "--add", "two words")
    assert said.code != 0
    assert "letters, digits" in said.err
    said = crossdesk("job", "tag", jobs[0])
    assert "--add TAG" in said.err
    said = crossdesk("job", "tag", "name:nobody", "--add", "x")
    assert "No job is such." in said.err
    said = crossdesk("job", "label", jobs[0], "--add", "x")
    assert "crossdesk job tag" in said.err
    assert crossdesk("job", "list", "tag:").code != 0
