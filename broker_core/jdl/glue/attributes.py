# ruff: noqa: E501 - one attribute a line reads best as a table
"""Names by which resources describe themselves (GLUE 1.3 and 2.0), for `other.` in Requirements and Rank."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.glue import glue1_names, glue2

_DESCRIBED = """
GlueCEUniqueID | string | Identifier of the computing element: host:port/jobmanager-system-queue.
GlueCEName | string | Name of its queue.
GlueCEImplementationName | string | Middleware of the computing element.
GlueCECapability | strings | Free key=value properties.
GlueCEInfoLRMSType | string | Batch system behind it, such as pbs, slurm, sge or condor.
GlueCEInfoLRMSVersion | string | Version of that batch system.
GlueCEInfoHostName | string | Host that accepts the jobs.
GlueCEInfoGatekeeperPort | string | Port of that host.
GlueCEInfoTotalCPUs | integer | All CPUs behind the queue.
GlueCEInfoContactString | strings | How to reach it.
GlueCEInfoJobManager | string | Name of its job manager.
GlueCEInfoApplicationDir | string | Folder with the software of the virtual organisation.
GlueCEInfoDataDir | string | Shared data folder.
GlueCEInfoDefaultSE | string | Storage element used unless another is named.
GlueCEStateStatus | string | Production if it accepts and runs jobs; else Queueing, Draining or Closed.
GlueCEStateTotalJobs | integer | Jobs running and waiting.
GlueCEStateRunningJobs | integer | Jobs running.
GlueCEStateWaitingJobs | integer | Jobs waiting in its queue.
GlueCEStateWorstResponseTime | integer | Longest expected wait in seconds.
GlueCEStateEstimatedResponseTime | integer | Expected wait in seconds; smaller is better, so put a minus before it in Rank.
GlueCEStateFreeCPUs | integer | CPUs that are free now.
GlueCEStateFreeJobSlots | integer | One-CPU jobs that could start now.
GlueHostFreeCPUs | integer | CPUs that are free now; another name of GlueCEStateFreeCPUs.
GlueCEPolicyMaxWallClockTime | integer | Longest wall time of a job in minutes.
GlueCEPolicyMaxCPUTime | integer | Longest CPU time of a job in minutes.
GlueCEPolicyMaxObtainableWallClockTime | integer | Longest wall time in minutes that can be asked for.
GlueCEPolicyMaxObtainableCPUTime | integer | Longest CPU time in minutes that can be asked for.
GlueCEPolicyMaxTotalJobs | integer | Most jobs in the queue, running and waiting.
GlueCEPolicyMaxRunningJobs | integer | Most jobs running.
GlueCEPolicyMaxWaitingJobs | integer | Most jobs waiting.
GlueCEPolicyMaxSlotsPerJob | integer | Most CPUs of one job.
GlueCEPolicyPriority | integer | Priority of the queue.
GlueCEPolicyPreemption | integer | Not 0 if running jobs may be interrupted.
GlueCEPolicyAssignedJobSlots | integer | Slots set aside for the queue.
GlueCEAccessControlBaseRule | strings | Who may use it, as VO:name or VOMS:group.
GlueSubClusterPhysicalCPUs | integer | Processors of the hosts behind it.
GlueSubClusterLogicalCPUs | integer | Cores of the hosts behind it.
GlueHostArchitecturePlatformType | string | Architecture, such as x86_64.
GlueHostArchitectureSMPSize | integer | Cores of one host.
GlueHostProcessorVendor | string | Maker of the processor.
GlueHostProcessorModel | string | Model of the processor.
GlueHostProcessorClockSpeed | integer | Clock of the processor in MHz.
GlueHostApplicationSoftwareRunTimeEnvironment | strings | Tags of installed software.
GlueHostApplicationRunTimeEnvironment | strings | Tags of installed software; another name of the one with Software in it.
GlueHostMainMemoryRAMSize | integer | Memory of one host in MBytes.
GlueHostMainMemoryVirtualSize | integer | Memory with swap of one host in MBytes.
GlueHostBenchmarkSI00 | integer | Speed for whole numbers (SpecInt2000).
GlueHostBenchmarkSF00 | integer | Speed for real numbers (SpecFloat2000).
GlueHostNetworkAdapterOutboundIP | boolean | True if programs can open connections to the outside.
GlueHostNetworkAdapterInboundIP | boolean | True if programs can be reached from outside.
GlueHostOperatingSystemName | string | Operating system or distribution.
GlueHostOperatingSystemRelease | string | Its release.
GlueHostOperatingSystemVersion | string | Its version name.
GlueCESEBindGroupSEUniqueID | strings | Storage elements close by.
GlueCESEBindSEUniqueID | string | A storage element close by.
GlueCESEBindCEAccesspoint | string | Where that storage is mounted.
GlueSiteName | string | Name of the site.
GlueSiteUniqueID | string | Identifier of the site.
GlueClusterName | string | Name of the cluster.
GlueClusterUniqueID | string | Identifier of the cluster.
GlueSubClusterUniqueID | string | Identifier of the part of the cluster.
GlueHostName | string | Name of the host.
GlueHostProcessorLoadLast1Min | integer | Load of the last minute.
GlueHostProcessorLoadLast5Min | integer | Load of the last five minutes.
GlueHostProcessorLoadLast15Min | integer | Load of the last quarter of an hour.
GlueHostMainMemoryRAMAvailable | integer | Memory that is free, in MBytes.
GlueHostLocalFileSystemAvailableSpace | integer | Free space of the local file system.
Requirements | string | Condition of the resource on jobs: bare names are its own attributes, other.X is attribute X of the job.
StartEstimateBy | string | Who says the expected wait: idle, batch system, history or guess.
SharesNodesWith | strings | Computing elements of the site that have nodes in common with it.
NodesSeeDirectory | boolean | A test job found that its nodes see the site's directory.
Overlay | string | yes if a test job found that its nodes give programs a network of their own; preload: and the reason if only a library can take its place; else why neither.
Reservations | strings | Reservations that its batch system keeps for users.
GPUModels | strings | Models of the GPUs that its jobs can have, as the site names them.
GPUsTotal | integer | GPUs of all its nodes.
GPUsFree | integer | GPUs that are neither given out nor on a node that takes no jobs.
GPUsPerNode | integer | Most GPUs of one node.
NodeMemory | integer | Memory of its largest node in MBytes.
NodeCPUs | integer | Most CPUs of one node.
NodeTypes | records | Its nodes by what they have: Count, CPUs, Memory, GPUs, GPUModel, GPUsFree, Features.
Features | strings | Words of the site by which jobs choose nodes.
Licenses | strings | Licenses that its batch system counts.
LicenseUse | records | Those licenses with Total and Free.
Accounts | strings | Accounts (allocations, projects) that you may charge there.
DefaultAccount | string | The one of them that is charged unless another is named.
QOSList | strings | Qualities of service that you may ask for there.
AccountRules | records | Each Account with its QOS, DefaultQOS and Limits.
QOSRules | records | Each QOS with its Limits, and MaxWallClockTime in minutes.
"""
ALIASES = (
    ("gluecestatefreecpus", "gluehostfreecpus"),
    ("gluehostapplicationsoftwareruntimeenvironment", "gluehostapplicationruntimeenvironment"),
)
"""Pairs of names with one meaning (CB-ENV-04)."""


@dataclass(frozen=True, slots=True)
class GlueAttribute:
    """One attribute of a resource."""

    name: str
    type: str
    """string, integer, boolean, strings (a list; test it with Member) or records (a list of ads)."""
    doc: str


def _attributes() -> dict[str, GlueAttribute]:
    rows = (line.split(" | ", 2) for line in _DESCRIBED.strip().splitlines())
    found = {name.lower(): GlueAttribute(name, kind, doc) for name, kind, doc in rows}
    for names, schema in ((glue1_names.NAMES, "GLUE 1.3"), (glue2.NAMES, "GLUE 2.0")):
        for name, kind in names.items():
            found[name.lower()] = GlueAttribute(name, kind, f"As the site publishes it ({schema}).")
    return found


GLUE: dict[str, GlueAttribute] = _attributes()
"""Lower-case name to attribute, in the order of the table."""
