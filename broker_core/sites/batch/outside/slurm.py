"""Jobs outside CrossDesk at Slurm: squeue, scontrol, and sacct where there is accounting."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from broker_core.sites.batch.commands import count_in
from broker_core.sites.batch.outside.reader import OutsideFacts, outside_job
from broker_core.sites.batch.slurm_lists import JOBS, read_jobs
from broker_core.sites.batch.system import BatchSystem
from broker_core.sites.outside import OutsideEnd
from broker_core.wire.outside import OutsideJob

_MORE = "%P|%C|%V|%S|"
_LINE = re.compile(r"([^|]*)\|(\d+)\|([^|]*)\|([^|]*)\|([A-Z_]+\|.*)")
_FACT = re.compile(r"(?:^| )([A-Z][\w/:]*)=(\S*)")
_ALONE = re.compile(r"\s*(Command|WorkDir|Comment|AdminComment|StdErr|StdIn|StdOut|JobName)=(.*)")
"""Values that may have blanks stand last in their lines."""
_SHOWN = (
    *(
        "JobState",
        "Reason",
        "Dependency",
        "Account",
        "QOS",
        "Partition",
        "SubmitTime",
        "StartTime",
        "EndTime",
    ),
    *("TimeLimit", "NodeList", "NumNodes", "NumCPUs", "TRES", "ReqTRES", "MinMemoryNode", "MinMemoryCPU"),
    *("Features", "Licenses", "ExitCode", "Command", "WorkDir", "StdOut", "StdErr", "Comment"),
)
_NOTHING = frozenset({"", "(null)", "N/A", "None", "Unknown"})
_STATES = {"COMPLETED": "Done", "CANCELLED": "Canceled"}
_ACTIVE = frozenset({"PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING", "COMPLETING", "CONFIGURING"})


class SlurmOutside:
    """See `OutsideReader`."""

    def __init__(self, prefix: str = "") -> None:
        """`prefix`: ahead of every command, see `Slurm.prefix`."""
        self._prefix = prefix

    def status(self, system: BatchSystem, mark: str) -> str:
        """The same squeue with more columns; times as numbers."""
        return f"export SLURM_TIME_FORMAT=%s; {system.status(mark).replace(JOBS, _MORE + JOBS)}"

    def split(self, out: str, mark: str) -> tuple[str, list[OutsideJob]]:
        """Lines `queue|cpus|submitted|start|` and what `read_jobs` takes; names may go on in a next line."""
        narrow: list[str] = []
        jobs: list[OutsideJob] = []
        for line in out.removesuffix("\n").split("\n") if out else ():
            found = _LINE.fullmatch(line)
            narrow.append(found[5] if found else line)
            if found is not None:
                jobs += _jobs(found)
        return "".join(f"{line}\n" for line in narrow), jobs

    def details(self, id: str) -> str:
        """scontrol."""
        return self._prefix + shlex.join(["scontrol", "show", "job", id])

    def described(self, out: str) -> OutsideFacts:
        """Of an array whose tasks wait, what they have in common."""
        values: dict[str, str] = {}
        for line in out.splitlines():
            alone = _ALONE.fullmatch(line)
            pairs = [alone.groups()] if alone else _FACT.findall(line)
            for name, value in pairs:
                values.setdefault(name, value)
        facts = [(name, values[name]) for name in _SHOWN if values.get(name, "") not in _NOTHING]
        return OutsideFacts(facts, _path(values.get("StdOut", "")), _path(values.get("StdErr", "")))

    def ends(self, ids: Sequence[str]) -> str:
        """sacct; without accounting what the controller remembers for some minutes."""
        words = ["sacct", "-X", "-n", "-P", "-j", ",".join(ids), "-o", "JobID,State,ExitCode,Start,End"]
        remembered = "; ".join(shlex.join(["scontrol", "-o", "show", "job", id]) for id in ids)
        return self._prefix + (
            f"export SLURM_TIME_FORMAT=%s; {shlex.join(words)} 2>/dev/null || {{ {remembered}; }} 2>&1 || :"
        )

    def ended(self, out: str) -> dict[str, OutsideEnd]:
        """Lines of sacct, or of scontrol."""
        return dict(_ends(out))


def _jobs(found: re.Match[str]) -> Iterator[OutsideJob]:
    for listed in read_jobs(f"{found[5]}\n"):
        word = found[5].partition("|")[0]
        yield outside_job(
            listed,
            word,
            reason=listed.reason or _why(found[5]),
            queue=found[1],
            cpus=count_in(found[2]) or 1,
            submitted=_time(found[3]),
            # Of one that waits it is when it may start.
            started=_time(found[4]) if listed.seen.name == "RUNNING" else None,
        )


def _why(line: str) -> str:
    """What a job waits for, also where that is its turn alone."""
    state, reason = line.split("|", 2)[:2]
    return reason if state == "PENDING" and reason != "None" else ""


def _ends(out: str) -> Iterator[tuple[str, OutsideEnd]]:
    for line in out.splitlines():
        parts = line.split("|")
        if len(parts) != 5:
            values = dict(_FACT.findall(line))
            task = f"_{values['ArrayTaskId']}" if values.get("ArrayTaskId") else ""
            id = f"{values.get('ArrayJobId', values.get('JobId', ''))}{task}"
            keys = ("JobState", "ExitCode", "StartTime", "EndTime")
            parts = [id, *(values.get(key, "") for key in keys)]
        word = parts[1].partition(" ")[0]
        if not word or word in _ACTIVE:
            continue
        code = parts[2].partition(":")[0]
        # An exit code says more than that it failed.
        failed = "Done" if word == "FAILED" and code.strip("0") else "Aborted"
        yield (
            parts[0],
            OutsideEnd(
                _STATES.get(word, failed),
                word,
                int(code) if code.isdigit() else None,
                _time(parts[4]),
                _time(parts[3]),
            ),
        )


def _time(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() else None


def _path(text: str) -> str:
    return text if text.startswith("/") else ""
