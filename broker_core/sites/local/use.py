"""What the jobs of this machine use: this process looks, so that a job costs no process more."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from broker_core.jobs.use import FILE, UseSample
from broker_core.sites.local.run import LocalRun, Running

log = logging.getLogger("crossdesk.sites")
_SHARE = 1000
"""Looking takes no more than this part of a CPU's time."""
_LEAST = 5.0
"""Seconds between two looks."""
_DISK = 300.0
_GPU = 60.0
_GPU_SECONDS = 10
"""After which NVIDIA's driver counts as gone."""
_GROWING = 500
"""Samples of a job are apart by at least this part of its age, so that they stay few."""
_TICK, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True)
class _Watched:
    """One job that is looked at."""

    folder: str
    since: float
    last: float
    gpus: Sequence[str] = ()
    """Ids of those that it was given."""
    disk: int | None = None
    disk_due: float = field(default=0.0)
    gpus_due: float = field(default=0.0)


class UseSampler:
    """Looks at the sessions of job starters, at intervals that follow from what a look takes."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}
        self._due = 0.0
        self.kernel_kills = kernel_kills()
        """How often the kernel had ended a process for want of memory when `is_due` was asked last."""

    def is_due(self) -> bool:
        """True once it is time for the next look; to be asked every second or so."""
        self.kernel_kills = kernel_kills()
        return time.monotonic() >= self._due

    def sample(self, runs: Iterable[LocalRun]) -> None:
        """Look at all of these that run; for a thread."""
        begun, now = time.thread_time(), time.monotonic()
        going = (one for one in runs if isinstance(one.stage, Running) and one.starter)
        known = {
            one.starter: self._watched.get(one.starter)
            or _Watched(one.directory.job, now, now, one.directory.gpus())
            for one in going
        }
        old = {starter: one for starter, one in known.items() if starter in self._watched}
        self._watched = known
        if old:
            for starter, (cpu, memory) in _by_session(old).items():
                one = old[starter]
                if now - one.last >= (now - one.since) / _GROWING:
                    one.last = now
                    figures = (int(now - one.since), cpu, memory, _disk(one, now), *_gpu(one, now))
                    _write(one, UseSample(*figures))
        self._due = now + max(_LEAST, _SHARE * (time.thread_time() - begun))


def kernel_kills() -> int:
    """How often this machine's kernel ended a process for want of memory; 0 where it does not say."""
    try:
        with open("/proc/vmstat", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0


def _by_session(wanted: Iterable[int]) -> dict[int, tuple[float, int]]:
    """CPU seconds and bytes in memory of the processes of each session."""
    found = {session: [0, 0] for session in wanted}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                words = file.read().rpartition(b") ")[2].split()
        except OSError:
            continue
        if len(words) > 21 and (sums := found.get(int(words[3]))) is not None:
            sums[0] += sum(map(int, words[11:15]))
            sums[1] += int(words[21])
    return {session: (ticks / _TICK, pages * _PAGE) for session, (ticks, pages) in found.items() if pages}


def _disk(one: _Watched, now: float) -> int | None:
    """Bytes in its directory, counted rarely, and the more so the longer it takes."""
    if now >= one.disk_due:
        begun = time.thread_time()
        one.disk = 0
        for folder, _, names in os.walk(one.folder):
            for name in names:
                try:
                    one.disk += os.lstat(f"{folder}/{name}").st_blocks * 512
                except OSError:
                    continue
        one.disk_due = now + _DISK + _SHARE * (time.thread_time() - begun)
    return one.disk


def _gpu(one: _Watched, now: float) -> tuple[int | None, int | None]:
    """Per cent of one GPU, and bytes, over all that the job has; nothing where the driver does not tell."""
    if not one.gpus or now < one.gpus_due:
        return None, None
    one.gpus_due = now + _GPU
    words = ["nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(
            [*words, "-i", ",".join(one.gpus)], capture_output=True, timeout=_GPU_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.info("The use of GPUs is not known: %s", error)
        return None, None
    # A part of a GPU has no figure of its own: `[N/A]`.
    found = [re.fullmatch(rb"\s*(\d+), *(\d+)\s*", line) for line in done.stdout.splitlines()]
    pairs = [(int(one[1]), int(one[2])) for one in found if one is not None]
    if not pairs or len(pairs) < len(found):
        return None, None
    return sum(percent for percent, _ in pairs), sum(mb for _, mb in pairs) << 20


def _write(one: _Watched, sample: UseSample) -> None:
    """Add a sample; a job that is gone, or left no room, has none."""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        file = os.open(f"{one.folder}/{FILE}", flags, 0o600)
    except OSError:
        return
    try:
        os.write(file, sample.line().encode())
    except OSError:
        pass  # the disk is full: the job has the room that is left
    finally:
        os.close(file)
