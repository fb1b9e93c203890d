"""What a job uses over time, as it stands in a file beside its output, and what that comes to in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

FILE = ".crossdesk-use"
"""Name of the samples in the job's directory; no file of the job's own, and not listed among them."""
MOST = 512 * 1024
"""Bytes of it that are read: samples come further and further apart."""
_GB, _MB = 1 << 30, 1 << 20
_HUNDREDTHS, _DIGITS = 100, 18
_NOISE = 0.1
"""CPUs or GPUs: a busy one is measured as a little more than one."""


@dataclass(frozen=True, slots=True)
class UseSample:
    """One look at a job."""

    seconds: int
    """Since the first look."""
    cpu_s: float
    """CPU time used until then."""
    memory: int
    """Bytes in main memory."""
    disk: int | None = None
    """Bytes in the job's directory; None: not known."""
    gpu_percent: int | None = None
    """Of one GPU, over all of the job's; None: it has none, or they were not asked."""
    gpu_memory: int | None = None
    """Bytes."""

    def line(self) -> str:
        """As `worker/scripts/use.sh` writes it."""
        disk = "-" if self.disk is None else self.disk // 1024
        gpu = "-" if self.gpu_percent is None else self.gpu_percent
        gpu_memory = "-" if self.gpu_memory is None else self.gpu_memory // _MB
        cpu = round(self.cpu_s * _HUNDREDTHS)
        return f"{self.seconds} {cpu} {self.memory // 1024} {disk} {gpu} {gpu_memory}\n"


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What the description asks for."""

    cpus: int
    memory: int | None = None
    """Bytes on each node; None: it does not say."""
    wall_s: float | None = None
    gpus: int | None = None
    """None: none."""
    disk: int | None = None
    """Bytes of scratch space; None: it does not say."""
    one_program: bool = True
    """The CPUs are those of one program on one node, which samples show whole; else their number stays."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a job came to; None where that is not known."""

    cpus: float | None = None
    """Mean number of busy CPUs."""
    memory: int | None = None
    """Most bytes in main memory at one look."""
    disk: int | None = None
    gpus: float | None = None
    """Mean number of busy GPUs."""
    wall_s: float | None = None
    most_cpus: float | None = None
    """Busy CPUs between the two looks with the most of them."""
    most_gpus: float | None = None


def samples_of(raw: bytes) -> list[UseSample]:
    """The samples of a file, in their order; a job can write there, so what makes no sense is left out."""
    found: list[UseSample] = []
    for line in raw[:MOST].decode("ascii", "replace").splitlines():
        words = line.split()
        if len(words) != 6 or any(len(one) > _DIGITS for one in words):
            continue
        if not all(one.isascii() and one.isdigit() for one in words[:3]):
            continue
        seconds, cpu, memory = map(int, words[:3])
        if not found or seconds > found[-1].seconds:
            disk, gpu, gpu_memory = (_number(one) for one in words[3:])
            found.append(
                UseSample(
                    seconds,
                    cpu / _HUNDREDTHS,
                    memory * 1024,
                    None if disk is None else disk * 1024,
                    gpu,
                    None if gpu_memory is None else gpu_memory * _MB,
                )
            )
    return found


def busy(samples: list[UseSample]) -> list[float]:
    """Busy CPUs between each sample and the one before, for all but the first."""
    return [
        max(0.0, later.cpu_s - one.cpu_s) / (later.seconds - one.seconds) for one, later in pairwise(samples)
    ]


def used(samples: list[UseSample], usage: Mapping[str, float]) -> Used:
    """What it came to, by its samples and by what its end says (`AttemptEnded.usage`)."""
    wall, cpu = usage.get("wall_s"), usage.get("cpu_s")
    if wall is None and len(samples) > 1:
        wall, cpu = samples[-1].seconds - samples[0].seconds, samples[-1].cpu_s - samples[0].cpu_s
    memory = [one.memory for one in samples] + [int(usage.get("max_rss_bytes", 0))]
    gpus = [one.gpu_percent for one in samples if one.gpu_percent is not None]
    return Used(
        cpus=cpu / wall if wall and cpu is not None else None,
        memory=max(memory) or None,
        disk=max((one.disk for one in samples if one.disk is not None), default=None),
        gpus=sum(gpus) / len(gpus) / 100 if gpus else None,
        wall_s=wall,
        most_cpus=max(busy(samples), default=None),
        most_gpus=max(gpus) / 100 if gpus else None,
    )


def in_words(found: Used, asked: AskedFor) -> str:
    """`Used 1.2 of 16 GB of memory and 0.9 of 8 CPUs.`; empty where nothing is known."""
    parts = []
    if found.memory is not None:
        parts.append(f"{_amount(found.memory, asked.memory)} of memory")
    if found.cpus is not None:
        parts.append(f"{found.cpus:.1f} of {asked.cpus} CPU{'' if asked.cpus == 1 else 's'}")
    if found.gpus is not None:
        of = f" of {asked.gpus}" if asked.gpus else ""
        parts.append(f"{found.gpus:.1f}{of} GPU{'' if asked.gpus == 1 else 's'}")
    if found.disk is not None:
        parts.append(f"{_amount(found.disk, asked.disk)} of disk")
    return f"Used {listed(parts)}." if parts else ""


def _fewer(most: float | None, asked: int | None) -> int:
    """As many as were busy at the same time, where fewer than were asked for; else, or if not known, 0."""
    if most is None or asked is None:
        return 0
    wanted = max(1, ceil(most - _NOISE))
    return wanted if wanted < asked else 0


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def better(found: Used, asked: AskedFor) -> dict[str, str]:
    """Attributes with figures that fit what the job used, with room to spare; those that fit are left out."""
    changes: dict[str, str] = {}
    if asked.one_program and (cpus := _fewer(found.most_cpus, asked.cpus)):
        changes["CpuNumber"] = str(cpus)
    if gpus := _fewer(found.most_gpus, asked.gpus):
        changes["GPUNumber"] = str(gpus)
    if found.memory is not None:
        wanted = max(100, -(-found.memory * 5 // 4 // _MB // 100) * 100)
        # Memory for each CPU would be less of it with fewer of them.
        if changes or asked.memory is None or asked.memory != wanted * _MB:
            changes["MemoryPerNode"] = str(wanted)
    if found.wall_s is not None:
        minutes = max(5, -(-int(found.wall_s * 1.5) // 300) * 5)
        if asked.wall_s is None or asked.wall_s != minutes * 60:
            changes["WallTime"] = f'"{minutes}m"'
    return changes


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() else None


def _amount(amount: int, of: int | None) -> str:
    if of is None:
        return _size(amount)
    if of >= _GB:
        return f"{amount / _GB:.1f} of {of / _GB:.3g} GB"
    return f"{amount / _MB:.0f} of {of / _MB:.0f} MB"


def _size(amount: int) -> str:
    return f"{amount / _GB:.1f} GB" if amount >= _GB else f"{amount / _MB:.0f} MB"
