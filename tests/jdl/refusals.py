"""Descriptions that are refused or warned about."""

from __future__ import annotations

REFUSALS = {
    'Executable = "/bin/true"; Type = "Jobb";': "unknown-type",
    'Executable = "/bin/true"; JobType = "Serial";': "unknown-job-type",
    'Executable = "/bin/true"; JobType = "Checkpointable";': "job-type-deprecated",
    'Executable = "/bin/true"; JobType = "Parallel"; NodeNumber = 2;': "missing-sub-job-type",
    'Executable = "/x"; JobType = "Parallel"; NodeNumber = 2; SubJobType = "lam";': "unknown-sub-job-type",
    'Executable = "/x"; JobType = "LAM-MPI"; NodeNumber = 2;': "unknown-job-type",
    'Executable = "/bin/true"; JobType = "Parallel"; SubJobType = "openmpi";': "missing-node-number",
    'Executable = "/bin/true"; JobType = "Normal"; NodeNumber = 2;': "normal-with-nodes",
    'Executable = "/bin/true"; NodeNumber = 0;': "count-too-small",
    'Executable = "/bin/true"; NodeNumber = 2; CpuNumber = 3;': "counts-differ",
    'Executable = "/bin/true"; NodeNumber = "2";': "wrong-type",
    'StdOutput = "x";': "missing-executable",
    'Executable = "";': "missing-executable",
    'Executable = "bin/x";': "executable-path",
    'Executable = "/bin/t*";': "executable-wildcard",
    'Executable = "/bin/-x";': "leading-dash",
    'Executable = "/bin/true"; StdOutput = "../x";': "path-escapes",
    'Executable = "/bin/true"; StdOutput = "/etc/x";': "path-escapes",
    'Executable = "/bin/true"; StdError = "e*";': "stream-wildcard",
    'Executable = "/bin/true"; Prologue = "bin/x";': "executable-path",
    'Executable = "/bin/true"; Epilogue = "x*";': "executable-wildcard",
    'Executable = "/bin/true"; DataRequirements = {[InputData = "lfn:/a"]};': "data-ad",
    'Executable = "/bin/true"; OutputData = {[StorageElement = "se"]};': "data-ad",
    'Executable = "/bin/true"; OutputData = {[OutputFile = "a"; LogicalFileName = "/a"]};': "data-ad",
    'Executable = "/bin/true"; InputData = "lfn:/a"; DataRequirements = {};': "attributes-exclude",
    'Executable = "/bin/true"; InputSandboxBaseURI = "/tmp";': "address-form",
    'Executable = "/x"; OutputSandbox = {"a", "b"};OutputSandboxDestURI = "https://h/a";': "items-differ",
    'Executable = "/bin/true"; OutputSandbox = "*"; OutputSandboxDestURI = "gsiftp://h/a";': "items-differ",
    'Executable = "/bin/true"; InputSandbox = "a"; InputSandboxDestFileName = "../c";': "path-escapes",
    'Executable = "/bin/true"; InputSandbox = {"a", "b"}; InputSandboxDestFileName = {"c", "c"};': (
        "duplicate-sandbox-name"
    ),
    'Executable = "/bin/true"; InputSandbox = {"a", "b"}; InputSandboxDestFileName = "c";': "items-differ",
    'Executable = "/bin/true"; UserContact = "nobody";': "contact-form",
    'Executable = "/bin/true"; MyProxyServer = "_PARAM_";': "parameter-not-here",
    'Executable = "/bin/true"; Rank = other.DataAccessCost;': "data-access-cost",
    'Executable = "/bin/true"; InputData = "lfn:/a"; Rank = other.DataAccessCost + other.GlueCEName;': (
        "data-access-cost"
    ),
    'Executable = "/bin/true"; MinNumCPU = 2; NodeNumber = 3;': "counts-differ",
    'Executable = "/bin/true"; OutputSandbox = "a"; OutputSandboxDestURI = "gsiftp://h/a"; '
    'OutputSandboxBaseDestURI = "gsiftp://h/";': "attributes-exclude",
    'Type = "Collection"; Nodes = {[Executable = "/x"; InputSandbox = root.InputSandbox]};': "root-reference",
    'Type = "Collection"; Nodes = {[Type = "DAG"; Nodes = [a = [file = "x"]]]};': "nested-workflow",
    'Type = "Collection"; Nodes = {[JobType = "Parametric"; Executable = "/x"]};': "parametric-node",
    'Type = "Collection"; Nodes = {[File = "x"; Executable = "/x"]};': "node-file-alone",
    'Type = "Collection"; Nodes = {[NodeName = "a"; File="x"],[NodeName = "a"; File="y"]};': "duplicate-node",
    'Executable = "/bin/true"; StdInput = "in";': "stdin-not-in-sandbox",
    'Executable = "/bin/true"; InputSandbox = {"a/x", "b/x"};': "duplicate-sandbox-name",
    'Executable = "/bin/true"; OutputSandbox = {"x", "x"};': "duplicate-sandbox-name",
    'Executable = "/bin/true"; OutputSandbox = {"../x"};': "path-escapes",
    'Executable = "/bin/true"; OutputSandbox = {"a\\nb"};': "control-character",
    'Executable = "/bin/true"; InputSandbox = {"folder/"};': "empty-name",
    'Executable = "/bin/true"; InputSandbox = {"-rf"};': "leading-dash",
    'Executable = "/bin/true"; InputSandbox = "https://h/a b";': "address-form",
    'Executable = "/bin/true"; InputSandbox = "http://h/?a";': "empty-name",
    f'Executable = "/bin/true"; StdOutput = "{"x" * 300}";': "name-too-long",
    'Executable = "/bin/true"; Environment = {"A"};': "environment-format",
    'Executable = "/bin/true"; Environment = {"1A=2"};': "environment-format",
    'Executable = "/bin/true"; Arguments = "\'a";': "arguments-unbalanced",
    'Executable = "/bin/true"; WallTime = "soon";': "wall-time-format",
    'Executable = "/bin/true"; WallTime = 0;': "wall-time-format",
    'Executable = "/bin/true"; WallTime = 5; MaxWallTime = 6;': "wall-times-differ",
    'Executable = "/bin/true"; Requirements = "true";': "quoted-expression",
    'Executable = "/bin/true"; RetryCount = -1;': "count-too-small",
    'Executable = "/bin/true"; HostNumber = 2;': "more-hosts-than-cpus",
    'Executable = "/bin/true"; ListenerPort = 2;': "listener-not-interactive",
    'Executable = "/bin/true"; JobType = "Parametric";': "missing-parameters",
    'Executable = "/bin/true"; JobType = "Parametric"; Parameters = true;': "parameters-format",
    'Type = "DAG";': "missing-nodes",
    'Type = "DAG"; Nodes = [];': "node-count",
    'Type = "DAG"; Nodes = [a = 1;];': "node-not-ad",
    'Type = "DAG"; Nodes = [a = [];];': "node-description",
    'Type = "DAG"; Nodes = [a = [file = "x"]; Dependencies = {{a, b}}];': "dependency",
    'Type = "DAG"; Nodes = [a = [file = "x"]; b = [file = "y"]; Dependencies = {{a, b}, {b, a}}];': "cycle",
    'Type = "DAG"; Interactive = true; Nodes = [a = [file = "x"]];': "interactive-workflow",
    'Type = "DAG"; Nodes = [a = [description = [Executable = "/x"; Interactive = true]]];': (
        "interactive-workflow"
    ),
    'Type = "DAG"; Nodes = [a = [description = [StdOutput = "x"]]];': "missing-executable",
    'JobType = "Parallel"; SubJobType = "openmpi"; Executable = "/x"; SubJobs = {[NodeNumber = 2]};': (
        "sub-jobs-one-cluster"
    ),
    'JobType = "Parallel"; SubJobType = "plain"; Executable = "/x"; SubJobs = {[NodeNumber = 2]};': (
        "sub-jobs-need-launcher"
    ),
    'JobType = "Parallel"; SubJobType = "pacx-mpi"; Executable = "/x"; SubJobs = {[Rank = 2]};': (
        "sub-job-node-number"
    ),
    'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 3; Executable = "/x"; '
    "SubJobs = {[NodeNumber = 2]};": "sub-jobs-sum",
    'Executable = "/x"; SubJobs = {[NodeNumber = 2]};': "sub-jobs-of-normal",
    "": "empty",
    "// nothing": "empty",
    "[]": "empty",
}


WARNINGS = {
    'Executable == "/bin/true";': "double-equals",
    'Executable = "/bin/true"\nStdOutput = "x";': "missing-semicolon",
    'Executable = "/bin/true"; InputSandbox = {"a" "b"};': "missing-comma",
    'Executable = "/bin/true"; InputSandbox = {"a", "b",};': "trailing-comma",
    "Executable = \u201c/bin/true\u201d;": "curly-quotes",
    'Executable = "/bin/true"; JobType = "Interactive";': "job-type-mapped",
    'Executable = "/bin/true"; JobType = "MPICH2"; NodeNumber = 2;': "job-type-mapped",
    'Executable = "/x"; JobType = "Parallel"; NodeNumber = 2; SubJobType = "mpich2";': "job-type-mapped",
    'Executable = "/bin/true"; JobType = "MPICH"; NodeNumber = 2;': "job-type-mapped",
    'Executable = "/bin/true"; JobType = "Normal"; CpuNumber = 2;': "cpus-make-parallel",
    'Executable = "/bin/true"; SubJobType = "plain"; NodeNumber = 2;': "parallel-implied",
    'Executable = "hostname";': "executable-not-sent",
    'Executable = "/bin/true"; Arguements = "x";': "misspelt-attribute",
    'Executable = "/bin/true"; Rank = other.GlueCEStateEstimatedResponseTime;': "rank-sign",
    'Executable = "/bin/true"; Requirements = other.GlueCEStateFreCPUs > 1;': "misspelt-resource-attribute",
    'Executable = "/bin/true"; Requirements = GlueCEStateFreeCPUs > 1;': "missing-other",
    'Executable = "/bin/true"; Requirements = Membr(1, {1});': "unknown-function",
    'Executable = "/bin/true"; Requirements = Member(1);': "argument-count",
    'Executable = "/x"; Requirements = other.GlueHostApplicationRunTimeEnvironment == "x";': "list-compared",
    'Executable = "/bin/true"; MyProxyServer = "x";': "not-carried-out",
    'Executable = "/bin/true"; InputData = "lfn:/a";': "data-not-sent",
    'Executable = "/bin/true"; PrologueArguments = "x";': "attribute-without",
    'Executable = "/bin/true"; Environment = {"A=1", "A=2"};': "environment-twice",
    'Executable = "/bin/cat"; Arguments = "in/a.txt"; InputSandbox = "in/a.txt";': "argument-in-folder",
    'Executable = "/bin/cat"; Arguments = "-n --from=./in/a.txt"; InputSandbox = "/b/in/a.txt";': (
        "argument-in-folder"
    ),
}
