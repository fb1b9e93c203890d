"""What batch systems print, read: recorded answers of real ones, answers as in the manuals, and garbage."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.condor import Condor
from broker_core.sites.batch.grid_engine import GridEngine
from broker_core.sites.batch.host import Host
from broker_core.sites.batch.lsf import Lsf
from broker_core.sites.batch.pbs import Pbs
from broker_core.sites.batch.slurm import Slurm
from broker_core.sites.batch.system import BatchJob, BatchSystem, Listed
from broker_core.sites.batch.systems import SYSTEMS

_RECORDED = Path(__file__).parent / "recorded"
_GE_JOBS = (_RECORDED / "grid_engine_jobs.xml").read_text()
_GE_QUEUES = (_RECORDED / "grid_engine_queues.xml").read_text()
_PBS_JOBS = (_RECORDED / "pbs_jobs.txt").read_text()
_PBS_QUEUES = (_RECORDED / "pbs_queues.txt").read_text()
_TORQUE_QUEUES = (_RECORDED / "torque_queues.txt").read_text()
_LSF_JOBS = (_RECORDED / "lsf_jobs.txt").read_text()
_LSF_QUEUES = (_RECORDED / "lsf_queues.txt").read_text()
_CONDOR_JOBS = (_RECORDED / "condor_jobs.txt").read_text()
_CONDOR_QUEUES = (_RECORDED / "condor_queues.txt").read_text()
_HOST_JOBS = "host node1\nheld 0000000001 m1.a.1\nrunning 0000000002 m1.b.1\n.\n"
_HOST_QUEUES = "processors 4 used 3 running 2 waiting 1 memory 900\n"
_WHOLE: list[tuple[BatchSystem, str, str]] = [
    (GridEngine(), _GE_JOBS, _GE_QUEUES),
    (Pbs(), _PBS_JOBS, _PBS_QUEUES),
    (Pbs(), _PBS_JOBS, _TORQUE_QUEUES),
    (Lsf(), _LSF_JOBS, _LSF_QUEUES),
    (Condor(), _CONDOR_JOBS, _CONDOR_QUEUES),
    (Host(), _HOST_JOBS, _HOST_QUEUES),
]
_ENDS = [case for case in _WHOLE if not isinstance(case[0], Pbs)]
"""Those whose lists show that they are whole; for PBS the exit status does."""


def _by_id(system: BatchSystem, text: str) -> dict[str, Listed]:
    return {job.id: job for job in system.listed(text)}


def test_grid_engine_lists_running_tasks_and_a_job_that_it_could_not_start() -> None:
    jobs = _by_id(GridEngine(), _GE_JOBS)
    assert {id: (job.seen, job.task, job.node) for id, job in jobs.items()} == {
        "6_2": (AttemptStatus.RUNNING, 2, "node1"),
        "6_4": (AttemptStatus.RUNNING, 4, "node1"),
        "6_6": (AttemptStatus.RUNNING, 6, "node1"),
        "7": (AttemptStatus.ENDED, None, ""),
    }
    assert "Eqw" in jobs["7"].reason
    assert {job.name for job in jobs.values()} == {"m2.run", "m2.err"}


def test_grid_engine_describes_a_disabled_queue_and_one_with_a_limit() -> None:
    queues = {queue.name: queue for queue in GridEngine().described(_GE_QUEUES)}
    main, short = queues["main"], queues["short"]
    assert (main.open, main.total, main.free, main.wall_limit) == (False, 8, 0, None)
    assert (short.open, short.total, short.free, short.wall_limit) == (True, 8, 0, 600.0)
    assert short.memory == int(23.541 * 1024)
    assert main.waiting_jobs > 0


def test_pbs_lists_whole_names_over_continued_lines_and_the_hold_of_an_array_for_its_tasks() -> None:
    jobs = _by_id(Pbs(), _PBS_JOBS)
    name = "m2.a-very-long-name-that-is-longer-than-a-line-of-this-list-can-be-without-being-continued.1"
    assert jobs["12"] == Listed("12", name, AttemptStatus.RUNNING, node="node1")
    assert {id: job.seen for id, job in jobs.items()} == {
        "12": AttemptStatus.RUNNING,
        "13_0": AttemptStatus.HELD,
        "13_1": AttemptStatus.HELD,
        "14": AttemptStatus.QUEUED,
        "15": AttemptStatus.ENDED,
    }
    assert jobs["14"].reason == "Not Running: Insufficient amount of resource: ncpus"


def test_pbs_reads_jobs_whose_variables_are_functions_of_a_shell() -> None:
    text = """mark m1
Job Id: 7.pbs
    Job_Name = of_another
    job_state = R
    Variable_List = PBS_O_HOME=/home/u,BASH_FUNC_module%%=() {  eval `/usr/bin/mod
\tulecmd bash $*`;

  return 0
},PBS_O_SHELL=/bin/bash
    comment = Job run at Sun
Job Id: 8.pbs
    Job_Name = m1.j.1
    job_state = Q
"""
    assert [(one.id, one.seen) for one in Pbs().listed(text)] == [("8", AttemptStatus.QUEUED)]
    with pytest.raises(ValueError, match="something else"):
        Pbs().listed("mark m1\nConnection refused\n")


def test_pbs_professional_counts_what_its_nodes_have() -> None:
    queues = {queue.name: queue for queue in Pbs().described(_PBS_QUEUES)}
    assert set(queues) == {"workq", "night"}
    work = queues["workq"]
    assert (work.total, work.free, work.running_jobs, work.waiting_jobs) == (24, 13, 3, 5)
    assert (work.default, work.open, work.wall_limit, work.memory) == (True, True, 14400.0, 16039)
    assert (queues["night"].open, queues["night"].total) == (False, 32)
    assert work.most_tasks == 10000


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ("MaxArraySize            = 1001 SchedulerParameters     = bf_interval=2", 1001),
        ("MaxArraySize            = 1001 SchedulerParameters     = bf_interval=2,max_array_tasks=50", 50),
        ("MaxArraySize            = 0 SchedulerParameters     = (null)", 1),
        ("", None),
    ],
)
def test_slurm_tells_how_long_an_array_may_be(settings: str, most: int | None) -> None:
    (queue,) = Slurm().described(f"{settings}\nmain*|up|4:00:00|3200|4/28/0/32|mix\n\n      3 main|R\n")
    assert (queue.most_tasks, queue.free, queue.running_jobs) == (most, 28, 3)


def test_torque_counts_the_jobs_that_its_nodes_name() -> None:
    (batch,) = Pbs().described(_TORQUE_QUEUES)
    assert (batch.total, batch.free, batch.memory) == (12, 6, 16039)
    assert batch.wall_limit is None


def test_lsf_lists_tasks_with_their_array_and_hosts() -> None:
    jobs = _by_id(Lsf(), _LSF_JOBS)
    assert jobs["101"] == Listed("101", "m2.a.1", AttemptStatus.RUNNING, node="node1")
    assert jobs["102"] == Listed("102", "m2.b.1", AttemptStatus.RUNNING, node="node2")
    assert jobs["103_2"] == Listed("103_2", "m2.c", AttemptStatus.HELD, task=2)
    assert jobs["104"].seen is AttemptStatus.QUEUED
    assert jobs["105"].reason != ""


def test_lsf_describes_queues_with_limits_and_their_hosts() -> None:
    queues = {queue.name: queue for queue in Lsf().described(_LSF_QUEUES)}
    normal, short = queues["normal"], queues["short"]
    assert (normal.total, normal.free, normal.default, normal.wall_limit) == (12, 5, True, None)
    assert (normal.running_jobs, normal.waiting_jobs, normal.memory) == (7, 2, 15974)
    assert (short.total, short.free, short.open, short.wall_limit) == (8, 5, False, 600.0)


def test_condor_tells_its_own_hold_from_one_by_an_error() -> None:
    jobs = _by_id(Condor(), _CONDOR_JOBS)
    assert jobs["21"].seen is AttemptStatus.HELD
    assert jobs["22_0"] == Listed("22_0", "m2.b", AttemptStatus.RUNNING, node="node1", task=0)
    assert jobs["22_1"].seen is AttemptStatus.QUEUED
    assert jobs["23"].seen is AttemptStatus.ENDED
    assert "cannot open log" in jobs["23"].reason


def test_condor_counts_divided_slots_once() -> None:
    (pool,) = Condor().described(_CONDOR_QUEUES)
    assert (pool.total, pool.free, pool.running_jobs, pool.waiting_jobs) == (20, 13, 2, 1)
    assert pool.memory == 7900


def test_the_host_lists_its_states() -> None:
    assert {job.id: job.seen for job in Host().listed(_HOST_JOBS)} == {
        "0000000001": AttemptStatus.HELD,
        "0000000002": AttemptStatus.RUNNING,
    }


@pytest.mark.parametrize(("system", "jobs", "queues"), _ENDS, ids=lambda value: getattr(value, "kind", ""))
def test_a_part_of_a_list_is_no_list(system: BatchSystem, jobs: str, queues: str) -> None:
    body = jobs.rstrip()
    for end in range(0, len(body) - 1, max(1, len(body) // 200)):
        with pytest.raises(ValueError, match=r"\w"):
            system.listed(body[:end])


@pytest.mark.parametrize(
    ("system", "out", "id"),
    [
        (GridEngine(), "12\n", "12"),
        (GridEngine(), "12.1-5:1\n", "12"),
        (Pbs(), "12.head.example.org\n", "12"),
        (Pbs(), "12[].head\n", "12"),
        (Lsf(), "Job <12> is submitted to default queue <normal>.\n", "12"),
        (Lsf(), "note from the site\nJob <12> is submitted to queue <q>.\n", "12"),
        (Condor(), "12.0 - 12.0\n", "12"),
        (Condor(), "12.0 - 12.41\n", "12"),
        (Host(), "0000000012\n", "0000000012"),
    ],
)
def test_the_number_of_a_new_job_is_read(system: BatchSystem, out: str, id: str) -> None:
    assert system.submitted(out) == id


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: system.kind)
@given(text=st.text(st.characters(exclude_categories=["Nd"])))
@example(text="\u00b2")
def test_no_number_is_made_of_words_without_one(system: BatchSystem, text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        system.submitted(text)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: system.kind)
@given(text=st.text())
def test_garbage_is_refused_by_a_value_error_and_by_nothing_else(system: BatchSystem, text: str) -> None:
    for read in (system.submitted, system.listed, system.described):
        try:
            read(text)
        except ValueError:
            continue


@pytest.mark.parametrize(("system", "jobs", "queues"), _WHOLE, ids=lambda value: getattr(value, "kind", ""))
@given(data=st.data())
def test_damaged_lists_give_a_value_error_or_no_job_that_is_not_there(
    system: BatchSystem, jobs: str, queues: str, data: st.DataObject
) -> None:
    """A piece is cut out or put in."""
    whole = Counter(job.id.partition("_")[0] for job in system.listed(jobs))
    start = data.draw(st.integers(0, len(jobs)))
    end = data.draw(st.integers(start, min(len(jobs), start + 40)))
    put = data.draw(st.sampled_from(["", "\n", " ", "|", "\t", "<x>", "\ufffd", "-"]))
    try:
        found = system.listed(jobs[:start] + put + jobs[end:])
    except ValueError:
        return
    assert len(found) <= sum(whole.values()) + 1
    cut = data.draw(st.integers(0, len(queues)))
    try:
        system.described(queues[:cut] + put + queues[cut + len(put) :])
    except ValueError:
        return


def test_a_document_type_is_no_part_of_a_list() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><job_info>&b;</job_info>'
    with pytest.raises(ValueError, match="document type"):
        GridEngine().described(bomb)


def test_a_plain_host_takes_no_name_that_is_no_file_and_no_array() -> None:
    with pytest.raises(ValueError, match="name of a job"):
        Host().submit(BatchJob("../a", "/tmp/a", 1, "default"))
    with pytest.raises(ValueError, match="no arrays"):
        Host().submit(BatchJob("m1.a", "/tmp/a", 1, "default", count=2))


def test_a_parallel_environment_of_the_settings_is_taken_as_it_is() -> None:
    text = GridEngine().submit(BatchJob("m1.a", "/tmp/a", 4, "main", options=("-pe", "smp", "2", "-P", "x")))
    assert text.endswith("-P x -pe smp 4")
