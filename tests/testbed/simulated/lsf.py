"""bsub, bjobs, bresume, bkill, bqueues, bhosts, lshosts and lsid of LSF."""

from __future__ import annotations

import os
import re
import sys
from fnmatch import fnmatchcase

from tests.testbed.simulated.cluster import CPUS, NODE, QUEUES, Cluster, Job, Refused, command_line, options

COMMANDS = ("bsub", "bjobs", "bresume", "bkill", "bqueues", "bhosts", "lshosts", "lsid")
_STATES = {"held": "PSUSP", "queued": "PEND", "running": "RUN"}


def _bsub(words: list[str]) -> str:
    found, rest = options(words, "-J -q -n -o -i -W -R -P -M -U -gpu -sp", "-H -rn -x")
    values = dict(found)
    if values["-q"] not in QUEUES:
        raise Refused(f"{values['-q']}: No such queue. Job not submitted.", 255)
    # As the manual says: the words are put together and read by a shell once more.
    script = " ".join(rest)
    array = re.fullmatch(r"(.*)\[(\d+)-(\d+)\]", values["-J"])
    tasks: list[int | None] = list(range(int(array[2]), int(array[3]) + 1)) if array else [None]
    jobs = [
        Job(
            name=array[1] if array else values["-J"],
            queue=values["-q"],
            cpus=int(values["-n"]),
            script=script,
            held="-H" in values,
            folder=os.getcwd(),
            variables={**os.environ, "LSB_JOBINDEX": str(task or 0), "LSB_JOBNAME": values["-J"]},
            task=task,
        )
        for task in tasks
    ]
    with Cluster() as now:
        number = now.add(jobs)
    return f"Job <{number}> is submitted to queue <{values['-q']}>.\n"


def _bjobs(words: list[str]) -> str:
    values = dict(options(words, "-J -o -u", "-noheader")[0])
    form = re.fullmatch(r"([a-z_ ]+) delimiter='(.)'", values["-o"])
    if form is None:
        raise Refused("bjobs: illegal format", 255)
    with Cluster() as now:
        jobs = [job for job in now.jobs if fnmatchcase(job.name, values.get("-J", "*"))]
    if not jobs:
        sys.stderr.write("No unfinished job found\n")
        return ""
    return "".join(form[2].join(_fields(job)[key] for key in form[1].split()) + "\n" for job in jobs)


def _fields(job: Job) -> dict[str, str]:
    return {
        "jobid": str(job.number),
        "jobindex": str(job.task or 0),
        "stat": _STATES[job.state],
        "queue": job.queue,
        "slots": str(job.cpus) if job.state == "running" else "-",
        "submit_time": "Nov 23 10:00",
        "start_time": "Nov 23 10:01" if job.state == "running" else "-",
        "pend_reason": "Job slot limit reached" if job.state == "queued" else "-",
        "exec_host": (f"{job.cpus}*{NODE}" if job.cpus > 1 else NODE) if job.state == "running" else "-",
        "job_name": job.name if job.task is None else f"{job.name}[{job.task}]",
    }


def _on_each(words: list[str], act: str) -> str:
    said, failed = [], False
    with Cluster() as now:
        for word in words:
            found = re.fullmatch(r"(\d+)(?:\[(\d+)\])?", word)
            if found is None:
                raise Refused(f"{word}: Illegal job ID.", 255)
            task = int(found[2]) if found[2] else None
            jobs = [job for job in now.jobs if job.number == int(found[1]) and task in (None, job.task)]
            if not jobs:
                past = int(found[1]) <= now.last
                words_ = "Job has already finished" if past else "No matching job found"
                said.append(f"Job <{word}>: {words_}")
                failed = True
            for job in jobs:
                if act == "end":
                    now.end(job)
                elif job.state == "held":
                    job.state = "queued"
            if jobs:
                said.append(f"Job <{word}> is being {'terminated' if act == 'end' else 'resumed'}")
    if failed:
        raise Refused("\n".join(said), 255)
    return "\n".join(said) + "\n"


def _bqueues(words: list[str]) -> str:
    with Cluster() as now:
        counts = {
            name: [now.count(state, name) for state in ("held", "queued", "running")] for name in QUEUES
        }
    if words == ["-w"]:
        head = "QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP  RSV PJOBS\n"
        return head + "".join(
            f"{name:15} 30  Open:Active       -    -    -    - {held + queued + run:5} {held + queued:5} "
            f"{run:5}     0    0 {held + queued:5}\n"
            for name, (held, queued, run) in counts.items()
        )
    return "\n".join(_long(name) for name in QUEUES)


def _long(name: str) -> str:
    limit = " RUNLIMIT                \n 10.0 min of hostA      \n\n" if name == "short" else ""
    first = (
        "  -- For most jobs.  This is the default queue.\n" if name == QUEUES[0] else "  -- For short jobs.\n"
    )
    return (
        f"\nQUEUE: {name}\n{first}\nPARAMETERS/STATISTICS\nPRIO NICE STATUS          MAX JL/U\n"
        f" 30   20  Open:Active       -    -\n\n{limit}SCHEDULING PARAMETERS\n           r15s   r1m\n"
        f" loadSched   -     -\n\nUSERS: all  \nHOSTS:  {NODE} node2 \n"
    )


def _bhosts(words: list[str]) -> str:
    with Cluster() as now:
        used, run = CPUS - now.free, now.count("running")
    state = "ok" if used < CPUS else "closed_Full"
    return (
        "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV\n"
        f"{NODE}              {state:15}    -     {CPUS}      {used}      {run}      0      0      0\n"
        "node2              unavail            -     64      0      0      0      0      0\n"
    )


def _lshosts(words: list[str]) -> str:
    return (
        "HOST_NAME                       type       model  cpuf ncpus maxmem maxswp server RESOURCES\n"
        f"{NODE}                       X86_64  Intel_EM64T  60.0     4  15.6G   3.9G    Yes (mg cs)\n"
        "node2                       X86_64  UNKNOWN_AUTO_DETECT   1.0     -      -      -    Yes ()\n"
    )


def _lsid(words: list[str]) -> str:
    return (
        "IBM Spectrum LSF Standard 10.1.0.14, Aug 25 2024\n\nMy cluster name is c\nMy master name is head\n"
    )


if __name__ == "__main__":
    command_line(
        {
            "bsub": _bsub,
            "bjobs": _bjobs,
            "bresume": lambda words: _on_each(words, "release"),
            "bkill": lambda words: _on_each(words, "end"),
            "bqueues": _bqueues,
            "bhosts": _bhosts,
            "lshosts": _lshosts,
            "lsid": _lsid,
        }
    )
