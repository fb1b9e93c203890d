# ruff: noqa: E501 - one attribute a line reads best as a table
"""Attributes of CREAM and DIRAC descriptions, and our own."""

from broker_core.jdl.attributes.attribute import table

CREAM = table(
    "CREAM",
    "job",
    """
BatchSystem | string | | pbs, lsf, sge, slurm, condor | Batch system of the computing element.
QueueName | string | | | Queue of the batch system.
CERequirements | expression | | | Condition that is handed to the batch system.
GPUNumber | integer | | | Number of graphics processors.
GPUModel | string | | | Model of the graphics processors.
""",
)

DIRAC = table(
    "DIRAC",
    "job",
    """
JobGroup | string | | | Name that jobs which belong together share.
Owner | string | | | Owner of the job; set from the credential.
Priority | integer | | | Precedence among the jobs of one owner.
CPUTime | integer | | | CPU time that the job needs, in normalised seconds.
Site | string, strings | | | Sites that may run the job.
BannedSites | string, strings | | | Sites that may not run the job.
GridCE | string, strings | | | Computing elements that may run the job.
Platform | string, strings | | | Platform that the program was built for.
Tags | string, strings | | | Properties that the resource must show.
NumberOfProcessors | integer | | | Number of processors on one host.
MinNumberOfProcessors | integer | | | Least number of processors on one host.
MaxNumberOfProcessors | integer | | | Most processors on one host that the job can use.
WholeNode | boolean | | | True asks for a whole host.
InputDataModule | string | | | Plug-in that makes input data available.
InputDataPolicy | string | | | How input data is made available.
OutputPath | string | | | Folder in storage for output data.
ParameterFactor | real | 1 | | Factor between two values of a sweep.
LogLevel | string | | | How much the job's wrapper reports.
""",
)

CROSSDESK = table(
    "CrossDesk",
    "job",
    """
JobName | string | | | Short name for people; the base name of Executable if absent.
WallTime | integer, real, string | | | Longest run of the program in wall time: seconds, or a text such as "01:30:00", "90m", "2h" or "1d". It is ended after that.
MaxWallTime | integer, real, string | | | Another name of WallTime.
WallTimeLimit | integer, real, string | | | Another name of WallTime, as in JSDL.
""",
)
