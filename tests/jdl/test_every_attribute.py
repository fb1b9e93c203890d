"""Every known attribute has an effect or a message, and so has every unknown one (CB-JDL-01)."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace

import pytest

from broker_core.jdl.attributes.known import ATTRIBUTES, NOT_NEEDED, USER_ATTRIBUTES, WITHOUT_EFFECT
from broker_core.jdl.check import Limits, check
from broker_core.jdl.description import JobDescription

_BASE = 'Executable = "/bin/true";'
_WORKFLOW = "broker_core.jdl.checks.workflow"
_EXAMPLES = {
    "Type": 'Type = "Collection"; Nodes = {[Executable = "/bin/true"]};',
    "JobType": 'JobType = "Interactive";',
    "Executable": 'Executable = "/bin/false";',
    "Arguments": 'Arguments = "-x";',
    "StdInput": 'StdInput = "/etc/hosts";',
    "StdOutput": 'StdOutput = "out";',
    "StdError": 'StdError = "err";',
    "InputSandbox": 'InputSandbox = {"a"};',
    "OutputSandbox": 'OutputSandbox = {"a"};',
    "Environment": 'Environment = {"A=1"};',
    "MwVersion": 'MwVersion = "3.1";',
    "NodeNumber": 'JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2;',
    "MinNumCPU": 'JobType = "Parallel"; SubJobType = "plain"; MinNumCPU = 2;',
    "CpuNumber": "CpuNumber = 2;",
    "NumberOfProcessors": "NumberOfProcessors = 2;",
    "SubJobType": 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2;',
    "SubJobs": 'JobType = "Parallel"; SubJobType = "pacx-mpi"; SubJobs = {[NodeNumber = 2;]};',
    "ApplicationLauncher": (
        'JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2; ApplicationLauncher = "l";'
    ),
    "JobStarter": 'JobStarter = "s";',
    "JobStarterArguments": 'JobStarterArguments = "-x";',
    "Interactive": "Interactive = true;",
    "InteractiveAgent": 'InteractiveAgent = "i2glogin";',
    "InteractiveAgentArguments": 'Interactive = true; InteractiveAgentArguments = "-x";',
    "InteractiveX11": "Interactive = true; InteractiveX11 = true;",
    "InteractiveDisplay": 'Interactive = true; InteractiveDisplay = "800x600";',
    "InputData": 'InputData = "lfn:/a";',
    "DataRequirements": 'DataRequirements = {[InputData = "lfn:/a"; DataCatalogType = "DLI"]};',
    "SMPGranularity": "CpuNumber = 4; SMPGranularity = 2;",
    "HostNumber": "CpuNumber = 4; HostNumber = 2;",
    "WholeNodes": "WholeNodes = true;",
    "WholeNode": "WholeNode = true;",
    "InputSandboxBaseURI": 'InputSandbox = "a"; InputSandboxBaseURI = "gsiftp://h/b";',
    "InputSandboxDestFileName": 'InputSandbox = "a"; InputSandboxDestFileName = "b";',
    "OutputSandboxDestURI": 'OutputSandbox = "a"; OutputSandboxDestURI = "gsiftp://h/b";',
    "OutputSandboxBaseDestURI": 'OutputSandbox = "a"; OutputSandboxBaseDestURI = "gsiftp://h/b/";',
    "Prologue": 'Prologue = "/bin/p";',
    "PrologueArguments": 'PrologueArguments = "-x";',
    "Epilogue": 'Epilogue = "/bin/p";',
    "EpilogueArguments": 'EpilogueArguments = "-x";',
    "UserTags": 'UserTags = {"a"};',
    "JobGroup": 'JobGroup = "a";',
    "Site": 'Site = "a";',
    "BannedSites": 'BannedSites = {"a"};',
    "GridCE": 'GridCE = "a";',
    "BatchSystem": 'BatchSystem = "slurm";',
    "Tags": 'Tags = "a";',
    "QueueName": 'QueueName = "q";',
    "CERequirements": "CERequirements = other.GlueHostMainMemoryRAMSize >= 100;",
    "GPUNumber": "GPUNumber = 1;",
    "GPUModel": 'GPUNumber = 1; GPUModel = "a100";',
    "MemoryPerNode": "MemoryPerNode = 100;",
    "MemoryPerCPU": "MemoryPerCPU = 100;",
    "ScratchSize": "ScratchSize = 100;",
    "Account": 'Account = "a";',
    "QOS": 'QOS = "a";',
    "Features": 'Features = "a";',
    "Licenses": 'Licenses = "a";',
    "Reservation": 'Reservation = "a";',
    "NamesOf": 'QueueName = "q"; NamesOf = "slurm";',
    "BatchOptions": 'BatchOptions = [ slurm = {"--nice=5"} ];',
    "IgnoreUnsupported": "IgnoreUnsupported = true;",
    "JobName": 'JobName = "a";',
    "WallTime": "WallTime = 10;",
    "MaxWallTime": "MaxWallTime = 10;",
    "WallTimeLimit": "WallTimeLimit = 10;",
    "Modules": 'Modules = "gcc";',
    "Container": 'Container = "docker://debian:12";',
    "PythonEnvironment": 'InputSandbox = "requirements.txt"; PythonEnvironment = "requirements.txt";',
}
"""Attributes that change the description as a whole, with what each needs besides."""
_READ_BY = {
    "Requirements": "broker_core.matching.plan",
    "Rank": "broker_core.matching.plan",
    "CollectiveCondition": "broker_core.matching.sets.collective",
    "ReplicaCatalog": "broker_core.broker.matchmaking.data_locality",
    "DataAccessProtocol": "broker_core.broker.matchmaking.data_locality",
    "OutputSE": "broker_core.matching.conditions",
    "FuzzyRank": "broker_core.matching.ordering",
    "fuzzy_factor": "broker_core.matching.ordering",
    "VirtualOrganisation": "broker_core.matching.conditions",
    "SubmitTo": "broker_core.matching.conditions",
    "Parameters": "broker_core.jdl.parametric",
    "ParameterStart": "broker_core.jdl.parametric",
    "ParameterStep": "broker_core.jdl.parametric",
    "ParameterFactor": "broker_core.jdl.parametric",
    "MaxRunningJobs": "broker_core.jdl.check",
    "Nodes": _WORKFLOW,
    "Dependencies": _WORKFLOW,
    "description": _WORKFLOW,
    "file": _WORKFLOW,
    "NodeName": _WORKFLOW,
    "max_running_nodes": _WORKFLOW,
    "node_retry_count": _WORKFLOW,
    "app_exit_code": _WORKFLOW,
    "node_type": _WORKFLOW,
    "status": "broker_core.jdl.attributes.crossbroker",
}
"""Attributes that are read from the description's tree, with the module that does."""
_BY_SETTINGS = frozenset({"RetryCount", "ShallowRetryCount", "ExpiryTime"})
_VALUES = {
    "string": '"a@b"',
    "strings": '{"a"}',
    "integer": "1",
    "real": "1.5",
    "boolean": "true",
    "ad": "[ a = 1 ]",
    "ads": '{[ OutputFile = "a" ]}',
    "list": "{1}",
    "expression": "1",
}


def _made(text: str) -> JobDescription:
    found = check(text, limits=Limits())
    assert found.description is not None, found.errors
    return replace(found.description, ad=None)


def _with(name: str) -> str:
    example = _EXAMPLES[name]
    return example if example.startswith("Executable") else f"{_BASE} {example}"


def test_the_lists_have_all_known_attributes_each_once() -> None:
    system = {one.name for one in ATTRIBUTES.values() if one.place == "system"}
    silent = {ATTRIBUTES[key].name for key in (*WITHOUT_EFFECT, *NOT_NEEDED)}
    groups = [set(_EXAMPLES), set(_READ_BY), set(_BY_SETTINGS), silent, system]
    assert set.union(*groups) == {one.name for one in ATTRIBUTES.values()}
    assert sum(map(len, groups)) == len(ATTRIBUTES)


@pytest.mark.parametrize("name", sorted(_EXAMPLES))
def test_an_attribute_changes_the_description_or_is_told_about(name: str) -> None:
    before = _WITHOUT.get(name, _BASE)
    found = check(_with(name), limits=Limits())
    about = {item.attribute.lower() for item in found.diagnostics}
    assert name.lower() in about or _made(_with(name)) != _made(before)


_WITHOUT = {
    name: f"{_BASE} {_EXAMPLES[name].replace(f'; {name}', '; //')}"
    for name in _EXAMPLES
    if f"; {name} =" in _EXAMPLES[name] and name not in ("NodeNumber", "MinNumCPU", "SubJobType", "SubJobs")
}
"""The same descriptions without the attribute, where another one has to be there with it."""


@pytest.mark.parametrize("name", sorted(_READ_BY))
def test_an_attribute_is_read_where_it_is_said_to_be(name: str) -> None:
    source = inspect.getsource(importlib.import_module(_READ_BY[name]))
    assert name.lower() in source.lower()


@pytest.mark.parametrize("name", sorted({*WITHOUT_EFFECT, *NOT_NEEDED}))
def test_what_has_no_effect_is_told_with_the_reason(name: str) -> None:
    known = ATTRIBUTES[name]
    value = _VALUES[known.types[-1]] if known.name != "ListenerPort" else "1"
    found = check(f"{_BASE} {known.name} = {value};").diagnostics
    told = [item for item in found if item.code == "not-carried-out"]
    reason = WITHOUT_EFFECT.get(name) or NOT_NEEDED[name]
    assert [(item.attribute, reason in item.message) for item in told] == [(known.name, True)]


def test_what_brokers_set_and_what_stands_in_graphs_is_told_in_a_job() -> None:
    for one in ATTRIBUTES.values():
        if one.place in ("system", "nodes", "node"):
            found = check(f"{_BASE} {one.name} = {_VALUES.get(one.types[0], 'a')};").diagnostics
            codes = {item.code for item in found if item.attribute == one.name}
            assert codes & {"not-carried-out", "attribute-without"}, one.name


def test_what_nodes_do_not_have_from_the_whole_is_told() -> None:
    nodes = 'Nodes = {[Executable = "/bin/true"; Environment = root.Environment]};'
    text = f'Type = "Collection"; BannedSites = "a"; Environment = "A=1"; WallTime = 1; {nodes}'
    found = check(text).diagnostics
    assert [(item.code, item.attribute) for item in found] == [("not-for-nodes", "WallTime")]


def test_completion_offers_nothing_that_is_set_by_brokers() -> None:
    assert {one.place for one in USER_ATTRIBUTES} <= {"job", "nodes", "node", "component"}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("MyOwn = 42;", {"unknown-attribute"}),
        ("Arguements = 42;", {"misspelt-attribute"}),
        ("Least = 4; Requirements = other.GlueCEInfoTotalCPUs >= Least;", set()),
        ("Least = 4; Rank = self.Least;", set()),
        ("Least = 4; Twice = Least * 2; Rank = Twice;", set()),
        ('Least = 4; Rank = eval("Least + 1");', set()),
        ("Least = 4; Rank = other.Least;", {"unknown-attribute"}),
    ],
)
def test_an_unknown_attribute_that_nothing_reads_is_told(text: str, codes: set[str]) -> None:
    found = check(f"{_BASE} {text}")
    assert found.description is not None
    assert {item.code for item in found.diagnostics if item.severity == "warning"} == codes


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Parameters = 4; ParameterStart = 1; ParameterFactor = 3;", ["1", "3", "9", "27"]),
        ("Parameters = 3; ParameterStart = 1; ParameterStep = 1; ParameterFactor = 2.0;", ["1", "3", "7"]),
        ("Parameters = 3; ParameterStart = 1; ParameterFactor = 0.5;", ["1", "0.5", "0.25"]),
        ("Parameters = 3; ParameterFactor = 1;", ["0", "1", "2"]),
    ],
)
def test_a_factor_multiplies_the_values_of_a_sweep(text: str, values: list[str]) -> None:
    from broker_core.jdl.parametric import values as values_of

    found = check(f'{_BASE} JobType = "Parametric"; {text}').description
    assert found is not None
    assert values_of(found.ad) == values


def test_values_that_grow_beyond_whole_numbers_are_refused() -> None:
    text = f'{_BASE} JobType = "Parametric"; Parameters = 100; ParameterStart = 1; ParameterFactor = 10;'
    assert {item.code for item in check(text).errors} == {"parameters-format"}


def test_the_choice_of_sites_is_checked() -> None:
    wrong = check(f'{_BASE} Site = "A"; BannedSites = {{"a", "b"}}; BatchSystem = "slurn";')
    assert {item.code for item in wrong.errors} == {"attributes-exclude", "unknown-batch-system"}


def test_the_tag_of_a_group_and_the_memory_of_cerequirements_are_kept() -> None:
    wanted = "other.GlueHostMainMemoryRAMSize > 1000 && other.GlueCEPolicyMaxCPUTime > 5"
    found = check(f'{_BASE} JobGroup = "study"; CERequirements = {wanted};').description
    assert found is not None
    assert (found.tags, found.request.memory_per_node) == (("JobGroup:study",), 1001)
    assert found.ad.get("requirements") is not None
