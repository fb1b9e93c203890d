"""This machine as the information system tells of it: facts under their GLUE 1.3 names (CB-ENV-04)."""

from __future__ import annotations

import os
import platform
import shutil
from functools import cache
from typing import Any

_BENCHMARK_SI00 = 2000
"""SpecInt2000 of one core of a common machine; a constant, since nothing here can measure it honestly."""
_PROGRAMS = ("python3", "bash", "perl", "gcc", "g++", "gfortran", "R", "octave", "java", "apptainer")


def usable_cpus() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def machine_facts() -> dict[str, Any]:
    """What does not change while the machine runs."""
    release = _os_release()
    return {
        "GlueHostName": platform.node() or "localhost",
        "GlueHostArchitecturePlatformType": platform.machine(),
        "GlueHostArchitectureSMPSize": os.cpu_count() or 1,
        "GlueHostOperatingSystemName": release.get("NAME", platform.system()),
        "GlueHostOperatingSystemRelease": release.get("VERSION_ID", platform.release()),
        "GlueHostOperatingSystemVersion": release.get("VERSION_CODENAME", platform.version()),
        "GlueHostProcessorModel": _first_value("/proc/cpuinfo", "model name"),
        "GlueHostProcessorVendor": _first_value("/proc/cpuinfo", "vendor_id"),
        "GlueHostBenchmarkSI00": _BENCHMARK_SI00,
        "GlueHostMainMemoryRAMSize": _memory("MemTotal"),
        "GlueHostMainMemoryVirtualSize": _memory("MemTotal") + _memory("SwapTotal"),
        "GlueHostNetworkAdapterInboundIP": False,
        "GlueHostNetworkAdapterOutboundIP": True,
        "GlueHostApplicationRunTimeEnvironment": run_time_environment(),
    }


def run_time_environment() -> list[str]:
    """Tags of installed software, in capitals: what `Requirements` can ask for with `Member`."""
    found = [name for name in _PROGRAMS if shutil.which(name)]
    return ["CROSSDESK", "POSIX", *(name.upper().replace("+", "PLUS") for name in found)]


def changing_facts(directory: str) -> dict[str, Any]:
    """What changes all the time: memory, load and room on the disk of `directory`."""
    try:
        one, five, fifteen = os.getloadavg()
    except OSError:
        one = five = fifteen = 0.0
    return {
        "GlueHostMainMemoryRAMAvailable": _memory("MemAvailable"),
        "GlueHostProcessorLoadLast1Min": one,
        "GlueHostProcessorLoadLast5Min": five,
        "GlueHostProcessorLoadLast15Min": fifteen,
        "GlueHostLocalFileSystemAvailableSpace": shutil.disk_usage(directory).free // 1_000_000,
    }


def _os_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _first_value(path: str, name: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith(name)), "")
    except OSError:
        return ""


def memory_mb() -> int:
    """Main memory in MBytes; 0 if it is not known."""
    return _memory("MemTotal")


def _memory(name: str) -> int:
    """MBytes of an entry of /proc/meminfo; 0 if it is not known."""
    words = _first_value("/proc/meminfo", name).split()
    return int(words[0]) // 1024 if words else 0
