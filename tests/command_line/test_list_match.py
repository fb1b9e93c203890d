"""`crossdesk job list-match`, with and without a broker (CB-CMD-03, CB-CMD-06)."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.matching.sets.trace import read
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.waiting import wait_until

EIGHT = Path(__file__).parents[1] / "matching_sets" / "eight_ces.toml"
NEURAL_NET = """
JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 10; Executable = "/bin/true";
Rank = other.GlueHostBenchmarkSI00;
"""
PRINTED = """\
Groups with 1 CE                 TOTAL CPUS   FREE CPUS
  rank 650
    ce001.grid.ucy.ac.cy:2119            10          10
  rank 630
    cluster.ui.sav.sk:2119               16          16
  rank 400
    zeus24.cyf-kr.edu.pl:2119            58          57
Groups with 2 CEs                TOTAL CPUS   FREE CPUS
  rank 440                               12          12
    cagnode45.cs.tcd.ie:2119              4           4
    ce100.fzk.de:2119                     8           8
  rank 498                               10          10
    ce01.lip.pt:2119                      2           2
    ce100.fzk.de:2119                     8           8
Groups with 4 CEs                TOTAL CPUS   FREE CPUS
  rank 435.6                             10          10
    cagnode45.cs.tcd.ie:2119              4           4
    ce01.lip.pt:2119                      2           2
    cg01.ific.uv.es:2119                  2           2
    cgnode00.di.uoa.gr:2119               2           2
"""


@pytest.fixture
def jdl(tmp_path: Path) -> Path:
    path = tmp_path / "job.jdl"
    path.write_text(NEURAL_NET)
    return path


def test_the_published_listing_is_printed_exactly(jdl: Path, state_dir: Path) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text('set_matching = "listing"')
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(EIGHT))
    assert (said.code, said.out) == (0, PRINTED)
    assert not (state_dir / "store").exists(), "no broker was started"


def test_by_default_every_smallest_set_is_listed_the_best_rank_first(jdl: Path) -> None:
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(EIGHT), "--json").json
    assert [(one["size"], round(one["rank"], 1)) for one in said["groups"]] == [
        (1, 650.0),
        (1, 630.0),
        (1, 400.0),
        (2, 498.0),
        (2, 440.8),
        (2, 440.8),
        (2, 440.0),
        (4, 435.6),
    ]
    assert said["groups_total"] == 8
    assert said["trace"]


def test_resources_that_match_but_are_too_few_together_are_no_choice(jdl: Path) -> None:
    jdl.write_text(NEURAL_NET.replace("10", "1000"))
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(EIGHT))
    assert (said.code, said.out) == (0, "")
    assert "No set of the resources that match has enough free CPUs now." in said.err


def test_the_steps_of_the_search_are_written_where_they_are_wanted(jdl: Path, tmp_path: Path) -> None:
    steps = tmp_path / "steps.log"
    assert crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT), "--trace", str(steps)).code == 0
    read_back = read(steps.read_text().splitlines())
    assert [len(step.ces) for step in read_back if step.kind == "matched"] == [1, 1, 1, 2, 2, 2, 2, 4]
    nowhere = tmp_path / "gone" / "steps.log"
    said = crossdesk("job", "list-match", str(jdl), "-r", str(EIGHT), "--trace", str(nowhere))
    assert (said.code, str(nowhere) in said.err) == (1, True)


def test_fixed_components_are_listed_below_the_element_that_would_have_them(jdl: Path) -> None:
    jdl.write_text(
        'JobType = "Parallel"; SubJobType = "mpich-g2"; Executable = "/bin/true";'
        "Requirements = other.GlueHostBenchmarkSI00 > 600;"
        "SubJobs = { [ NodeNumber = 1 ], [ NodeNumber = 12 ] };"
    )
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(EIGHT))
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    at = lines.index("cluster.ui.sav.sk:2119 16 16")
    assert lines[at + 1 : at + 3] == ["component 1: 1 CPU", "component 2: 12 CPUs"]


def test_a_job_for_one_site_is_listed_as_groups_of_one(jdl: Path) -> None:
    jdl.write_text('Executable = "/bin/true"; Requirements = other.GlueHostBenchmarkSI00 > 600;')
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(EIGHT))
    lines = said.out.splitlines()
    assert lines[0].split() == ["Groups", "with", "1", "CE", "TOTAL", "CPUS", "FREE", "CPUS"]
    assert [line.split() for line in lines[1:] if "rank" not in line] == [
        ["ce01.lip.pt:2119", "2", "2"],
        ["ce001.grid.ucy.ac.cy:2119", "10", "10"],
        ["cluster.ui.sav.sk:2119", "16", "16"],
    ]
    assert "5 other resources do not match; --explain tells why." in said.err


def test_explain_tells_the_value_of_every_clause_at_every_other_resource(jdl: Path) -> None:
    jdl.write_text(
        'Executable = "/bin/true"; Requirements = other.GlueHostBenchmarkSI00 > 600'
        " && other.GlueCEInfoTotalCPUs < 16;"
    )
    said = crossdesk("job", "list-match", str(jdl), "--explain", "--resources", str(EIGHT))
    assert "           3  other.GlueHostBenchmarkSI00 > 600" in said.out.splitlines()
    place = said.out.index("\ncluster.ui.sav.sk:2119: ")
    told = said.out[place:].split("\n\n")[0]
    assert "GlueCEInfoTotalCPUs is 16" in told.splitlines()[1]
    values = {line.split(None, 1)[1].split("  ")[0]: line.split()[0] for line in told.splitlines()[2:]}
    assert values["other.GlueHostBenchmarkSI00 > 600"] == "true"
    assert values["other.GlueCEInfoTotalCPUs < 16"] == "false"
    assert said.out.count(".ucy.ac.cy:2119: ") == 0, "what matches needs no reason"


def test_a_policy_of_the_user_orders_the_listing(jdl: Path, isolated: Path) -> None:
    folder = isolated / "home/.config/crossdesk/policies"
    folder.mkdir(parents=True)
    (folder / "names.py").write_text(
        "def order(choices, request):\n"
        "    return sorted(range(len(choices)), key=lambda at: choices.ces[at])[:2]\n"
    )
    jdl.write_text('Executable = "/bin/true";')
    said = crossdesk("job", "list-match", str(jdl), "--policy", "names", "-r", str(EIGHT), "--json").json
    assert said["policy"] == "names"
    assert [one["ce"] for one in said["resources"] if one["matches"]] == [
        "cagnode45.cs.tcd.ie:2119",
        "ce001.grid.ucy.ac.cy:2119",
    ]
    assert "the policy names leaves it out" in {one["reason"] for one in said["resources"]}
    refused = crossdesk("job", "list-match", str(jdl), "--policy", "none", "-r", str(EIGHT))
    assert refused.code == 1
    assert "best-fit, worst-fit, first-fit, names" in refused.err


def test_thousands_of_resources_are_listed_page_by_page(jdl: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.toml"
    count = 4_500
    many.write_text(
        "".join(
            f'[[resources]]\nce = "ce{place:05}.example.org:2119"\nGlueCEInfoTotalCPUs = {place % 7}\n'
            f"GlueCEStateFreeCPUs = {place % 7}\n"
            for place in range(count)
        )
    )
    jdl.write_text('Executable = "/bin/true"; Requirements = other.GlueCEStateFreeCPUs >= 3;')
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(many), "--json").json
    assert len({one["ce"] for one in said["resources"]}) == said["known"] == count
    assert sum(one["matches"] for one in said["resources"]) == said["matching"]
    printed = crossdesk("job", "list-match", str(jdl), "--resources", str(many)).out
    assert printed.count("example.org:2119") == said["matching"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gone.toml", None, "cannot be read: no such file"),
        ("list.csv", "a,b", "format of the file of resources is not known"),
        ("bad.toml", "[[", "cannot be read"),
        ("empty.toml", "", "names no resources"),
    ],
)
def test_a_file_that_is_of_no_use_is_refused_with_its_name(
    jdl: Path, tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(path))
    assert said.code == 1
    assert message in said.err
    assert name in said.err


def test_ldif_is_read_too_and_no_resource_is_no_error(jdl: Path, tmp_path: Path) -> None:
    path = tmp_path / "site.ldif"
    path.write_text(
        "dn: GlueCEUniqueID=ce.example.org:2119/jobmanager-pbs-long,mds-vo-name=resource,o=grid\n"
        "objectClass: GlueCE\nGlueCEUniqueID: ce.example.org:2119/jobmanager-pbs-long\n"
        "GlueCEInfoTotalCPUs: 4\nGlueCEStateFreeCPUs: 3\nGlueCEStateStatus: Production\n\n"
    )
    jdl.write_text('Executable = "/bin/true";')
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(path))
    assert said.out.splitlines()[-1].split() == ["ce.example.org:2119/jobmanager-pbs-long", "4", "3"]
    jdl.write_text('Executable = "/bin/true"; Requirements = false;')
    said = crossdesk("job", "list-match", str(jdl), "--resources", str(path))
    assert (said.code, said.out) == (0, "")
    assert "No resource matches now." in said.err


def test_a_broker_that_hears_of_the_same_sites_answers_the_same(
    jdl: Path, state_dir: Path, isolated: Path
) -> None:
    folder = isolated / "home/.config/crossdesk/policies"
    folder.mkdir(parents=True)
    (folder / "widest.py").write_text(
        "def order(choices, request):\n"
        '    "Most sites first."\n'
        "    return sorted(range(len(choices)), key=lambda at: -choices.sizes[at])\n"
    )
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text(
        f'set_matching = "listing"\n[[sources]]\nname = "eight"\nkind = "file"\naddress = "{EIGHT}"\n'
    )
    words = ("job", "list-match", str(jdl), "--assume-access")
    broker = RunningBroker(state_dir)
    try:
        broker.start()
        assert wait_until(lambda: crossdesk(*words).out) == PRINTED
        assert crossdesk("policy", "choose", "--order", "widest").code == 0
        sizes = [one["size"] for one in crossdesk(*words, "--json").json["groups"]]
        assert sizes == [4, 2, 2, 1, 1, 1]
    finally:
        broker.close()
