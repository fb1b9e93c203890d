"""Where grids disagree: CrossBroker's rules by default, gLite's or CREAM's for brokers set to them."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import Checked, check
from broker_core.jdl.limits import Limits
from broker_core.jdl.syntax.write import expression

PROGRAM = 'Executable = "/bin/true";'
ELEMENT = 'SubmitTo = "ce01.example.org:2119/cream-pbs-long";'


def read(text: str, dialect: str) -> Checked:
    return check(text, limits=Limits(dialect=dialect))


def term(text: str, dialect: str, name: str = "Requirements") -> str:
    checked = read(text, dialect)
    assert checked.description is not None, checked.errors
    node = checked.description.ad.get(name)
    return expression(node) if node is not None else ""


REFUSED_BY_GLITE = {
    'InputData = "lfn:/a";': "protocol-missing",
    'InputData = "a"; DataAccessProtocol = "gsiftp";': "input-data-form",
    'StdOutput = "a/x"; StdError = "b/x";': "stream-names-clash",
    'Arguments = "`date`";': "back-quote",
    'SubmitTo = "somewhere";': "submit-to-form",
    'Prologue = "setup.sh";': "executable-path",
}


@pytest.mark.parametrize("text", REFUSED_BY_GLITE)
def test_glite_demands_more(text: str) -> None:
    assert read(PROGRAM + text, "crossdesk").description is not None
    found = read(PROGRAM + text, "glite")
    assert found.description is None
    assert REFUSED_BY_GLITE[text] in {item.code for item in found.errors}


def test_the_defaults_of_requirements_and_rank_are_those_of_the_dialect() -> None:
    assert (term(PROGRAM, "crossdesk"), term(PROGRAM, "crossdesk", "Rank")) == ("", "")
    assert term(PROGRAM, "glite") == 'other.GlueCEStateStatus == "Production"'
    assert term(PROGRAM, "glite", "Rank") == "-other.GlueCEStateEstimatedResponseTime"
    parallel = PROGRAM + 'JobType = "MPICH"; NodeNumber = 4;'
    assert term(parallel, "glite", "Rank") == "other.GlueCEStateFreeCPUs"
    assert term(PROGRAM + "Rank = 7;", "glite", "Rank") == "7"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CpuNumber = 8; SMPGranularity = 4;", "other.GlueHostArchitectureSMPSize >= 4"),
        ("CpuNumber = 8; HostNumber = 3;", "other.GlueHostArchitectureSMPSize >= 3"),
        ("CpuNumber = 8; HostNumber = 3; WholeNodes = true;", ""),
        ("Requirements = a || b; SMPGranularity = 2;", "(a || b) && other.GlueHostArchitectureSMPSize >= 2"),
        ("CpuNumber = 4;", ""),
        ("Interactive = true;", ""),
    ],
)
def test_hosts_with_enough_cores_are_required_everywhere(text: str, wanted: str) -> None:
    assert term(PROGRAM + text, "crossdesk") == wanted


def test_glite_adds_terms_for_interactive_and_short_jobs() -> None:
    text = PROGRAM + 'Requirements = true; JobType = "Interactive"; ShortDeadlineJob = true;'
    assert term(text, "glite") == (
        'true && other.GlueHostNetworkAdapterOutboundIP =!= false && RegExp(".*sdj$", other.GlueCEUniqueID)'
    )


def test_a_term_is_not_added_for_a_job_over_several_sites() -> None:
    text = PROGRAM + 'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 8; SMPGranularity = 4;'
    assert term(text, "crossdesk") == ""


def test_glites_job_types_are_mapped_with_a_warning() -> None:
    for name, kind in (("MPICH", "mpich"), ("mpich-g2", "mpich-g2")):
        checked = check(PROGRAM + f'JobType = "{name}"; NodeNumber = 2;')
        assert checked.description is not None
        assert (checked.description.structure, checked.description.sub_job_type) == ("Parallel", kind)
        assert [item.code for item in checked.diagnostics] == ["job-type-mapped"]


def test_the_earlier_name_of_the_cpus_is_understood() -> None:
    job = check(PROGRAM + 'JobType = "mpich"; MinNumCPU = 6;').description
    assert job is not None
    assert job.cpus == 6
    assert check(PROGRAM + "MinNumCPU = 6; NodeNumber = 5;").errors


CREAM = PROGRAM + ELEMENT


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (PROGRAM, "cream-needs"),
        (CREAM + 'OutputSandbox = "x";', "cream-needs"),
        (CREAM + "PerusalFileEnable = true;", "cream-needs"),
        (CREAM + 'JobType = "MPICH"; NodeNumber = 2;', "cream-one-job"),
        ('Type = "Collection"; Nodes = {[Executable = "/x"]};', "cream-one-job"),
    ],
)
def test_cream_takes_single_jobs_that_say_where_their_files_go(text: str, code: str) -> None:
    assert code in {item.code for item in read(text, "cream").errors}


def test_cream_looks_at_its_own_requirements_only() -> None:
    text = CREAM + "Requirements = false; Rank = 3; CERequirements = other.GlueCEPolicyMaxCPUTime > 60;"
    checked = read(text, "cream")
    assert {item.code for item in checked.diagnostics} == {"cream-ignores"}
    assert term(text, "cream") == "other.GlueCEPolicyMaxCPUTime > 60"
    assert term(text, "cream", "Rank") == ""
    full = PROGRAM + 'BatchSystem = "pbs"; QueueName = "long"; OutputSandbox = "x"; '
    assert read(full + 'OutputSandboxBaseDestURI = "gsiftp://localhost";', "cream").description is not None


def test_equal_stream_names_in_two_folders_are_no_clash_here() -> None:
    assert check(PROGRAM + 'StdOutput = "a/x"; StdError = "b/x";').diagnostics == ()


def test_files_below_an_address_are_fetched_from_there() -> None:
    job = check(PROGRAM + 'InputSandboxBaseURI = "gsiftp://h/in/"; InputSandbox = {"a", "/b"};').description
    assert job is not None
    assert job.input_sandbox == ("gsiftp://h/in/a", "/b")
    assert job.needs == ("transfer:gsiftp",)
