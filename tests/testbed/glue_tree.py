"""Made-up sites and computing elements as entries of an information system, in both GLUE vocabularies."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

COUNTRIES = ("Spain", "Poland", "Portugal", "Germany", "Cyprus", "Ireland", "Slovakia", "Greece")


@dataclass(frozen=True, slots=True)
class MadeCE:
    """One computing element of the made-up grid; every figure follows from its number."""

    number: int
    site: str

    @property
    def host(self) -> str:
        return f"ce{self.number:05d}.{self.site}.example.org"

    @property
    def ce(self) -> str:
        return f"{self.host}:2119/jobmanager-slurm-main"

    @property
    def cpus(self) -> int:
        return 16 * (1 + self.number % 64)

    @property
    def busy(self) -> int:
        return (self.number * 7) % (self.cpus + 1)

    @property
    def waiting(self) -> int:
        return self.number % 5

    @property
    def minutes(self) -> int:
        return 60 * (1 + self.number % 72)


def site_name(number: int) -> str:
    return f"site{number:03d}"


def made_sites(ces: int, sites: int) -> dict[str, list[MadeCE]]:
    """`ces` computing elements spread over `sites` sites."""
    found: dict[str, list[MadeCE]] = {site_name(number): [] for number in range(sites)}
    for number in range(ces):
        name = site_name(number % sites)
        found[name].append(MadeCE(number, name))
    return found


def tree(
    sites: Mapping[str, Sequence[MadeCE]],
    *,
    top: str = "",
    services: Mapping[str, str] | None = None,
    vocabularies: Sequence[str] = ("1.3", "2.0"),
) -> Iterator[str]:
    """LDIF records. `top`: name of a level above the sites, as an index has it; `services`: site to the
    address of the server that answers for it (`ldap://host:port`), published by an index."""
    above = ("", "")
    if top:
        above = (f",Mds-Vo-name={top}", f",GLUE2GroupID={top}")
        yield record(f"Mds-Vo-name={top},o=grid", "MDS", {"Mds-Vo-name": top})
        yield record(f"GLUE2GroupID={top},o=glue", "GLUE2Group", {"GLUE2GroupID": top})
    for name, ces in sites.items():
        address = (services or {}).get(name, "")
        if "1.3" in vocabularies:
            yield from _site_1(name, ces, f"Mds-Vo-name={name}{above[0]},o=grid", address)
        if "2.0" in vocabularies:
            yield from _site_2(name, ces, f"GLUE2DomainID={name}{above[1]},o=glue", address)


def record(name: str, classes: str, values: Mapping[str, object]) -> str:
    """One LDIF record; lists become several lines, bytes are encoded."""
    lines = [f"dn: {name}", *(f"objectClass: {one}" for one in classes.split())]
    for attribute, value in values.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, bytes):
                lines.append(f"{attribute}:: {base64.b64encode(one).decode()}")
            else:
                lines.append(f"{attribute}: {one}")
    return "\n".join(lines)


_VERSION = {"GlueSchemaVersionMajor": 1, "GlueSchemaVersionMinor": 3}


def _site_1(site: str, ces: Sequence[MadeCE], base: str, address: str) -> Iterator[str]:
    number = int(site[-3:])
    yield record(base, "MDS", {"Mds-Vo-name": site})
    yield record(
        f"GlueSiteUniqueID={site},{base}",
        "GlueTop GlueSite GlueSchemaVersion",
        {
            "GlueSiteUniqueID": site,
            "GlueSiteName": site.upper(),
            "GlueSiteLocation": f"Town {number}, {COUNTRIES[number % len(COUNTRIES)]}",
            "GlueSiteLatitude": 35 + number % 20,
            "GlueSiteLongitude": number % 25 - 9.5,
            **_VERSION,
        },
    )
    yield from _storage_1(site, number, base)
    service = f"{address}/Mds-Vo-name={site},o=grid" if address else ""
    for ce in ces:
        yield from _element_1(ce, base, {"GlueInformationServiceURL": service} if service else {})


def _storage_1(site: str, number: int, base: str) -> Iterator[str]:
    """One storage element with two areas; the larger one has `number` GB left."""
    name = f"se.{site}.example.org"
    element = f"GlueSEUniqueID={name},{base}"
    key = {"GlueChunkKey": f"GlueSEUniqueID={name}", **_VERSION}
    yield record(
        element,
        "GlueSETop GlueSE GlueKey GlueSchemaVersion",
        {
            "GlueSEUniqueID": name,
            "GlueSEStatus": "Production" if number % 2 else "Draining",
            "GlueForeignKey": f"GlueSiteUniqueID={site}",
            **_VERSION,
        },
    )
    for area, space in (("small", number * 1000), ("large", number * 1_000_000)):
        yield record(
            f"GlueSALocalID={area},{element}",
            "GlueSATop GlueSA GlueSAState GlueKey GlueSchemaVersion",
            {"GlueSALocalID": area, "GlueSAStateAvailableSpace": space, **key},
        )
    yield record(
        f"GlueSEAccessProtocolLocalID=gsiftp,{element}",
        "GlueSETop GlueSEAccessProtocol GlueKey GlueSchemaVersion",
        {"GlueSEAccessProtocolLocalID": "gsiftp", "GlueSEAccessProtocolType": "gsiftp", **key},
    )


def _element_1(ce: MadeCE, base: str, service: Mapping[str, str]) -> Iterator[str]:
    cluster = f"GlueClusterUniqueID={ce.host},{base}"
    classes = "GlueClusterTop GlueCluster GlueSchemaVersion GlueInformationService GlueKey"
    yield record(
        cluster,
        classes,
        {
            "GlueClusterUniqueID": ce.host,
            "GlueClusterName": ce.host,
            "GlueClusterService": ce.ce,
            "GlueForeignKey": [f"GlueSiteUniqueID={ce.site}", f"GlueCEUniqueID={ce.ce}"],
            **service,
            **_VERSION,
        },
    )
    yield _sub_cluster(ce, cluster)
    element = f"GlueCEUniqueID={ce.ce},{base}"
    yield record(
        element,
        "GlueCETop GlueCE GlueSchemaVersion GlueCEAccessControlBase GlueCEInfo GlueCEPolicy GlueCEState"
        " GlueInformationService GlueKey",
        _element_values(ce) | dict(service) | _VERSION,
    )
    group = f"GlueCESEBindGroupCEUniqueID={ce.ce},{base}"
    stores = [f"se.{ce.site}.example.org", "se.central.example.org"]
    yield record(
        group,
        "GlueGeneralTop GlueCESEBindGroup GlueSchemaVersion",
        {"GlueCESEBindGroupCEUniqueID": ce.ce, "GlueCESEBindGroupSEUniqueID": stores, **_VERSION},
    )
    yield record(
        f"GlueCESEBindSEUniqueID={stores[0]},{group}",
        "GlueGeneralTop GlueCESEBind GlueSchemaVersion",
        {
            "GlueCESEBindCEUniqueID": ce.ce,
            "GlueCESEBindSEUniqueID": stores[0],
            "GlueCESEBindCEAccesspoint": "/storage",
            "GlueCESEBindWeight": 10,
            **_VERSION,
        },
    )


def _sub_cluster(ce: MadeCE, cluster: str) -> str:
    return record(
        f"GlueSubClusterUniqueID={ce.host},{cluster}",
        "GlueClusterTop GlueSubCluster GlueHostApplicationSoftware GlueHostArchitecture GlueHostMainMemory"
        " GlueHostProcessor GlueHostOperatingSystem GlueHostBenchmark GlueHostNetworkAdapter GlueKey"
        " GlueSchemaVersion",
        {
            "GlueSubClusterUniqueID": ce.host,
            "GlueChunkKey": f"GlueClusterUniqueID={ce.host}",
            "GlueSubClusterPhysicalCPUs": ce.cpus // 8,
            "GlueSubClusterLogicalCPUs": ce.cpus,
            "GlueHostMainMemoryRAMSize": 2048 * (1 + ce.number % 8),
            "GlueHostArchitectureSMPSize": 16,
            "GlueHostArchitecturePlatformType": "x86_64",
            "GlueHostOperatingSystemName": "Debian",
            "GlueHostOperatingSystemRelease": "12",
            "GlueHostOperatingSystemVersion": "bookworm",
            "GlueHostProcessorModel": "generic",
            "GlueHostProcessorVendor": "generic",
            "GlueHostProcessorClockSpeed": 2500,
            "GlueHostBenchmarkSI00": 1000 + ce.number % 1000,
            "GlueHostBenchmarkSF00": 900 + ce.number % 1000,
            "GlueHostNetworkAdapterInboundIP": "FALSE",
            "GlueHostNetworkAdapterOutboundIP": "TRUE",
            "GlueHostApplicationSoftwareRunTimeEnvironment": [
                "MPICH", "OPENMPI", f"VO-test-tool-{ce.number % 7}", "PolicyMaxSlotsPerJobs_main=64",
            ],
            **_VERSION,
        },
    )  # fmt: skip


def _element_values(ce: MadeCE) -> dict[str, object]:
    return {
        "GlueCEUniqueID": ce.ce,
        "GlueCEName": "main",
        "GlueCEHostingCluster": ce.host,
        "GlueForeignKey": f"GlueClusterUniqueID={ce.host}",
        "GlueCEImplementationName": "LCG-CE",
        "GlueCEInfoHostName": ce.host,
        "GlueCEInfoGatekeeperPort": 2119,
        "GlueCEInfoJobManager": "slurm",
        "GlueCEInfoLRMSType": "slurm",
        "GlueCEInfoLRMSVersion": "22.05",
        "GlueCEInfoTotalCPUs": ce.cpus,
        "GlueCEInfoContactString": ce.ce,
        "GlueCEInfoDefaultSE": f"se.{ce.site}.example.org",
        "GlueCEPolicyMaxWallClockTime": ce.minutes,
        "GlueCEPolicyMaxCPUTime": ce.minutes,
        "GlueCEPolicyMaxRunningJobs": ce.cpus,
        "GlueCEPolicyMaxTotalJobs": 9999,
        "GlueCEPolicyPriority": 1,
        "GlueCEPolicyAssignedJobSlots": ce.cpus,
        "GlueCEStateStatus": "Draining" if ce.number % 25 == 24 else "Production",
        "GlueCEStateFreeCPUs": ce.cpus - ce.busy,
        "GlueCEStateFreeJobSlots": ce.cpus - ce.busy,
        "GlueCEStateRunningJobs": ce.busy,
        "GlueCEStateWaitingJobs": ce.waiting,
        "GlueCEStateTotalJobs": ce.busy + ce.waiting,
        "GlueCEStateEstimatedResponseTime": ce.number * 37 % 3600,
        "GlueCEStateWorstResponseTime": ce.number * 37 % 3600 * 2,
        "GlueCEAccessControlBaseRule": ["VO:testvo", f"VO:vo{ce.number % 10}"],
    }


def _site_2(site: str, ces: Sequence[MadeCE], base: str, address: str) -> Iterator[str]:
    number = int(site[-3:])
    yield record(
        base,
        "GLUE2Domain GLUE2AdminDomain",
        {"GLUE2DomainID": site, "GLUE2EntityName": site.upper()},
    )
    yield record(
        f"GLUE2LocationID={site}/place,{base}",
        "GLUE2Location",
        {
            "GLUE2LocationID": f"{site}/place",
            "GLUE2LocationCountry": COUNTRIES[number % len(COUNTRIES)],
            "GLUE2LocationPlace": f"Town {number}",
            "GLUE2LocationLatitude": 35 + number % 20,
            "GLUE2LocationLongitude": number % 25 - 9.5,
            "GLUE2LocationDomainForeignKey": site,
        },
    )
    for ce in ces:
        yield from _element_2(ce, base, address)


def _element_2(ce: MadeCE, base: str, address: str) -> Iterator[str]:
    service = f"GLUE2ServiceID={ce.host},{base}"
    yield record(
        service,
        "GLUE2Service GLUE2ComputingService",
        {
            "GLUE2ServiceID": ce.host,
            "GLUE2ServiceType": "org.example.ce",
            "GLUE2ServiceQualityLevel": "production",
            "GLUE2ServiceCapability": "executionmanagement.jobexecution",
            "GLUE2ServiceAdminDomainForeignKey": ce.site,
            "GLUE2ComputingServiceRunningJobs": ce.busy,
        },
    )
    yield _endpoint(ce, service, "ep", f"https://{ce.host}:2119/jobs", "org.example.jobs")
    if address:
        yield _endpoint(
            ce, service, "info", f"{address}/GLUE2DomainID={ce.site},o=glue", "bdii_site", "GLUE2Endpoint"
        )
    yield record(
        f"GLUE2ManagerID={ce.host}/manager,{service}",
        "GLUE2Manager GLUE2ComputingManager",
        {
            "GLUE2ManagerID": f"{ce.host}/manager",
            "GLUE2ManagerProductName": "slurm",
            "GLUE2ManagerProductVersion": "22.05",
            "GLUE2ManagerServiceForeignKey": ce.host,
            "GLUE2ComputingManagerComputingServiceForeignKey": ce.host,
            "GLUE2ComputingManagerTotalLogicalCPUs": ce.cpus,
            "GLUE2ComputingManagerTotalSlots": ce.cpus,
        },
    )
    yield _share(ce, service)
    yield record(
        f"GLUE2ResourceID={ce.host}/env,GLUE2ManagerID={ce.host}/manager,{service}",
        "GLUE2Resource GLUE2ExecutionEnvironment",
        {
            "GLUE2ResourceID": f"{ce.host}/env",
            "GLUE2ResourceManagerForeignKey": f"{ce.host}/manager",
            "GLUE2ExecutionEnvironmentComputingManagerForeignKey": f"{ce.host}/manager",
            "GLUE2ExecutionEnvironmentPlatform": "amd64",
            "GLUE2ExecutionEnvironmentMainMemorySize": 2048 * (1 + ce.number % 8),
            "GLUE2ExecutionEnvironmentLogicalCPUs": 16,
            "GLUE2ExecutionEnvironmentOSFamily": "linux",
            "GLUE2ExecutionEnvironmentOSName": "Debian",
            "GLUE2ExecutionEnvironmentOSVersion": "12",
            "GLUE2ExecutionEnvironmentConnectivityIn": "false",
            "GLUE2ExecutionEnvironmentConnectivityOut": "true",
        },
    )


def _endpoint(ce: MadeCE, service: str, name: str, url: str, interface: str, classes: str = "") -> str:
    return record(
        f"GLUE2EndpointID={ce.host}/{name},{service}",
        classes or "GLUE2Endpoint GLUE2ComputingEndpoint",
        {
            "GLUE2EndpointID": f"{ce.host}/{name}",
            "GLUE2EndpointURL": url,
            "GLUE2EndpointInterfaceName": interface,
            "GLUE2EndpointQualityLevel": "production",
            "GLUE2EndpointHealthState": "ok",
            "GLUE2EndpointServingState": "production",
            "GLUE2EndpointServiceForeignKey": ce.host,
        },
    )


def _share(ce: MadeCE, service: str) -> str:
    return record(
        f"GLUE2ShareID={ce.host}/main,{service}",
        "GLUE2Share GLUE2ComputingShare",
        {
            "GLUE2ShareID": f"{ce.host}/main",
            "GLUE2ComputingShareServingState": "draining" if ce.number % 25 == 24 else "production",
            "GLUE2ComputingShareMappingQueue": "main",
            "GLUE2ComputingShareMaxWallTime": 60 * ce.minutes,
            "GLUE2ComputingShareRunningJobs": ce.busy,
            "GLUE2ComputingShareWaitingJobs": ce.waiting,
            "GLUE2ComputingShareFreeSlots": ce.cpus - ce.busy,
            "GLUE2ComputingShareMaxSlotsPerJob": 64,
            "GLUE2ShareServiceForeignKey": ce.host,
            "GLUE2ShareEndpointForeignKey": f"{ce.host}/ep",
            "GLUE2ShareResourceForeignKey": f"{ce.host}/env",
            "GLUE2ComputingShareComputingServiceForeignKey": ce.host,
            "GLUE2ComputingShareComputingEndpointForeignKey": f"{ce.host}/ep",
            "GLUE2ComputingShareExecutionEnvironmentForeignKey": f"{ce.host}/env",
        },
    )
