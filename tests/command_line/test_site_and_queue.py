"""`crossdesk site`, `queue` and `policy` against a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk

pytestmark = pytest.mark.usefixtures("broker")


def test_sites_and_every_known_resource_are_listed() -> None:
    said = crossdesk("site", "list")
    assert (said.code, "local" in said.out) == (0, True)
    [row] = crossdesk("site", "list", "--all", "--json").json["resources"]
    assert (row["site"], row["access"]) == ("local", True)
    table = crossdesk("site", "list", "--all").out
    assert "COMMITTED" in table
    assert row["ce"] in table


def test_a_site_is_shown_with_each_attribute_and_where_it_is_from() -> None:
    said = crossdesk("site", "show", "local")
    assert said.code == 0
    assert "GlueHostOperatingSystemName" in said.out
    shown = crossdesk("site", "show", "local", "--json").json
    assert {one["source"] for one in shown["attributes"]} == {"local"}
    missing = crossdesk("site", "show", "nowhere")
    assert (missing.code, "site list --all" in missing.err) == (1, True)


def test_sources_are_asked_at_once_and_tell_how_it_went() -> None:
    said = crossdesk("site", "refresh", "--json")
    assert said.code == 0
    assert [one["state"] for one in said.json["sources"]] == ["ok"]
    assert "RESOURCES" in crossdesk("site", "refresh", "local").out


def test_the_queue_tells_why_each_job_waits(tmp_path: Path) -> None:
    description = tmp_path / "never.jdl"
    description.write_text('Executable = "/bin/true"; Requirements = false;')
    job = crossdesk("job", "submit", str(description), "--json").json["ids"][0]
    [row] = crossdesk("queue", "--json").json["jobs"]
    assert (row["id"], row["state"]) == (job, "parked")
    said = crossdesk("queue")
    assert job in said.out
    assert "fcfs" in said.err


def test_without_glideins_the_slots_say_how_they_are_turned_on() -> None:
    said = crossdesk("slots")
    assert (said.code, said.out) == (0, "")
    assert 'glideins = ["mycluster"]' in said.err.replace("\n", " ")
    assert crossdesk("slots", "--json").json["glideins"] == []


def test_policies_are_listed_and_chosen() -> None:
    assert crossdesk("policy", "choose").code == 2
    assert crossdesk("policy", "choose", "--order", "worst-fit").code == 0
    listed = crossdesk("policy", "list", "--json").json["policies"]
    assert [one["name"] for one in listed if one["chosen"] and one["kind"] == "order"] == ["worst-fit"]
    assert "worst-fit" in crossdesk("policy", "list").out
    assert crossdesk("policy", "choose", "--order", "coin").code == 1
