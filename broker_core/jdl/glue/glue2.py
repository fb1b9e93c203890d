"""Names of GLUE 2.0, and the attributes of GLUE 1.3 that mean the same."""

from __future__ import annotations

_CLASSES = """
Entity = Name OtherInfo:L CreationTime Validity
Location = ID Address Place Country PostCode Latitude Longitude
Contact = ID Detail Type
Domain = ID Description WWW:L
AdminDomain = Distributed Owner:L
UserDomain = Level:I UserManager:L Member:L
Service = ID Capability:L Type QualityLevel StatusInfo:L Complexity
Endpoint = ID URL Capability:L Technology InterfaceName InterfaceVersion InterfaceExtension:L WSDL:L
    SupportedProfile:L Semantics:L Implementor ImplementationName ImplementationVersion QualityLevel
    HealthState HealthStateInfo ServingState StartTime IssuerCA TrustedCA:L DowntimeAnnounce
    DowntimeStart DowntimeEnd DowntimeInfo
Share = ID Description
Manager = ID ProductName ProductVersion
Resource = ID
Activity = ID
Policy = ID Scheme Rule:L
ComputingService = TotalJobs:I RunningJobs:I WaitingJobs:I StagingJobs:I SuspendedJobs:I
    PreLRMSWaitingJobs:I
ComputingEndpoint = Staging JobDescription:L TotalJobs:I RunningJobs:I WaitingJobs:I StagingJobs:I
    SuspendedJobs:I PreLRMSWaitingJobs:I
ComputingShare = MappingQueue MaxWallTime:I MaxMultiSlotWallTime:I MinWallTime:I DefaultWallTime:I
    MaxCPUTime:I MaxTotalCPUTime:I MinCPUTime:I DefaultCPUTime:I MaxTotalJobs:I MaxRunningJobs:I
    MaxWaitingJobs:I MaxPreLRMSWaitingJobs:I MaxUserRunningJobs:I MaxSlotsPerJob:I MaxStageInStreams:I
    MaxStageOutStreams:I SchedulingPolicy MaxMainMemory:I GuaranteedMainMemory:I MaxVirtualMemory:I
    GuaranteedVirtualMemory:I MaxDiskSpace:I DefaultStorageService Preemption ServingState TotalJobs:I
    RunningJobs:I LocalRunningJobs:I WaitingJobs:I LocalWaitingJobs:I SuspendedJobs:I
    LocalSuspendedJobs:I StagingJobs:I LocalStagingJobs:I PreLRMSWaitingJobs:I
    EstimatedAverageWaitingTime:I EstimatedWorstWaitingTime:I FreeSlots:I FreeSlotsWithDuration
    UsedSlots:I RequestedSlots:I ReservationPolicy Tag:L
ComputingManager = Reservation BulkSubmission TotalPhysicalCPUs:I TotalLogicalCPUs:I TotalSlots:I
    SlotsUsedByLocalJobs:I SlotsUsedByGridJobs:I Homogeneous NetworkInfo:L LogicalCPUDistribution
    WorkingAreaShared WorkingAreaGuaranteed WorkingAreaTotal:I WorkingAreaFree:I WorkingAreaLifeTime:I
    WorkingAreaMultiSlotTotal:I WorkingAreaMultiSlotFree:I WorkingAreaMultiSlotLifeTime:I CacheTotal:I
    CacheFree:I TmpDir ScratchDir ApplicationDir
Benchmark = ID Type Value
ExecutionEnvironment = Platform VirtualMachine TotalInstances:I UsedInstances:I UnavailableInstances:I
    PhysicalCPUs:I LogicalCPUs:I CPUMultiplicity CPUVendor CPUModel CPUVersion CPUClockSpeed:I
    CPUTimeScalingFactor WallTimeScalingFactor MainMemorySize:I VirtualMemorySize:I OSFamily OSName
    OSVersion ConnectivityIn ConnectivityOut NetworkInfo:L
ApplicationEnvironment = ID AppName AppVersion Repository State RemovalDate License Description
    BestBenchmark:L ParallelSupport MaxSlots:I MaxJobs:I MaxUserSeats:I FreeSlots:I FreeJobs:I
    FreeUserSeats:I
ApplicationHandle = ID Type Value
ComputingActivity = Type IDFromEndpoint LocalIDFromManager JobDescription State:L RestartState:L
    ExitCode:I ComputingManagerExitCode Error:L WaitingPosition:I UserDomain Owner LocalOwner
    RequestedTotalWallTime:I RequestedTotalCPUTime:I RequestedSlots:I RequestedApplicationEnvironment:L
    StdIn StdOut StdErr LogDir ExecutionNode:L Queue UsedTotalWallTime:I UsedTotalCPUTime:I
    UsedMainMemory:I SubmissionTime ComputingManagerSubmissionTime StartTime ComputingManagerEndTime
    EndTime WorkingAreaEraseTime ProxyExpirationTime SubmissionHost SubmissionClientName OtherMessages
ToStorageService = ID LocalPath RemotePath
StorageServiceCapacity = ID Type TotalSize:I FreeSize:I UsedSize:I ReservedSize:I
StorageAccessProtocol = ID Type Version MaxStreams:I
StorageShare = ServingState Path AccessMode:L SharingID AccessLatency RetentionPolicy:L ExpirationMode
    DefaultLifeTime:I MaximumLifeTime:I Tag
StorageShareCapacity = ID Type TotalSize:I FreeSize:I UsedSize:I ReservedSize:I
DataStore = Type Latency TotalSize:I FreeSize:I UsedSize:I
ToComputingService = ID NetworkInfo Bandwidth:I
- = GroupID ExtensionLocalID ExtensionKey ExtensionValue
"""
_TYPES = {"": "string", "I": "integer", "L": "strings"}
MINUTE = 60
SAME: tuple[tuple[str, str, int], ...] = (
    ("glueceinfolrmstype", "glue2managerproductname", 1),
    ("glueceinfototalcpus", "glue2computingmanagertotallogicalcpus", 1),
    ("glueceinfototalcpus", "glue2computingmanagertotalslots", 1),
    ("gluecestatestatus", "glue2computingshareservingstate", 1),
    ("gluecestaterunningjobs", "glue2computingsharerunningjobs", 1),
    ("gluecestatewaitingjobs", "glue2computingsharewaitingjobs", 1),
    ("gluecestatetotaljobs", "glue2computingsharetotaljobs", 1),
    ("gluecestatefreejobslots", "glue2computingsharefreeslots", 1),
    ("gluecestateestimatedresponsetime", "glue2computingshareestimatedaveragewaitingtime", 1),
    ("gluecestateworstresponsetime", "glue2computingshareestimatedworstwaitingtime", 1),
    ("gluecepolicymaxwallclocktime", "glue2computingsharemaxwalltime", MINUTE),
    ("gluecepolicymaxcputime", "glue2computingsharemaxcputime", MINUTE),
    ("gluecepolicymaxslotsperjob", "glue2computingsharemaxslotsperjob", 1),
    ("glueceaccesscontrolbaserule", "glue2policyrule", 1),
    ("gluehostmainmemoryramsize", "glue2executionenvironmentmainmemorysize", 1),
    ("gluehostarchitecturesmpsize", "glue2executionenvironmentlogicalcpus", 1),
    ("gluehostoperatingsystemname", "glue2executionenvironmentosname", 1),
    ("gluehostoperatingsystemrelease", "glue2executionenvironmentosversion", 1),
    ("gluehostapplicationsoftwareruntimeenvironment", "glue2applicationenvironmentappname", 1),
    ("gluehostnetworkadapteroutboundip", "glue2executionenvironmentconnectivityout", 1),
    ("gluesiteuniqueid", "glue2domainid", 1),
    ("gluecename", "glue2computingsharemappingqueue", 1),
)
"""Lower-case names of both, and how many of the newer unit one of the older is."""


def _names() -> dict[str, str]:
    found = {}
    for line in _CLASSES.replace("\n    ", " ").strip().splitlines():
        prefix, _, attributes = line.partition(" = ")
        for attribute in attributes.split():
            name, _, kind = attribute.partition(":")
            found[f"GLUE2{prefix.strip('-')}{name}"] = _TYPES[kind]
    return found


NAMES: dict[str, str] = _names()
"""Name to type: string, integer or strings."""
