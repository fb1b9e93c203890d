# ruff: noqa: E501 - one attribute a line reads best as a table
"""Attributes of CREAM and DIRAC descriptions, and our own."""

from broker_core.jdl.attributes.attribute import table

CREAM = table(
    "CREAM",
    "job",
    """
BatchSystem | string | | pbs, lsf, sge, slurm, condor | Batch system that the job may go to; no other one is considered.
QueueName | string | | | Queue (partition) of the batch system that the job goes to; no other one is considered.
CERequirements | expression | | | Further condition on the resource. The memory of hosts that it asks for is handed on to the batch system, as by MemoryPerNode.
GPUNumber | integer | | | GPUs on each node of the job. Without HostNumber or SMPGranularity the job gets one node.
GPUModel | string | | | Model of those GPUs as the site names it, such as "a100", in any case.
""",
)

DIRAC = table(
    "DIRAC",
    "job",
    """
JobGroup | string | | | Name that jobs which belong together share; they are found by the tag JobGroup:NAME.
Owner | string | | | Owner of the job; set from the credential.
Priority | integer | | | Precedence among the jobs of one owner.
CPUTime | integer | | | CPU time that the job needs, in normalised seconds.
Site | string, strings | | | Sites that may run the job, by their names here or those that they publish.
BannedSites | string, strings | | | Sites that may not run the job.
GridCE | string, strings | | | Computing elements that may run the job, by their ids or hosts.
Platform | string, strings | | | Platform that the program was built for.
Tags | string, strings | | | Run-time tags that the resource must show.
NumberOfProcessors | integer | | | Number of CPUs, all on one host.
MinNumberOfProcessors | integer | | | Least number of processors on one host.
MaxNumberOfProcessors | integer | | | Most processors on one host that the job can use.
WholeNode | boolean | | | True asks for a whole host.
InputDataModule | string | | | Plug-in that makes input data available.
InputDataPolicy | string | | | How input data is made available.
OutputPath | string | | | Folder in storage for output data.
ParameterFactor | real | 1 | | Factor between two values of a sweep; Parameters is the number of values then, and each is the one before it times the factor plus ParameterStep.
LogLevel | string | | | How much the job's wrapper reports.
""",
)

CROSSDESK = table(
    "CrossDesk",
    "job",
    """
JobName | string | | | Short name for people; the base name of Executable if absent.
MaxRunningJobs | integer | | | Most jobs of a sweep that are in the queue or at sites at the same time; the others wait for their turn.
WallTime | integer, real, string | | | Longest run of the program in wall time: seconds, or a text such as "01:30:00", "90m", "2h" or "1d". It is ended after that.
MaxWallTime | integer, real, string | | | Another name of WallTime.
WallTimeLimit | integer, real, string | | | Another name of WallTime, as in JSDL.
MemoryPerNode | integer | | | Memory on each node of the job, in MB. Without HostNumber or SMPGranularity the job gets one node.
MemoryPerCPU | integer | | | Memory for each CPU of the job, in MB; instead of MemoryPerNode.
ScratchSize | integer | | | Room on each node's own disk, in MB.
Account | string | | | Account or project at the batch system under which the job runs and is charged.
QOS | string | | | Quality of service of the batch system.
Features | string, strings | {} | | Features that each node of the job must have, by the site's names for them.
Licenses | string, strings | {} | | Licenses that the job holds while it runs, each "name" or "name:count".
Reservation | string | | | Reservation at the batch system that the job uses.
NamesOf | string | | slurm, pbs, sge, lsf, condor | Batch system whose sites know the names in QueueName, Account, QOS and Reservation: they count at those of its sites that have them, and the job runs without them elsewhere. Otherwise sites without them do not match.
BatchOptions | ad | | | Further words for the batch system's submission command, by its kind: [ slurm = {"--nice=5"}; pbs = {"-p", "10"}; sge = {"-p", "-5"}; lsf = {"-sp", "10"}; condor = {"rank = Mips"} ]. Words for other systems than that of the site are left out; those that would break what the broker relies on are refused.
IgnoreUnsupported | boolean | false | | True lets the job run also where the batch system cannot give what GPUNumber, Account, Reservation and the like ask for; that part is left out there. Otherwise such sites do not match.
""",
)
