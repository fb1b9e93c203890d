"""Descriptions in the style of the manuals that grid users paste from; each must work unchanged."""

from __future__ import annotations

HELLO = """\
Type          = "Job";
JobType       = "Normal";
VirtualOrganisation = "biomed";
Executable    = "/bin/hostname";
Arguments     = "-f";
StdOutput     = "host.out";
StdError      = "host.err";
OutputSandbox = {"host.out", "host.err"};
Requirements  = other.GlueCEStateStatus == "Production";
Rank          = -other.GlueCEStateEstimatedResponseTime;
RetryCount    = 3;
ShallowRetryCount = 3;
"""

ANALYSIS = """\
[
  # Two programs and their data travel with the job.
  JobType = "Normal";
  Executable = "analyse.sh";
  Arguments = "run.dat 250 \\"first pass\\"";
  StdInput = "cards.txt";
  StdOutput = "analyse.out";
  StdError = "analyse.err";
  InputSandbox = { "analyse.sh", "bin/fit", "cards.txt", "run.dat" };
  OutputSandbox = { "analyse.out", "analyse.err", "histograms.root" };
  Environment = { "FIT_LEVEL=3", "LD_LIBRARY_PATH=.:/opt/lib" };
  VirtualOrganisation = "cms";
  Requirements = ( other.GlueCEInfoLRMSType == "pbs" || other.GlueCEInfoLRMSType == "lsf" ) &&
                 other.GlueCEInfoTotalCPUs > 2 &&
                 other.GlueHostMainMemoryRAMSize >= 512 &&   // megabytes
                 other.GlueCEPolicyMaxWallClockTime > 720 &&
                 Member("VO-cms-slc5_ia32_gcc434", other.GlueHostApplicationSoftwareRunTimeEnvironment);
  Rank = ( other.GlueCEStateWaitingJobs == 0 ? other.GlueCEStateFreeCPUs : -other.GlueCEStateWaitingJobs );
]
"""

NEAR_THE_DATA = """\
Executable = "reader.py";
InputSandbox = {"reader.py"};
StdOutput = "reader.out";
StdError = "reader.err";
OutputSandbox = {"reader.out", "reader.err"};
InputData = {"lfn:/grid/biomed/scans/patient-17.img", "guid:44rr44rr77hh77kkaa3"};
DataAccessProtocol = {"gsiftp", "file"};
Requirements = anyMatch(other.storage.CloseSEs, target.GlueSAStateAvailableSpace > 200);
Rank = other.GlueCEStateFreeCPUs;
"""

SEVERAL_CATALOGUES = """\
[
  Executable = "merge";
  InputSandbox = "merge";
  StdOutput = "out"; StdError = "err";
  OutputSandbox = {"out", "err"};
  DataRequirements = {
    [ DataCatalogType = "DLI"; DataCatalog = "http://lfc.example.org:8085/";
      InputData = {"lfn:/grid/biomed/a.dat"}; ],
    [ DataCatalogType = "SI"; InputData = {"si-lfn:/grid/biomed/b.dat"}; ]
  };
  DataAccessProtocol = "gsiftp";
  OutputSE = "se.example.org";
]
"""

MPI = """\
Type = "Job";
JobType = "MPICH";
NodeNumber = 8;
Executable = "cpi";
StdOutput = "cpi.out";
StdError = "cpi.err";
InputSandbox = {"cpi"};
OutputSandbox = {"cpi.out", "cpi.err"};
Requirements = Member("MPICH", other.GlueHostApplicationSoftwareRunTimeEnvironment);
Rank = other.GlueCEStateFreeCPUs;
"""

WHOLE_HOSTS = """\
[
  Executable = "threads.sh"; InputSandbox = {"threads.sh"};
  StdOutput = "out"; StdError = "out"; OutputSandbox = {"out"};
  CpuNumber = 16; HostNumber = 2; SMPGranularity = 8; WholeNodes = true;
]
"""

INTERACTIVE = """\
[
  JobType = "Interactive";
  Executable = "steer.sh";
  InputSandbox = {"steer.sh"};
  OutputSandbox = {"steer.log"};
  Requirements = other.GlueHostNetworkAdapterOutboundIP;
]
"""

SWEEP = """\
[
  JobType = "Parametric";
  Executable = "/bin/echo";
  Arguments = "step _PARAM_";
  StdInput = "/etc/services";
  StdOutput = "out_PARAM_.txt";
  StdError = "err_PARAM_.txt";
  Parameters = 11;
  ParameterStart = 1;
  ParameterStep = 2;
  OutputSandbox = {"out_PARAM_.txt", "err_PARAM_.txt"};
]
"""

LISTED_SWEEP = """\
JobType = "Parametric";
Parameters = {earth, moon, "mars", 42};
Executable = "orbit.sh";
Arguments = "_PARAM_";
InputSandbox = {"orbit.sh", "bodies/_PARAM_.txt"};
StdOutput = "orbit.out";
OutputSandbox = {"orbit.out"};
"""

COLLECTION = """\
[
  Type = "Collection";
  VirtualOrganisation = "dteam";
  InputSandbox = {"common.sh", "settings.ini"};
  RetryCount = 2;
  Nodes = {
    [
      NodeName = "first";
      Executable = "common.sh";
      Arguments = "one";
      InputSandbox = {root.InputSandbox[0], root.InputSandbox[1], "one.dat"};
      StdOutput = "one.out"; OutputSandbox = {"one.out"};
    ],
    [
      Executable = "common.sh";
      Arguments = "two";
      InputSandbox = root.InputSandbox;
      StdOutput = "two.out"; OutputSandbox = {"two.out"};
    ],
    [
      Executable = "/bin/date";
      StdOutput = "date.out"; OutputSandbox = {"date.out"};
    ]
  };
]
"""

GRAPH = """\
[
  Type = "dag";
  VirtualOrganisation = "itut";
  max_running_nodes = 4;
  InputSandbox = {"common.sh"};
  nodes = [
    nodeA = [ description = [ Executable = "a.sh"; InputSandbox = {"a.sh", root.InputSandbox[0]}; ]; ];
    nodeB = [ node_type = "edg_jdl"; node_retry_count = 2; description = [ Executable = "/bin/sort"; ]; ];
    nodeC = [ description = [ Executable = "/bin/wc"; ]; ];
  ];
  dependencies = { { nodeA, nodeB }, { { nodeA, nodeB }, nodeC } };
]
"""

REMOTE_FILES = """\
[
  Executable = "start.sh";
  InputSandboxBaseURI = "gsiftp://lxb0707.example.org:5432/tmp";
  InputSandbox = {"start.sh", "https://www.example.org/more.txt"};
  StdOutput = "out"; StdError = "err";
  OutputSandbox = {"out", "err"};
  OutputSandboxDestURI = {"gsiftp://lxb0707.example.org/data/out", "gsiftp://lxb0707.example.org/data/err"};
]
"""

LOOKED_AT = """\
[
  Executable = "/bin/sh"; Arguments = "-c 'sleep 60'";
  StdOutput = "out"; StdError = "err"; OutputSandbox = {"out", "err"};
  PerusalFileEnable = true; PerusalTimeInterval = 30;
  ExpiryTime = 1893456000;
  MyProxyServer = "myproxy.example.org";
  UserTags = [ study = "A-17"; priority = 3 ];
  FuzzyRank = true;
  SubmitTo = "ce01.example.org:2119/jobmanager-pbs-long";
]
"""

WIDELY_REQUIRED = """\
Executable = "/usr/bin/env";
StdOutput = "env.out";
StdError = "env.out";
OutputSandbox = {"env.out"};
Requirements = (!RegExp("ce.*broken[.]org", other.GlueCEUniqueID)) &&
  other.GlueHostBenchmarkSI00 >= 1000 && other.GlueHostBenchmarkSF00 >= 800 &&
  other.GlueHostMainMemoryRAMSize >= 1024 && other.GlueHostMainMemoryVirtualSize >= 2048 &&
  other.GlueHostOperatingSystemName == "ScientificSL" && other.GlueHostArchitecturePlatformType == "x86_64" &&
  Member("GLITE-3_2_0", other.GlueHostApplicationSoftwareRunTimeEnvironment) &&
  other.GlueCEPolicyMaxCPUTime >= 2880 && other.GlueCEStateFreeCPUs > 0;
Rank = 2 * other.GlueCEStateFreeCPUs - other.GlueCEStateWaitingJobs / 10.0 + other.GlueHostBenchmarkSI00;
"""

EXAMPLES = {
    "hello": HELLO,
    "analysis": ANALYSIS,
    "near the data": NEAR_THE_DATA,
    "several catalogues": SEVERAL_CATALOGUES,
    "MPI": MPI,
    "whole hosts": WHOLE_HOSTS,
    "interactive": INTERACTIVE,
    "sweep": SWEEP,
    "listed sweep": LISTED_SWEEP,
    "collection": COLLECTION,
    "graph": GRAPH,
    "remote files": REMOTE_FILES,
    "looked at": LOOKED_AT,
    "widely required": WIDELY_REQUIRED,
}
"""Subject to description."""
