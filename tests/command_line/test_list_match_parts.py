"""`crossdesk job list-match` of descriptions that stand for many jobs: the answer is about the jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.waiting import wait_until

EIGHT = Path(__file__).parents[1] / "matching_sets" / "eight_ces.toml"
SWEEP = """
[ JobType = "Parametric"; Executable = "/bin/echo"; Arguments = "_PARAM_"; Parameters = {1, 15, 30, 15};
  Requirements = other.GlueCEInfoTotalCPUs > _PARAM_; ]
"""
COLLECTION = """
[ Type = "Collection"; Nodes = {
    [ NodeName = "wide"; Executable = "/bin/true"; Requirements = other.GlueCEInfoTotalCPUs > 9999; ],
    [ NodeName = "wider"; Executable = "/bin/false"; Requirements = other.GlueCEInfoTotalCPUs > 9999; ],
    [ NodeName = "small"; Executable = "/bin/true"; Requirements = other.GlueCEInfoTotalCPUs > 15; ]
}; ]
"""
GRAPH = """
[ Type = "dag"; Nodes = [
    a = [ description = [ Executable = "/bin/true"; ]; ];
    b = [ description = [ Executable = "/bin/true"; ]; ];
  ]; Dependencies = {{a, b}}; ]
"""


@pytest.fixture
def jdl(tmp_path: Path) -> Path:
    path = tmp_path / "job.jdl"
    path.write_text(SWEEP)
    return path


def listed(jdl: Path, *more: str) -> tuple[list[list[str]], str, str]:
    """The rows of the table of parts, what is printed below it, and what is said."""
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(EIGHT), *more)
    assert said.code == 0, said.err
    head, _, rest = said.out.partition("\n\n")
    return [line.rsplit(None, 2) for line in head.splitlines()], rest, said.err


def test_each_value_that_matching_reads_is_a_part(jdl: Path) -> None:
    table, rest, said = listed(jdl)
    assert table[0] == ["PART", "JOBS", "MATCHING"]
    assert [row[:2] for row in table[1:]] == [["value 1", "1"], ["value 15", "2"], ["value 30", "1"]]
    assert [row[2] for row in table[1:]] == ["8", "2", "1"]
    assert rest.count(":2119") == 8
    assert "For value 1, the first of 3 parts: " in said


@pytest.mark.parametrize("name", ["value 30", "30"])
def test_a_part_is_chosen_by_its_name(jdl: Path, name: str) -> None:
    _, rest, said = listed(jdl, "--part", name)
    assert rest.count(":2119") == 1
    assert "For value 30, part 3 of 3: " in said
    refused = crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT), "--part", "7")
    assert refused.code == 1
    assert "value 1, value 15, value 30" in refused.err


def test_nodes_of_a_collection_are_matched_and_not_the_whole(jdl: Path) -> None:
    jdl.write_text(COLLECTION)
    table, rest, said = listed(jdl)
    assert table[1:] == [["wide", "2", "0"], ["small", "1", "2"]]
    assert rest == ""
    assert "No resource matches now." in said
    assert listed(jdl, "--part", "small")[1].count(":2119") == 2
    assert "For wide, the first of 2 parts" in listed(jdl, "--part", "wider")[2]


def test_each_node_of_a_graph_is_a_part(jdl: Path) -> None:
    jdl.write_text(GRAPH)
    assert listed(jdl)[0][1:] == [["a", "1", "8"], ["b", "1", "8"]]


def test_a_sweep_whose_jobs_are_alike_needs_no_table(jdl: Path) -> None:
    jdl.write_text(
        'JobType = "Parametric"; Executable = "/bin/echo"; Arguments = "_PARAM_"; Parameters = 300;'
    )
    said = crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT))
    assert "PART" not in said.out
    assert said.out.count(":2119") == 8
    found = crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT), "--json").json
    assert found["parts"] == [{"name": "value 0", "jobs": 300, "matching": 8, "known": 8}]


def test_of_many_parts_the_first_are_listed_and_every_one_can_be_chosen(jdl: Path) -> None:
    jdl.write_text(SWEEP.replace("{1, 15, 30, 15}", "1000"))
    found = crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT), "--json", "--part", "900").json
    assert len(found["parts"]) == 200
    assert found["matching"] == 0
    assert found["analysis"].startswith("For value 900, part 901 of 1,000: ")


def test_missing_files_of_the_sandbox_hinder_nobody_from_asking(jdl: Path) -> None:
    jdl.write_text('Executable = "run.sh"; InputSandbox = {"run.sh", "gone.dat"};')
    said = crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT))
    assert said.code == 0
    assert said.out.count(":2119") == 8
    assert "warning[sandbox-file-missing]" in said.err
    assert "gone.dat" in said.err
    jdl.write_text('Executable = "run.sh"; InputSandbox = {"run.sh"}; NodeNumber = 7;')
    assert crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT)).code == 1


def test_a_broker_answers_the_same_as_the_file(jdl: Path, state_dir: Path) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text(
        f'[[sources]]\nname = "eight"\nkind = "file"\naddress = "{EIGHT}"\n'
    )
    site = "zeus24.cyf-kr.edu.pl:2119"
    words = ("job", "list-match", str(jdl), "--assume-access", "--site", site, "--json")
    broker = RunningBroker(state_dir)
    try:
        broker.start()
        wait_until(lambda: crossdesk(*words).json["matching"] == 1)
        parts = crossdesk(*words).json["parts"]
        assert [(one["name"], one["jobs"], one["matching"]) for one in parts] == [
            ("value 1", 1, 1),
            ("value 15", 2, 1),
            ("value 30", 1, 1),
        ]
        jdl.write_text(COLLECTION)
        told = crossdesk(*words, "--part", "wider").json
        assert told["matching"] == 0
        assert [one["matching"] for one in told["parts"]] == [0, 1]
        assert {(one["start"], one["end"]) for one in told["clauses"]} == {(0, 0)}
    finally:
        broker.close()
