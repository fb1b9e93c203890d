# ruff: noqa: E501 - one attribute a line reads best as a table
"""Attributes that gLite descriptions add for jobs and compound requests."""

from broker_core.jdl.attributes.attribute import table

JOB = table(
    "gLite",
    "job",
    """
CpuNumber | integer | 1 | | Number of CPUs over all hosts; later name of NodeNumber.
SMPGranularity | integer | | | CPUs that the job has on each host; the last one has the rest of them.
HostNumber | integer | | | Number of hosts over which the CPUs are spread. Without it the CPUs of a job that is not MPI are those of one host; 0 lets the batch system spread them as it likes.
WholeNodes | boolean | false | | True asks for hosts that are shared with nobody.
InputSandboxBaseURI | string | | | Place (protocol://address/folder) from which simple names of InputSandbox are fetched.
InputSandboxDestFileName | string, strings | | | New names for the files of InputSandbox, as many as there are files.
OutputSandboxDestURI | string, strings | | | Where each file of OutputSandbox goes, one address per file.
OutputSandboxBaseDestURI | string | | | Folder to which all files of OutputSandbox go.
AllowZippedISB | boolean | false | | Allows the input sandbox to be packed for the transfer.
Prologue | string | | | Program that runs before the executable; if it fails the job fails.
PrologueArguments | string | | | Arguments of the prologue.
Epilogue | string | | | Program that runs after the executable.
EpilogueArguments | string | | | Arguments of the epilogue.
FuzzyRank | boolean | false | | Chooses by chance among resources of good rank, to spread the load.
fuzzy_factor | real | | | How widely that chance spreads.
VirtualOrganisation | string | | | Virtual organisation under which the job runs; the one in the credential has precedence.
RetryCount | integer | | | How often the job is sent elsewhere after it failed at a site.
ShallowRetryCount | integer | | | How often it is sent elsewhere if the program had not started yet; -1 for never.
MyProxyServer | string | | | Service that renews the job's credential while it runs.
HLRLocation | string | | | Accounting service that is charged for the job.
JobProvenance | string | | | Service that keeps records of finished jobs.
LBAddress | string | | | Bookkeeping server to use for the job.
ExpiryTime | integer | | | Time, in seconds since 1970, after which a job without a place is given up.
UserTags | ad, string, strings | | | Tags of the job, by which it is found again: names and values, or words.
UserContact | string, strings | | | Mail addresses that are told about the job.
NotificationType | string | | | When UserContact is told.
SubmitTo | string | | | Computing element that is used without matching.
ShortDeadlineJob | boolean | false | | The job must start at once or fail.
PerusalFileEnable | boolean | false | | Allows reading chosen files while the job runs. Here all files can be read at any time.
PerusalTimeInterval | integer | | | Seconds between two copies of those files.
PerusalFilesDestURI | string | | | Where those copies go.
ListenerHost | string | | | Host on which the console of an interactive job listens.
ListenerPort | integer | | | Port on which the console of an interactive job listens.
ListenerPipeName | string | | | Base name of the pipes of that console.
MwVersion | string | | | Version of the middleware, told to the program as EDG_MW_VERSION.
SignificantAttributes | string, strings | | | Attributes that make jobs alike for matching many at once.
NodesCollocation | boolean | false | | Keeps all jobs of a compound request on one computing element.
MoveToCE | boolean | false | | Reserved name for handing a job over to a computing element for good.
EnableWmsFeedback | boolean | false | | Allows a job that waits too long at a site to be placed anew.
Parameters | integer, strings, integers, list | | | Values of a parameter sweep: a list, or a number up to which is counted. Each replaces _PARAM_ in one job.
ParameterStart | integer | 0 | | First value of a sweep.
ParameterStep | integer | 1 | | Difference between two values of a sweep; not 0.
JobSteps | integer, strings, list | | | Steps of a checkpointable job; such jobs are no longer run.
CurrentStep | integer | | | Step at which a checkpointable job goes on; such jobs are no longer run.
JobState | string, ad | | | Saved state of a checkpointable job; such jobs are no longer run.
StateId | string | | | Name of a saved state; checkpointable jobs are no longer run.
UserData | expression | | | Free data of a checkpointable job; such jobs are no longer run.
StepWeight | list | | | Weights of the steps of a partitionable job; such jobs are no longer run.
PartitionNumber | integer | | | Parts of a partitionable job; such jobs are no longer run.
Prejob | ad | | | Job before the parts of a partitionable job; such jobs are no longer run.
Postjob | ad | | | Job after the parts of a partitionable job; such jobs are no longer run.
""",
)

COMPOUND = table(
    "gLite",
    "nodes",
    """
max_running_nodes | integer | | | Most nodes of a graph that run at the same time.
NodeName | string | | | Name of a job inside a compound request.
File | string | | | Description file of a job inside a compound request.
node_type | string | "edg_jdl" | edg_jdl | Language of the nodes' descriptions.
node_retry_count | integer | 0 | | How often a failed node is tried again.
app_exit_code | integers | | | Exit codes after which a node is not tried again.
""",
)
