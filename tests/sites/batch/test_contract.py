"""What is asked of every batch system; run against real ones, and simulated commands where there is none."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.system import BatchJob
from tests.running import ended
from tests.sites.batch.beds import Bed, gone
from tests.waiting import wait_until

_NUMBERS = itertools.count(os.getpid() * 1000)
_LIVE = (AttemptStatus.HELD, AttemptStatus.QUEUED, AttemptStatus.RUNNING)


def _mark() -> str:
    """A mark that no other test uses."""
    return f"m{next(_NUMBERS)}"


def _until_released(bed: Bed) -> str:
    """Body of a script that tells of its start, and runs until `go` is there."""
    return f'echo "$$" >> {bed.folder}/started; until [ -e {bed.folder}/go ]; do sleep 0.1; done'


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_a_submitted_job_is_held_runs_once_it_is_released_and_goes(bed: Bed) -> None:
    mark = _mark()
    other = bed.submit(f"{mark}.b.1", bed.script("b", "true"))
    bed.release(other)
    gone(bed, mark, other)  # time enough for a job that is not held
    id = bed.submit(f"{mark}.a.1", bed.script("a", _until_released(bed)))
    witness = bed.submit(f"{mark}.c.1", bed.script("c", "true"))
    bed.release(witness)
    gone(bed, mark, witness)
    assert bed.listed(mark)[id].seen is AttemptStatus.HELD
    assert bed.listed(mark)[id].name == f"{mark}.a.1"
    assert not (bed.folder / "started").exists()
    bed.release(id)
    wait_until(lambda: bed.listed(mark)[id].seen is AttemptStatus.RUNNING, what="it runs")
    assert bed.listed(mark)[id].node
    wait_until(lambda: _read(bed.folder / "started"))
    bed.release(id)
    (bed.folder / "go").touch()
    gone(bed, mark, id)
    assert len(_read(bed.folder / "started").split()) == 1


def test_a_held_job_can_be_canceled_and_never_starts(bed: Bed) -> None:
    mark = _mark()
    id = bed.submit(f"{mark}.a.1", bed.script("a", _until_released(bed)))
    bed.cancel(id)
    gone(bed, mark, id)
    bed.release(id)
    bed.cancel(id)
    witness = bed.submit(f"{mark}.b.1", bed.script("b", "true"))
    bed.release(witness)
    gone(bed, mark, witness)
    assert not (bed.folder / "started").exists()


def test_a_running_job_can_be_canceled(bed: Bed) -> None:
    mark = _mark()
    id = bed.submit(f"{mark}.a.1", bed.script("a", _until_released(bed)))
    bed.release(id)
    wait_until(lambda: _read(bed.folder / "started").endswith("\n"), what="it has started")
    pid = int(_read(bed.folder / "started"))
    bed.cancel(id)
    gone(bed, mark, id)
    wait_until(lambda: ended(pid), what="its process is gone")


def test_many_jobs_are_released_and_canceled_by_one_command_and_those_that_ended_are_no_error(
    bed: Bed,
) -> None:
    mark = _mark()
    script = bed.script("a", _until_released(bed))
    ids = [bed.submit(f"{mark}.{number}.1", script) for number in range(3)]
    bed.cancel(ids[1])
    gone(bed, mark, ids[1])
    bed.release(*ids)
    wait_until(lambda: len(_read(bed.folder / "started").split()) == 2, what="two run")
    bed.cancel(*ids)
    for id in ids:
        gone(bed, mark, id)
    bed.cancel(*ids)


def test_the_list_has_all_jobs_of_a_mark_and_no_others(bed: Bed) -> None:
    mark, other = _mark(), _mark()
    script = bed.script("a", "true")
    mine = {bed.submit(f"{mark}.{number}.1", script) for number in range(2)}
    theirs = bed.submit(f"{other}.{mark}.1", script)
    assert set(bed.listed(mark)) == mine
    assert set(bed.listed(other)) == {theirs}
    assert bed.listed(_mark()) == {}


def test_the_tasks_of_an_array_run_with_their_numbers(bed: Bed) -> None:
    if not bed.system.task_variable:
        assert bed.system.first_task == 0
        return
    mark, first = _mark(), bed.system.first_task
    body = f"echo ${bed.system.task_variable} >> {bed.folder}/started\n"
    body += f"[ ${bed.system.task_variable} = {first} ] || until [ -e {bed.folder}/go ]; do sleep 0.1; done"
    id = bed.submit(f"{mark}.a.1", bed.script("a", body), count=4)
    tasks = {job.task for job in bed.listed(mark).values()}
    assert {job.seen for job in bed.listed(mark).values()} == {AttemptStatus.HELD}
    assert {job.name for job in bed.listed(mark).values()} == {f"{mark}.a.1"}
    assert tasks in ({first, first + 1, first + 2, first + 3}, {None})
    bed.release(id)
    wait_until(lambda: len(_read(bed.folder / "started").split()) == 4, what="all run")
    assert set(_read(bed.folder / "started").split()) == {str(first + number) for number in range(4)}
    live = wait_until(lambda: _live_tasks(bed, mark, 3), what="three tasks are listed")
    bed.cancel(f"{id}_{first + 1}")
    wait_until(lambda: set(_live_tasks(bed, mark, 2)) == set(live) - {f"{id}_{first + 1}"}, what="one less")
    (bed.folder / "go").touch()
    gone(bed, mark, id)


def _live_tasks(bed: Bed, mark: str, count: int) -> dict[str, int]:
    """Ids of the tasks that live, once there are `count`."""
    found = {job.id: job.task for job in bed.listed(mark).values() if job.seen in _LIVE}
    return found if len(found) == count else {}


def test_a_job_with_several_processors_gets_them(bed: Bed) -> None:
    mark, before = _mark(), _idle_queue(bed).free
    id = bed.submit(f"{mark}.a.1", bed.script("a", _until_released(bed)), cpus=bed.parallel)
    bed.release(id)
    wait_until(lambda: _read(bed.folder / "started"), what="it has started")
    wait_until(lambda: _queue(bed).free <= before - bed.parallel, what="its processors are not free")
    (bed.folder / "go").touch()
    gone(bed, mark, id)


def test_an_unknown_queue_is_refused_in_the_words_of_the_batch_system(bed: Bed) -> None:
    job = BatchJob(f"{_mark()}.a.1", str(bed.script("a", "true")), 1, "nosuchqueue")
    done = bed.ask(bed.system.submit(job))
    assert done.returncode != 0
    assert (
        "queue" in (done.stdout + done.stderr).lower() or "partition" in (done.stdout + done.stderr).lower()
    )


def test_hostile_values_reach_the_batch_system_as_they_are(bed: Bed) -> None:
    trap = bed.folder / "trapped"
    for value in (f"$(touch {trap}) `touch {trap}`; touch {trap}", f"'; touch {trap}; '\"; touch {trap}\n"):
        for more in ({"queue": value}, {"options": (value,)}, {"queue": value, "cpus": 2}):
            values = {"cpus": 1, "queue": bed.queue} | more
            job = BatchJob(f"{_mark()}.a.1", str(bed.script("a", "true")), **values)
            done = bed.ask(bed.system.submit(job))
            if done.returncode == 0:  # some take anything as a word before the command
                bed.made.append(bed.system.submitted(done.stdout))
        bed.ask(bed.system.cancel([value]))
        bed.ask(bed.system.release([value]))
        bed.ask(bed.system.status(value))
    assert not trap.exists()


def test_queues_are_described(bed: Bed) -> None:
    queue = _queue(bed)
    assert queue.open
    assert queue.total >= queue.free >= 0
    assert queue.total > 0
    assert queue.memory > 0


def test_waiting_jobs_of_a_queue_are_counted(bed: Bed) -> None:
    mark = _mark()
    total = _idle_queue(bed).total
    script = bed.script("a", _until_released(bed))
    ids = [bed.submit(f"{mark}.{number}.1", script) for number in range(total + 1)]
    bed.release(*ids)
    wait_until(lambda: (_queue(bed).waiting_jobs, _queue(bed).free) == (1, 0), what="one waits")
    (bed.folder / "go").touch()


def test_it_is_detected_with_its_version(bed: Bed) -> None:
    assert any(character.isdigit() for character in bed.run(bed.system.detect()))


def _queue(bed: Bed):
    return next(
        queue for queue in bed.system.described(bed.run(bed.system.queues())) if queue.name == bed.queue
    )


def _idle_queue(bed: Bed):
    """The queue once what former tests left in it is gone: a cancel takes its time."""

    def idle() -> bool:
        now = _queue(bed)
        return (now.waiting_jobs, now.free) == (0, now.total)

    wait_until(idle, what="the queue is empty")
    return _queue(bed)
