"""Jobs outside CrossDesk, at each batch system: listed with the broker's own, of which they are none."""

from __future__ import annotations

import pytest

from broker_core.sites.batch.outside.condor import CondorOutside
from broker_core.sites.batch.outside.grid_engine import GridEngineOutside
from broker_core.sites.batch.outside.lsf import LsfOutside
from broker_core.sites.batch.outside.pbs import PbsOutside
from broker_core.sites.batch.outside.reader import OutsideReader
from broker_core.sites.batch.outside.readers import reader_for
from broker_core.sites.batch.outside.slurm import SlurmOutside
from broker_core.sites.outside import OutsideEnd
from broker_core.wire.outside import OutsideJob
from tests.sites.batch.beds import Bed
from tests.waiting import wait_until

MARK = "mineabcd"


def seen(bed: Bed) -> tuple[set[str], dict[str, OutsideJob]]:
    """Names in the broker's own list, and all jobs by name, by one command."""
    reader = reader_for(bed.system)
    assert reader is not None
    narrow, jobs = reader.split(bed.run(reader.status(bed.system, MARK)), MARK)
    own = {job.name for job in bed.system.listed(narrow)}
    return own, {job.name.partition("-")[0]: job for job in jobs}


def ends(bed: Bed, *ids: str) -> dict[str, OutsideEnd]:
    """What accounting tells."""
    reader = reader_for(bed.system)
    assert reader is not None
    return reader.ended(bed.run(reader.ends(ids)))


def test_the_list_tells_of_them_and_of_the_brokers_own(bed: Bed) -> None:
    if bed.system.kind == "shell" or reader_for(bed.system) is None:
        assert reader_for(bed.system) is None
        return
    assert seen(bed) == (set(), {})
    gate = bed.folder / "gate"
    script = bed.script("waits", f"while [ ! -e {gate} ]; do sleep 0.1; done")
    bed.submit(f"{MARK}.t1", script)
    theirs = bed.submit("theirs", script, cpus=bed.parallel)
    own, jobs = seen(bed)
    assert f"{MARK}.t1" in own
    assert jobs.keys() == {f"{MARK}.t1", "theirs"}
    job = jobs["theirs"]
    assert (job.id.partition("_")[0], job.state, job.exit_code) == (theirs, "Waiting", None)
    assert job.word
    bed.release(theirs)
    wait_until(lambda: seen(bed)[1]["theirs"].state == "Running", 60, "it runs")
    running = seen(bed)[1]["theirs"]
    assert (running.queue, running.cpus, bool(running.node)) == (bed.queue, bed.parallel, True)
    if bed.system.kind in ("slurm", "sge"):  # Grid Engine tells when one was submitted while it waits
        assert job.submitted
        assert job.submitted <= (running.started or 0.0)
    bed.cancel(theirs)
    wait_until(lambda: "theirs" not in seen(bed)[1], 60, "it is gone")


@pytest.mark.cluster
@pytest.mark.parametrize("bed", ["slurm", "sge"], indirect=True)
def test_facts_paths_and_ends_are_told(bed: Bed) -> None:
    reader = reader_for(bed.system)
    assert reader is not None
    fails = bed.submit("fails", bed.script("fails", "exit 4"))
    held = bed.submit("held", bed.script("held", "true"))
    found = reader.described(bed.run(reader.details(held)))
    assert found.stdout.startswith("/")
    assert "held" in " ".join(value for _, value in found.facts).lower().replace("hold", "held")
    bed.release(fails)
    bed.cancel(held)
    told: dict[str, OutsideEnd] = {}

    def known() -> bool:
        told.update(ends(bed, fails, held))
        return fails in told

    wait_until(known, 60, "accounting knows the end")
    assert (told[fails].state, told[fails].exit_code) == ("Done", 4)
    assert told[fails].ended


@pytest.mark.parametrize("reader", [SlurmOutside(), GridEngineOutside(), PbsOutside(), LsfOutside()])
def test_what_is_no_list_is_refused_or_passed_on(reader: OutsideReader) -> None:
    garbage = "Connection refused\n\x1b[2J|||\n"
    if isinstance(reader, SlurmOutside):
        assert reader.split(garbage, MARK) == (garbage, [])  # the broker's own list refuses it
        return
    with pytest.raises(ValueError, match="no time zone"):
        reader.split(garbage, MARK)


def test_slurms_words_become_ours() -> None:
    lines = (
        "main|4|1795000000|1795000100|RUNNING|None|n1|7|a|b",
        "main,long|1|1795000000|N/A|PENDING|QOSMaxJobsPerUserLimit||8_2|x",
        "main|1|1795000000|N/A|PENDING|Dependency||9|x\ny",
    )
    _, jobs = SlurmOutside().split("".join(f"{line}\n" for line in lines), MARK)
    assert [(job.id, job.name, job.state, job.word) for job in jobs] == [
        ("7", "a|b", "Running", "RUNNING"),
        ("8_2", "x", "Waiting", "PENDING"),
        ("9", "x", "Waiting", "PENDING"),
    ]
    assert jobs[1].reason.endswith("(QOSMaxJobsPerUserLimit)")
    assert jobs[2].reason == "Dependency"
    out = (
        "7|FAILED|3:0|1795000100|1795000200\n8_2|CANCELLED by 0|0:15||\n9|TIMEOUT|0:0|1795000100|1795000200\n"
    )
    told = SlurmOutside().ended(out)
    assert {id: (end.state, end.exit_code) for id, end in told.items()} == {
        "7": ("Done", 3),
        "8_2": ("Canceled", 0),
        "9": ("Aborted", 0),
    }


def test_paths_of_output_are_found_in_the_words_of_each() -> None:
    pbs = PbsOutside().described(
        "Job Id: 12.host\n    Job_Name = a\n    Error_Path = host:/home/a/a.e12\n"
        "    Output_Path = host:/home/a/very/lo\n\tng.o12\n    comment = Not Running: too many jobs\n"
    )
    assert (pbs.stdout, pbs.stderr) == ("/home/a/very/long.o12", "/home/a/a.e12")
    assert ("comment", "Not Running: too many jobs") in pbs.facts
    lsf = LsfOutside().described("Job <3>, Job Name <a>, Status <RUN>, Output File </home/a/o>, Command <x>")
    assert (lsf.stdout, lsf.stderr) == ("/home/a/o", "")
    condor = CondorOutside().described(
        'Iwd = "/home/a"\nOut = "o.txt"\nErr = "/dev/null"\nHoldReason = "disk"\n'
    )
    assert (condor.stdout, condor.stderr) == ("/home/a/o.txt", "")
    assert ("HoldReason", "disk") in condor.facts
