"""A grid of computing elements with the attributes that sites publish, from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from broker_core.resources.record import Resource

QUEUES = (("short", 60), ("medium", 720), ("long", 2880), ("infinite", 10080))
VOS = ("atlas", "biomed", "cms", "compchem", "enmr.eu", "fusion", "lhcb", "ops")
PROGRAMS = ("ROOT", "GEANT4", "OPENMPI", "MPICH", "MPI-START", "PYTHON", "GROMACS", "R", "BLAST", "OCTAVE")
REQUIREMENTS = (
    'other.GlueCEInfoLRMSType == "pbs" '
    "&& other.GlueHostMainMemoryRAMSize >= 1024 "
    "&& other.GlueCEPolicyMaxWallClockTime >= 720 "
    '&& Member("VO-atlas-ROOT-5", other.GlueHostApplicationSoftwareRunTimeEnvironment) '
    "&& other.GlueHostNetworkAdapterOutboundIP "
    '&& other.GlueHostArchitecturePlatformType == "x86_64" '
    '&& RegExp("^Scientific", other.GlueHostOperatingSystemName) '
    "&& other.GlueCEInfoTotalCPUs >= 8 "
    "&& (other.GlueHostBenchmarkSI00 >= 1000 || other.GlueCEStateFreeCPUs > 100)"
)
"""Nine clauses such as users of grids write them."""
RANK = (
    "other.GlueCEStateWaitingJobs == 0 ? other.GlueCEStateFreeCPUs "
    ": -other.GlueCEStateWaitingJobs * 10 / other.GlueCEInfoTotalCPUs"
)


def grid(count: int, seed: int = 1) -> Iterator[Resource]:
    """`count` computing elements, the queues of one host after each other."""
    chance = random.Random(seed)
    site = _site(chance, 0)
    for number in range(count):
        if number % len(QUEUES) == 0 and chance.random() < 0.4:
            site = _site(chance, number)
        yield _element(chance, site, number)


def _site(chance: random.Random, number: int) -> dict[str, Any]:
    name = f"SITE-{number:06}"
    vos = chance.sample(VOS, 3)
    tags = [f"VO-{vo}-{program}-{version}" for vo in vos for program in PROGRAMS for version in (4, 5, 6)]
    tags = [tag for tag in tags if chance.random() < 0.6]
    return {
        "GlueSiteName": name,
        "GlueSiteUniqueID": name,
        "GlueClusterName": f"cluster.{name.lower()}.org",
        "GlueClusterUniqueID": f"cluster.{name.lower()}.org",
        "GlueSubClusterUniqueID": f"cluster.{name.lower()}.org",
        "GlueCEInfoLRMSType": chance.choice(("pbs", "pbs", "pbs", "sge", "slurm", "condor", "lsf")),
        "GlueCEInfoLRMSVersion": chance.choice(("2.5.7", "4.2.10", "6.2", "14.03")),
        "GlueCEInfoApplicationDir": "/opt/exp_soft",
        "GlueCEInfoDefaultSE": f"se.{name.lower()}.org",
        "GlueCEImplementationName": chance.choice(("CREAM", "LCG-CE")),
        "GlueCECapability": [f"CPUScalingReferenceSI00={chance.choice((1500, 2000))}", "Share=all:100"],
        "GlueCEAccessControlBaseRule": [f"VO:{vo}" for vo in vos],
        "GlueHostApplicationSoftwareRunTimeEnvironment": [*tags, "GLITE-3_2_0", "R-GMA"],
        "GlueHostArchitecturePlatformType": chance.choice(("x86_64", "x86_64", "x86_64", "i686")),
        "GlueHostArchitectureSMPSize": chance.choice((2, 4, 8, 16)),
        "GlueHostBenchmarkSI00": chance.choice((381, 1000, 1500, 1714, 2000, 2400, 3100)),
        "GlueHostBenchmarkSF00": chance.choice((0, 1000, 1500)),
        "GlueHostMainMemoryRAMSize": chance.choice((512, 1024, 2048, 4096, 16384)),
        "GlueHostMainMemoryVirtualSize": chance.choice((1024, 4096, 8192)),
        "GlueHostNetworkAdapterInboundIP": False,
        "GlueHostNetworkAdapterOutboundIP": chance.random() < 0.9,
        "GlueHostOperatingSystemName": chance.choice(
            ("ScientificSL", "ScientificCERNSLC", "CentOS", "Debian")
        ),
        "GlueHostOperatingSystemRelease": chance.choice(("4.6", "5.3", "5.8", "6.2")),
        "GlueHostOperatingSystemVersion": chance.choice(("Beryllium", "Boron", "Carbon")),
        "GlueHostProcessorVendor": chance.choice(("intel", "amd")),
        "GlueHostProcessorModel": chance.choice(("Xeon", "Opteron", "P4")),
        "GlueHostProcessorClockSpeed": chance.choice((2000, 2400, 2666, 3000)),
        "GlueSubClusterPhysicalCPUs": chance.choice((16, 64, 256)),
        "GlueSubClusterLogicalCPUs": chance.choice((64, 256, 1024)),
        "GlueCESEBindGroupSEUniqueID": [f"se.{name.lower()}.org"],
        "cpus": chance.choice((4, 16, 64, 200, 1000, 3000)),
    }


def _element(chance: random.Random, site: dict[str, Any], number: int) -> Resource:
    queue, minutes = QUEUES[number % len(QUEUES)]
    host = f"ce{number // len(QUEUES):06}.{site['GlueSiteName'].lower()}.org"
    total = site["cpus"]
    free = chance.choice((0, 0, total // 2, chance.randint(0, total)))
    waiting = 0 if free else chance.choice((0, 3, 150, chance.randint(0, 2000)))
    known = {name: value for name, value in site.items() if name != "cpus"}
    known |= {
        "GlueCEName": queue,
        "GlueCEInfoHostName": host,
        "GlueCEInfoGatekeeperPort": "8443",
        "GlueCEInfoContactString": [f"{host}:8443/cream-pbs-{queue}"],
        "GlueCEInfoJobManager": "pbs",
        "GlueCEStateStatus": "Production" if chance.random() < 0.95 else "Draining",
        "GlueCEStateEstimatedResponseTime": chance.choice((0, 2146660842, chance.randint(0, 100_000))),
        "GlueCEStateWorstResponseTime": chance.choice((0, 2146660842, chance.randint(0, 1_000_000))),
        "GlueCEPolicyMaxWallClockTime": minutes,
        "GlueCEPolicyMaxCPUTime": minutes,
        "GlueCEPolicyMaxTotalJobs": 999999999,
        "GlueCEPolicyMaxRunningJobs": 999999999,
        "GlueCEPolicyMaxWaitingJobs": 999999999,
        "GlueCEPolicyMaxSlotsPerJob": 999999999,
        "GlueCEPolicyAssignedJobSlots": total,
        "GlueCEPolicyPriority": 1,
        "GlueCEPolicyPreemption": 0,
    }
    ce = f"{host}:8443/cream-pbs-{queue}"
    return Resource(ce, site["GlueSiteName"], total, free, total - free, waiting, 0.0, known)
