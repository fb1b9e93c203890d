"""The reference descriptions F1 to F7, with the diagnostics that each must bring."""

from __future__ import annotations

_STREAMS = 'StdOutput = "std.out";\nStdError = "std.err";\nOutputSandbox = {"std.out", "std.err"};\n'

F1 = """
Type = "Job";
JobType = "Normal";
Executable = "my_app";
Arguments = "-n 356 -p 4";
StdOutput = "std.out";
StdError = "std.err";
InputSandBox = {"my_app"};
OutputSandBox = {"std.out", "std.err"};
Requirements = other.GlueHostBenchmarkSI00 >= 1000;
Rank = other.GlueHostFreeCPUs;
InputData = {"test-input.txt"};
ReplicaCatalog = pcrc.cern.ch;
"""

F2 = """[
Type = "Job"; JobType = "Parallel"; NodeNumber = 23; SubJobType = "pacx-mpi";
Executable = "my_app"; Arguments = "-n 356 -p 4";
StdOutput = "std.out"; StdError = "std.err";
InputSandBox = {"my_app"}; OutputSandBox = {"std.out", "std.err"};
Requirements = other.GlueHostBenchmarkSI00 >= 1000; Rank = other.GlueHostFreeCPUs
]"""

F3 = """
JobType = "Parallel"; SubJobType = "pacx-mpi"; Executable = "my_app"; InputSandbox = "my_app";
SubJobs = {
  [ NodeNumber = 5; Requirements = Member("OpenGL", other.GlueHostApplicationRunTimeEnvironment); ]
  [ NodeNumber = 5; Requirements = other.GlueHostMainMemoryRAMSize >= 1024;
    Rank == other.GlueCEStateEstimatedResponseTime; ]
};
"""

F4 = """
JobType = "Parallel"; NodeNumber = 5; SubJobType = "openmpi"; Executable = "interactive_mpi";
Arguments = "-n 356 -p 4"; InteractiveAgent = "glogin";
InteractiveAgentArguments = "-r 158.109.65.150 -p 24353";
InputSandbox = {"interactive_mpi", "glogin"}; Rank = other.GlueHostFreeCPUs;
"""

F5 = """[
Type = "DAG";
Nodes = [
  NodeA = [ description = [ Executable = "jobA.sh"; StdOutput = "std.out"; StdError = "std.err";
            InputSandbox = {"jobA.sh"}; OutputSandbox = {"std.out", "std.err"}; ]; ];
  NodeB1 = [ node_retry_count = 3; app_exit_code = {10, 11}; file = "jobB1.jdl"; ];
  NodeB2 = [ file = "jobB2.jdl"; ];
  NodeC = [ file = "jobC.jdl"; ];
  Dependencies = { {NodeA, {NodeB1, NodeB2}}, {{NodeB1, NodeB2}, NodeC} };
];
]"""

F6 = (
    'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 4; Executable = "run_fusion";\n'
    'Arguments = "-vid -client"; Interactive = True; InteractiveAgent = "i2glogin";\n'
    'InteractiveAgentArguments = "-r -p 12345:158.109.65.149 -c ";\n'
    'InputSandbox = {"input.data", "run_fusion"}; Environment = {"POSIXLY_CORRECT=1"};\n' + _STREAMS
)

F7 = (
    'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 10; Executable = "ann";\n'
    'Arguments = "train_set.xml"; InputSandbox = {"train_set.xml", "ann"};\n'
    "Rank = other.GlueHostBenchmarkSI00;\n" + _STREAMS
)

FIXTURES = {
    "F1": (F1, {"unquoted-value", "data-not-sent", "catalogue-not-asked"}),
    "F2": (F2, set()),
    "F3": (F3, {"missing-comma", "double-equals", "rank-sign"}),
    "F4": (F4, {"interactive-implied"}),
    "F5": (F5, set()),
    "F6": (F6, set()),
    "F7": (F7, set()),
}
"""Name to text and the codes of its warnings and hints."""
