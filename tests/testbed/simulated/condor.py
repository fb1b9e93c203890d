"""condor_submit, condor_q, condor_release, condor_rm, condor_status and condor_version of HTCondor."""

from __future__ import annotations

import os
import re
import sys

from tests.testbed.simulated.cluster import CPUS, NODE, Cluster, Job, Refused, command_line, options

COMMANDS = (
    "condor_submit",
    "condor_q",
    "condor_release",
    "condor_rm",
    "condor_status",
    "condor_version",
)
_STATES = {"queued": "1", "running": "2", "held": "5"}


def _submit(words: list[str]) -> str:
    found, rest = options(words, "-append", "-terse")
    if rest not in ([], ["-"]):
        raise Refused(f"ERROR: Failed to open command file ({rest[0]})")
    lines = sys.stdin.read().splitlines()
    *lines, last = [line for line in lines if line.strip()]
    values: dict[str, str] = {}
    for line in [*lines, *(value for key, value in found if key == "-append")]:
        key, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"\s*\+?[A-Za-z_.]+\s*", key):
            raise Refused(f"ERROR: on Line 1 of submit file: Parse error in expression: {line}")
        values[key.strip().lower()] = value.strip()
    count = int(re.fullmatch(r"queue(?: (\d+))?", last)[1] or 1)
    argument = re.fullmatch(r'"\'(.*)\'"', values["arguments"])[1].replace("''", "'").replace('""', '"')
    jobs = []
    for process in range(count):
        pairs = values["environment"].strip('"').replace("$(Process)", str(process)).split()
        variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
        variables |= dict(pair.split("=", 1) for pair in pairs)
        script = f"exec {values['executable']} {_quoted(argument)} >>{values['output']} 2>&1"
        jobs.append(
            Job(
                name=values["my.crossdeskname"].strip('"'),
                queue="",
                cpus=int(values["request_cpus"]),
                script=script,
                held=values.get("hold") == "True",
                folder=values["initialdir"],
                variables=variables,
                task=process,
                tasks=count,
            )
        )
    with Cluster() as now:
        number = now.add(jobs)
    return f"{number}.0 - {number}.{count - 1}\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _q(words: list[str]) -> str:
    if words == ["-totals"]:
        return "\nTotal for query: 0 jobs\n"
    if words == ["-allusers", "-autoformat", "JobStatus"]:
        with Cluster() as now:
            return "".join(f"{_STATES[job.state]}\n" for job in now.jobs)
    if "-constraint" not in words:
        with Cluster() as now:
            return "".join("\t".join(_attribute(job, key) for key in words[2:]) + "\n" for job in now.jobs)
    _user, constraint, text, form, *keys = words
    wanted = re.fullmatch(r'substr\(CrossDeskName, 0, (\d+)\) == "(.*)"', text)
    if constraint != "-constraint" or form != "-autoformat:t" or wanted is None:
        raise Refused("Error: Parse error of: " + text)
    with Cluster() as now:
        jobs = [job for job in now.jobs if job.name[: int(wanted[1])] == wanted[2]]
    return "".join("\t".join(_attribute(job, key) for key in keys) + "\n" for job in jobs)


def _attribute(job: Job, key: str) -> str:
    values = {
        "ClusterId": str(job.number),
        "ProcId": str(job.task),
        "TotalSubmitProcs": str(job.tasks),
        "JobStatus": _STATES[job.state],
        "CrossDeskName": job.name,
        "Cmd": "/bin/sh",
        "RequestCpus": str(job.cpus),
        "QDate": "1795000000",
    }
    if job.state == "held":
        values |= {"HoldReasonCode": "15", "HoldReason": "submitted on hold at user's request"}
    if job.state == "running":
        values["RemoteHost"] = f"slot1_1@{NODE}"
    return values.get(key, "undefined")


def _on_each(words: list[str], act: str) -> str:
    said, failed = [], False
    with Cluster() as now:
        for word in words:
            found = re.fullmatch(r"(\d+)(?:\.(\d+))?", word)
            if found is None:
                raise Refused(f'Invalid cluster or job "{word}"')
            task = int(found[2]) if found[2] else None
            jobs = [job for job in now.jobs if job.number == int(found[1]) and task in (None, job.task)]
            if act == "release":
                jobs = [job for job in jobs if job.state == "held"]
            for job in jobs:
                if act == "end":
                    now.end(job)
                else:
                    job.state = "queued"
            if not jobs:
                said.append(
                    f"Couldn't find/{'remove' if act == 'end' else 'release'} all jobs in cluster {word}"
                )
                failed = True
            elif act == "end":
                said.append(f"All jobs in cluster {word} have been marked for removal")
            else:
                said.append(f"All jobs in cluster {word} have been released")
    if failed:
        raise Refused("\n".join(said))
    return "\n".join(said) + "\n"


def _status(words: list[str]) -> str:
    with Cluster() as now:
        free, running = now.free, [job for job in now.jobs if job.state == "running"]
    rows = [("Partitionable", "Unclaimed", free, CPUS, 16000)]
    rows += [("Dynamic", "Claimed", job.cpus, CPUS, 16000) for job in running]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _version(words: list[str]) -> str:
    return "$CondorVersion: 24.0.1 2024-10-31 BuildID: 765651 $\n$CondorPlatform: x86_64_Debian12 $\n"


if __name__ == "__main__":
    command_line(
        {
            "condor_submit": _submit,
            "condor_q": _q,
            "condor_release": lambda words: _on_each(words, "release"),
            "condor_rm": lambda words: _on_each(words, "end"),
            "condor_status": _status,
            "condor_version": _version,
        }
    )
