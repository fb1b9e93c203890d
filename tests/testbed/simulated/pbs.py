"""qsub, qstat, qselect, qrls, qdel and pbsnodes of PBS Professional or of Torque."""

from __future__ import annotations

import os
import pwd
import re
import sys

from tests.testbed.simulated.cluster import CPUS, NODE, QUEUES, Cluster, Job, Refused, command_line, options

COMMANDS = ("qsub", "qstat", "qselect", "qrls", "qdel", "pbsnodes")
FLAVOUR = "CROSSDESK_SIMULATED_PBS"
"""Environment variable: `torque` or `professional`."""
_SERVER = "head"


def _user() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


def _torque() -> bool:
    return os.environ[FLAVOUR] == "torque"


def _qsub(words: list[str]) -> str:
    found, rest = options(
        words, "-N -q -l -r -m -S -j -o -v -W -A -P -p " + ("-t" if _torque() else "-J"), "-h -n"
    )
    values = dict(found)
    if rest:
        raise Refused("qsub: script file:: No such file or directory")
    if values["-q"] not in QUEUES:
        raise Refused("qsub: Unknown queue", 170)
    tasks = values.get("-t" if _torque() else "-J")
    if tasks and not _torque() and values.get("-r") == "n":
        raise Refused("qsub: Job arrays must be rerunnable", 1)
    if len(values["-N"]) > (15 if _torque() else 230):
        raise Refused("qsub: illegal -N value", 2)
    cpus = _cpus([value for key, value in found if key == "-l"])
    script = sys.stdin.read()
    numbers: list[int | None] = [None]
    if tasks:
        first, _, last = tasks.partition("-")
        numbers = list(range(int(first), int(last) + 1))
    with Cluster() as now:
        number = now.add([_job(values, cpus, script, task) for task in numbers])
    return f"{number}{'[]' if tasks else ''}.{_SERVER}\n"


def _cpus(wants: list[str]) -> int:
    """Processors of a job with these `-l`; raises Refused for what is not known."""
    chunk = (
        r"\d+:ppn=\d+(?::gpus=\d+)?"
        if _torque()
        else r"\d+:ncpus=\d+:mpiprocs=\d+(?::mem=\d+mb)?(?::ngpus=\d+)?"
    )
    pattern = rf"{'nodes' if _torque() else 'select'}=({chunk}(?:\+{chunk})*)"
    found = [match for want in wants if (match := re.fullmatch(pattern, want))]
    known = re.compile(pattern + r"|walltime=\d+|pmem=\d+mb|place=[a-z:]+")
    if len(found) != 1 or not all(known.fullmatch(want) for want in wants):
        raise Refused("qsub: Unknown resource type", 1)
    chunks = re.findall(r"(\d+):(?:ppn|ncpus)=(\d+)", found[0][1])
    return sum(int(count) * int(each) for count, each in chunks)


def _job(values: dict[str, str], cpus: int, script: str, task: int | None) -> Job:
    name, _, value = values.get("-v", "").partition("=")
    index = "PBS_ARRAYID" if _torque() else "PBS_ARRAY_INDEX"
    variables = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "PBS_ENVIRONMENT": "PBS_BATCH"}
    variables |= {name: value} if name else {}
    variables |= {} if task is None else {index: str(task)}
    return Job(
        name=values["-N"],
        queue=values["-q"],
        cpus=cpus,
        script=script,
        held="-h" in values,
        folder=os.environ["HOME"],
        variables=variables,
        task=task,
    )


def _id(job: Job) -> str:
    return f"{job.number}{'' if job.task is None else f'[{job.task}]'}.{_SERVER}"


def _wanted(now: Cluster, word: str) -> list[Job]:
    found = re.fullmatch(r"(\d+)(\[(\d*)\])?(?:\.\w+)?", word)
    if found is None:
        raise Refused(f"illegally formed job identifier: {word}", 2)
    jobs = [job for job in now.jobs if job.number == int(found[1])]
    if found[3]:
        return [job for job in jobs if job.task == int(found[3])]
    return [job for job in jobs if (job.task is not None) == bool(found[2])]


def _on_each(command: str, words: list[str], act: str) -> str:
    said = []
    with Cluster() as now:
        for word in words:
            jobs = _wanted(now, word)
            if not jobs:
                said.append(f"{command}: Unknown Job Id {word}.{_SERVER}")
            for job in jobs:
                if act == "end":
                    now.end(job)
                elif job.state == "held":
                    job.state = "queued"
    if said:
        raise Refused("\n".join(said), 153)
    return ""


def _qselect(words: list[str]) -> str:
    values = dict(options(words, "-u", "")[0])
    if values.get("-u") != _user():
        return ""
    with Cluster() as now:
        whole = {f"{job.number}{'' if job.task is None else '[]'}.{_SERVER}" for job in now.jobs}
    return "".join(f"{id}\n" for id in sorted(whole))


def _qstat(words: list[str]) -> str:
    if words == ["--version"]:
        sys.stderr.write("Version: 6.1.3\nCommit: 0\n" if _torque() else "")
        return "" if _torque() else "pbs_version = 23.06.06\n"
    found, rest = options(words, "", "-f -t -B -Q")
    flags = {key for key, _ in found}
    if "-B" in flags:
        return f"Server: {_SERVER}\n    server_state = Active\n    default_queue = {QUEUES[0]}\n"
    with Cluster() as now:
        if "-Q" in flags:
            return "\n".join(_queue(now, name) for name in QUEUES)
        said, blocks = [], []
        for word in rest:
            jobs = _wanted(now, word)
            blocks += [_described(job) for job in jobs]
            if jobs and jobs[0].task is not None and not _torque():
                blocks.append(_parent(jobs))
            if not jobs:
                said.append(f"qstat: Unknown Job Id {word}")
    sys.stdout.write("\n".join(blocks))
    if said:
        raise Refused("\n".join(said), 153)
    return ""


def _described(job: Job) -> str:
    letter = {"held": "H", "queued": "Q", "running": "R"}[job.state]
    # Tasks of a held array are shown as waiting in PBS Professional; its own entry has the hold.
    if job.task is not None and letter == "H" and not _torque():
        letter = "Q"
    name = f"{job.name}-{job.task}" if job.task is not None and _torque() else job.name
    return _block(f"Job Id: {_id(job)}", _attributes(job, letter, name))


def _parent(jobs: list[Job]) -> str:
    letter = "H" if all(job.state == "held" for job in jobs) else "B"
    return _block(
        f"Job Id: {jobs[0].number}[].{_SERVER}", _attributes(jobs[0], letter, jobs[0].name, array=True)
    )


def _attributes(job: Job, letter: str, name: str, *, array: bool = False) -> dict[str, str]:
    values = {"Job_Name": name, "Job_Owner": f"{_user()}@{_SERVER}", "job_state": letter}
    values |= {"queue": job.queue, "array": str(array)}
    if job.state == "running" and not array:
        values["exec_host"] = f"{NODE}/0*{job.cpus}"
    shown = {"PBS_O_HOME": job.folder, "PBS_O_SHELL": "/bin/bash", **job.variables}
    values["Variable_List"] = ",".join(f"{key}={value}" for key, value in shown.items())
    return values | {"comment": "Not Running: Queue not started" if letter == "Q" else ""}


def _block(head: str, values: dict[str, str]) -> str:
    """Long lines go on behind a tab."""
    lines = [head]
    for key, value in values.items():
        if value:
            whole = f"    {key} = {value}"
            lines.append(whole[:78])
            lines += [f"\t{whole[start : start + 70]}" for start in range(78, len(whole), 70)]
    return "\n".join(lines) + "\n"


def _queue(now: Cluster, name: str) -> str:
    counts = f"Transit:0 Queued:{now.count('queued', name)} Held:{now.count('held', name)} "
    counts += f"Waiting:0 Running:{now.count('running', name)} Exiting:0 Begun:0 "
    values = {"queue_type": "Execution", "state_count": counts}
    if name == "short":
        values["resources_max.walltime"] = "00:10:00"
    return _block(f"Queue: {name}", values | {"enabled": "True", "started": "True"})


def _pbsnodes(words: list[str]) -> str:
    if words != ["-a"]:
        raise Refused("usage: pbsnodes -a", 2)
    with Cluster() as now:
        running = [job for job in now.jobs if job.state == "running"]
        used = CPUS - now.free
    if not _torque():
        values = {"state": "free" if used < CPUS else "job-busy", "resources_available.mem": "16424888kb"}
        values |= {"resources_available.ncpus": str(CPUS), "resources_assigned.ncpus": str(used)}
        return _block(NODE, values) + _block("node2", {"state": "down", "resources_available.ncpus": "64"})
    start, jobs = 0, []
    for job in running:
        end = start + job.cpus - 1
        jobs.append(f"{start if end == start else f'{start}-{end}'}/{_id(job)}")
        start = end + 1
    values = {"state": "free", "np": str(CPUS), "jobs": ", ".join(jobs)}
    return _block(NODE, values | {"status": "opsys=linux,physmem=16424888kb,ncpus=4"})


if __name__ == "__main__":
    command_line(
        {
            "qsub": _qsub,
            "qstat": _qstat,
            "qselect": _qselect,
            "qrls": lambda words: _on_each("qrls", words, "release"),
            "qdel": lambda words: _on_each("qdel", words, "end"),
            "pbsnodes": _pbsnodes,
        }
    )
