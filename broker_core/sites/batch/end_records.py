"""What batch systems write down of the ends of jobs: their commands, and how what these print is read.

Asked for ends that the starter could not tell: killed with its node, at a limit, or before it began. Slurm
and Grid Engine are tested with real ones, the others by texts as their manuals show them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from broker_core.sites.adapter import EndRecord
from broker_core.sites.batch.commands import task_of

_SEPARATOR = "@@@"
_MEMORY, _TIME, _LOST = "out-of-memory", "wall-limit", "lost"
_OVER_MEMORY = "it needed more memory than it had asked for"
_OVER_TIME = "its time was over"
_NODE_FAILED = "its node failed"
_SLURM_ENDS = {
    "OUT_OF_MEMORY": (_MEMORY, _OVER_MEMORY),
    "TIMEOUT": (_TIME, _OVER_TIME),
    "DEADLINE": (_TIME, "its deadline had passed"),
    "NODE_FAIL": (_LOST, _NODE_FAILED),
    "BOOT_FAIL": (_LOST, "its node did not start"),
    "PREEMPTED": (_LOST, "another job took its place"),
    "CANCELLED": (_LOST, "it was canceled there"),
    "FAILED": ("", ""),
    "COMPLETED": ("", ""),
}
_LSF_ENDS = {
    "TERM_MEMLIMIT": (_MEMORY, _OVER_MEMORY),
    "TERM_SWAP": (_MEMORY, _OVER_MEMORY),
    "TERM_RUNLIMIT": (_TIME, _OVER_TIME),
    "TERM_DEADLINE": (_TIME, "its deadline had passed"),
    "TERM_WINDOW": (_LOST, "its queue closed"),
    "TERM_PREEMPT": (_LOST, "another job took its place"),
    "TERM_ADMIN": (_LOST, "an administrator ended it"),
    "TERM_OWNER": (_LOST, "it was canceled there"),
    "TERM_CPULIMIT": (_LOST, "its processor time was over"),
}
_COMMENTS = (
    (re.compile(r"\bwall ?time\b.*\bexceeded\b", re.IGNORECASE), (_TIME, _OVER_TIME)),
    (
        re.compile(r"\bv?mem\b.*\bexceeded\b|MemoryUsage|out of memory", re.IGNORECASE),
        (_MEMORY, _OVER_MEMORY),
    ),
    (re.compile(r"\bnode\b.*\bfail|\blost contact\b", re.IGNORECASE), (_LOST, _NODE_FAILED)),
)
"""Words in which PBS and HTCondor tell why a job was ended."""
_SIZE = re.compile(r"([\d.]+) ?([KMGT]?)(?:i?B|bytes?)?\b", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class WithoutEndRecords:
    """Half of a batch system that writes nothing down of what ended."""

    def end_records(self, ids: Sequence[str]) -> str:
        """See `BatchSystem.end_records`."""
        return ""

    def read_end_records(self, out: str) -> dict[str, EndRecord]:
        """Nothing is known."""
        return {}


def ask_slurm(ids: Sequence[str]) -> str:
    """squeue for what ended minutes ago, which needs no database; sacct, where there is one."""
    named = shlex.quote(",".join(ids))
    return (
        f'squeue -h -r -t all -j {named} -o "%i|%T" 2>/dev/null; echo {_SEPARATOR}; '
        f"sacct -n -P -j {named} -o JobID,State,MaxRSS 2>/dev/null; :"
    )


def read_slurm(out: str) -> dict[str, EndRecord]:
    """Jobs that are over, with the highest memory of their steps."""
    listed, _, accounted = out.partition(f"{_SEPARATOR}\n")
    states: dict[str, str] = {}
    peaks: dict[str, int] = {}
    for line in accounted.splitlines():
        step, state, *memory = line.split("|")
        id, _, name = step.partition(".")
        peaks[id] = max(peaks.get(id, 0), _bytes(memory[0]) if memory else 0)
        if not name:
            states[id] = state
    states |= dict(line.split("|", 1) for line in listed.splitlines() if "|" in line)
    found = {}
    for id, state in states.items():
        word = state.split()[0].rstrip("+") if state.split() else ""
        if word in _SLURM_ENDS:
            found[id] = EndRecord(word, *_SLURM_ENDS[word], peaks.get(id, 0))
    return found


def ask_grid_engine(ids: Sequence[str]) -> str:
    """qacct, which reads a file, once for each job."""
    words = (["qacct", "-j", job, *(["-t", task] if task else [])] for job, task in map(task_of, ids))
    return "; ".join(f"{shlex.join(one)} 2>/dev/null" for one in words) + "; :"


def read_grid_engine(out: str) -> dict[str, EndRecord]:
    """A limit that was enforced is one of time if the job was there for so long."""
    found = {}
    for fields in _blocks(out):
        job, task = fields.get("jobnumber", ""), fields.get("taskid", "")
        if not job.isdigit():
            continue
        failed = fields.get("failed", "0")
        limit = re.search(r"\bh_rt=(\d+)\b", fields.get("category", ""))
        spent = _number(fields.get("ru_wallclock", ""))
        state = f"failed {failed}"
        if limit and failed.split()[0] != "0" and spent >= int(limit[1]):
            ends = _TIME, _OVER_TIME
        elif failed.startswith("37 "):
            ends = _LOST, "it went beyond a limit of time or memory"
        elif failed.split()[0] == "0":
            ends, state = ("", ""), f"exit_status {fields.get('exit_status', '')}"
        else:
            ends = _LOST, "it was ended there"
        id = f"{job}_{task}" if task.isdigit() else job
        found[id] = EndRecord(" ".join(state.split()), *ends, _bytes(fields.get("maxvmem", "")))
    return found


def ask_pbs(ids: Sequence[str]) -> str:
    """qstat's history where the server keeps one, else its log, which not every account may read."""
    words = [f"{job}[{task}]" if task else job for job, task in map(task_of, ids)]
    each = (f"{{ qstat -x -f {one} || tracejob -n 2 {one}; }} 2>/dev/null" for one in map(shlex.quote, words))
    return "; ".join(each) + "; :"


def read_pbs(out: str) -> dict[str, EndRecord]:
    """By the server's comment, which says what limit was exceeded."""
    found = {}
    for block in re.split(r"(?m)^(?=Job(?: Id)?: )", _unfolded(out)):
        head = re.match(r"Job(?: Id)?: (\d+)(?:\[(\d+)\])?", block)
        if head is None or not re.search(r"Exit_status ?=", block):
            continue
        memory = re.search(r"resources_used\.mem ?= ?(\w+)", block)
        status = re.search(r"Exit_status ?= ?(-?\d+)", block)
        id = f"{head[1]}_{head[2]}" if head[2] else head[1]
        found[id] = EndRecord(
            f"Exit_status {status[1] if status else ''}",
            *_by_comment(block),
            _bytes(memory[1] if memory else ""),
        )
    return found


def ask_lsf(ids: Sequence[str]) -> str:
    """bhist, which reads the log of events."""
    words = [f"{job}[{task}]" if task else job for job, task in map(task_of, ids)]
    return f"bhist -l {shlex.join(words)} 2>/dev/null; :"


def read_lsf(out: str) -> dict[str, EndRecord]:
    """By LSF's own names for reasons of a termination."""
    found = {}
    for block in re.split(r"(?m)^(?=Job <)", _unfolded(out)):
        head = re.match(r"Job <(\d+)(?:\[(\d+)\])?>", block)
        if head is None or not re.search(r"\b(Exited|Done successfully|TERM_\w+)", block):
            continue
        reason = re.search(r"\bTERM_\w+", block)
        memory = re.search(r"MAX MEM: ([\d.]+ \w+)", block)
        state = reason[0] if reason else "Exited"
        id = f"{head[1]}_{head[2]}" if head[2] else head[1]
        ends = _LSF_ENDS.get(state, (_LOST, "it was ended there") if reason else ("", ""))
        found[id] = EndRecord(state, *ends, _bytes(memory[1] if memory else ""))
    return found


def ask_condor(ids: Sequence[str]) -> str:
    """condor_history; it ends at the job that it finds."""
    words = [f"{job}.{task or 0}" for job, task in map(task_of, ids)]
    columns = "ClusterId ProcId JobStatus MemoryUsage RemoveReason LastHoldReason"
    each = (f"condor_history {one} -limit 1 -af:t {columns} 2>/dev/null" for one in map(shlex.quote, words))
    return "; ".join(each) + "; :"


def read_condor(out: str) -> dict[str, EndRecord]:
    """By the reason of a removal or a hold; memory is told in MiB."""
    found = {}
    for line in out.splitlines():
        cluster, _, rest = line.partition("\t")
        if not cluster.isdigit() or rest.count("\t") < 2:
            continue
        process, status, memory, *reasons = rest.split("\t")
        reason = next((one for one in reasons if one != "undefined"), "")
        ends = _by_comment(reason)
        state = reason[:200] or f"JobStatus {status}"
        peak = int(_number(memory)) << 20
        for id in (f"{cluster}_{process}", *((cluster,) if process == "0" else ())):
            found[id] = EndRecord(state, *ends, peak)
    return found


def _by_comment(text: str) -> tuple[str, str]:
    known = next((ends for pattern, ends in _COMMENTS if pattern.search(text)), None)
    return known or ("", "")


def _blocks(out: str) -> Iterator[dict[str, str]]:
    """Lines `key value` between lines of `=`."""
    for block in re.split(r"(?m)^=+$", out):
        lines = (line.split(None, 1) for line in block.splitlines() if line.strip())
        if fields := {line[0]: line[1].strip() if len(line) > 1 else "" for line in lines}:
            yield fields


def _unfolded(out: str) -> str:
    """Without the breaks of long lines: what goes on is indented by a tab or by many spaces."""
    return re.sub(r"\n(?:\t| {15,})", "", out)


def _number(text: str) -> float:
    found = re.match(r"[\d.]+", text)
    try:
        return float(found[0]) if found else 0.0
    except ValueError:
        return 0.0


def _bytes(text: str) -> int:
    found = _SIZE.match(text.strip())
    try:
        return int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    except ValueError:
        return 0
