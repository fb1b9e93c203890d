"""A stand-in for the schedd and the collector behind HTCondor's bindings, on the pretended cluster.

All the rest of htcondor2 and classad2 is the real one: descriptions, constraints and results.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Callable
from typing import Any

import classad2
import htcondor2
from htcondor2._schedd import DefaultItemData

from broker_core.sites.batch import condor_schedd
from broker_core.sites.batch.condor_lists import NAME
from tests.testbed.simulated.cluster import CPUS, NODE, Cluster, Job

_STATES = {"queued": 1, "running": 2, "held": 5, "removed": 3}
_PAST = "past"
"""Jobs that left the queue; in a file of the cluster's folder, one ad a line."""


class Schedd:
    """Takes, lists, releases and removes jobs of the pretended cluster."""

    def __init__(self, location: classad2.ClassAd | None = None) -> None:
        self._location = location

    def submit(
        self,
        description: htcondor2.Submit,
        count: int = 0,
        spool: bool = False,
        itemdata: Any = DefaultItemData,
        queue: str | None = None,
    ) -> htcondor2.SubmitResult:
        assert isinstance(description, htcondor2.Submit)
        assert (spool, itemdata, queue) == (False, DefaultItemData, None)
        count = count or int(description.getQArgs() or 1)
        with Cluster() as now:
            number = now.add([_job(description, process, count) for process in range(count)])
        return htcondor2.SubmitResult(number, 0, count, classad2.ClassAd(), None)

    def query(
        self,
        constraint: str | classad2.ExprTree = "True",
        projection: list[str] = [],  # noqa: B006
        callback: Callable[[classad2.ClassAd], Any] | None = None,
        limit: int = -1,
        opts: htcondor2.QueryOpt = htcondor2.QueryOpt.Default,
    ) -> list[classad2.ClassAd]:
        with Cluster() as now:
            ads = [_ad(job) for job in now.jobs]
        return _chosen(ads, constraint, projection)[: limit if limit >= 0 else None]

    def act(
        self,
        action: htcondor2.JobAction,
        job_spec: list[str] | str | classad2.ExprTree | int,
        reason: str | None = None,
    ) -> classad2.ClassAd:
        assert reason is None, "the bindings pass a reason on only as a pair"
        totals = dict.fromkeys(("Error", "Success", "NotFound", "BadStatus", "PermissionDenied"), 0)
        with Cluster() as now:
            for id in job_spec:
                jobs = [job for job in now.jobs if id in (f"{job.number}", f"{job.number}.{job.task}")]
                totals["NotFound"] += not jobs
                for job in jobs:
                    totals["Success" if _done(action, job, now) else "BadStatus"] += 1
        return classad2.ClassAd({f"Total{key}": value for key, value in totals.items()})

    def history(
        self,
        constraint: str | classad2.ExprTree | None = None,
        projection: list[str] = [],  # noqa: B006
        match: int = -1,
        since: int | str | classad2.ExprTree | None = None,
    ) -> list[classad2.ClassAd]:
        if not os.path.exists(_past()):
            return []
        with open(_past()) as past:
            ads = [classad2.ClassAd(line) for line in past]
        stop = classad2.ExprTree(str(since))
        recent = []
        for ad in reversed(ads):
            if stop.eval(ad) is True:
                break
            recent.append(ad)
        return _chosen(recent, constraint, projection)[: match if match >= 0 else None]


class Collector:
    """Tells of the one node."""

    def __init__(
        self,
        pool: str | classad2.ClassAd | list[str] | tuple[str, ...] | None = None,
        security: htcondor2.SecurityContext | None = None,
    ) -> None:
        self._pool = pool

    def query(
        self,
        ad_type: htcondor2.AdType = htcondor2.AdType.Any,
        constraint: str | None = None,
        projection: list[str] | None = None,
        statistics: str | None = None,
    ) -> list[classad2.ClassAd]:
        assert ad_type is htcondor2.AdType.Startd
        with Cluster() as now:
            free, running = now.free, [job for job in now.jobs if job.state == "running"]
        slots = [("Partitionable", "Unclaimed", free), *(("Dynamic", "Claimed", job.cpus) for job in running)]
        return [
            classad2.ClassAd(
                {
                    "SlotType": kind,
                    "State": state,
                    "Cpus": cpus,
                    "TotalSlotCpus": CPUS,
                    "TotalSlotMemory": 16000,
                }
            )
            for kind, state, cpus in slots
        ]


def _past() -> str:
    return os.path.join(os.environ["CROSSDESK_SIMULATED"], _PAST)


def _chosen(ads: list[classad2.ClassAd], constraint: object, projection: list[str]) -> list[classad2.ClassAd]:
    wanted = classad2.ExprTree(str(constraint))
    return [
        classad2.ClassAd({key: ad[key] for key in projection or ad if key in ad})
        for ad in ads
        if wanted.eval(ad) is True
    ]


def _done(action: htcondor2.JobAction, job: Job, now: Cluster) -> bool:
    if action is htcondor2.JobAction.Remove:
        ad = _ad(job)
        ad["JobStatus"], ad["EnteredCurrentStatus"] = _STATES["removed"], int(time.time())
        ad["RemoveReason"] = "Python-initiated action (by user root)"
        if not job.ending:
            with open(_past(), "a") as past:
                past.write(f"{' '.join(repr(ad).split())}\n")
        now.end(job)
        return True
    assert action is htcondor2.JobAction.Release
    if job.state != "held":
        return False
    job.state = "queued"
    return True


def _ad(job: Job) -> classad2.ClassAd:
    """What a schedd tells of a job, as far as it is asked."""
    ad = classad2.ClassAd(
        {
            "ClusterId": job.number,
            "ProcId": job.task,
            "TotalSubmitProcs": job.tasks,
            "JobStatus": _STATES[job.state],
            NAME: job.name,
        }
    )
    if job.state == "held":
        ad["HoldReasonCode"], ad["HoldReason"] = 15, "submitted on hold at user's request"
    if job.state == "running":
        ad["RemoteHost"] = f"slot1_1@{NODE}"
    return ad


def _job(description: htcondor2.Submit, process: int, count: int) -> Job:
    """A job as the description asks for it; values are expressions of the ClassAd language where they are."""
    argument = re.fullmatch(r'"\'(.*)\'"', description["arguments"])[1].replace("''", "'").replace('""', '"')
    pairs = description["environment"].strip('"').replace("$(Process)", str(process)).split()
    script = f"exec {description['executable']} {shlex.quote(argument)} >>{description['output']} 2>&1"
    return Job(
        name=classad2.ExprTree(description[f"My.{NAME}"]).eval(),
        queue="",
        cpus=int(description["request_cpus"]),
        script=script,
        held=description.get("hold") == "True",
        folder=description["initialdir"],
        variables={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
        | dict(pair.split("=", 1) for pair in pairs),
        task=process,
        tasks=count,
    )


if __name__ == "__main__":
    htcondor2.Schedd, htcondor2.Collector = Schedd, Collector
    sys.exit(condor_schedd.main(sys.argv[1:]))
