"""Tags and notes in the store: written with their submission, changed as a whole, purged with their jobs."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.repair import repair
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.jobs.annotations import Annotation, AnnotationChange, change_of
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.made import OWNER, first, life, open_store, step, submission

CALIB = Annotation(("calib",), "of June")


async def test_a_submission_keeps_the_tags_of_its_jobs_and_a_page_shows_them(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = [first(store), first(store)]
    ids = [entry.event.job for entry in entries]
    await store.submit(replace(submission(entries), annotations={ids[0]: CALIB}))
    page = await store.jobs_page(columns=("tags", "state", "note"))
    assert page.columns == {
        "tags": ["", "calib"], "state": ["Submitted", "Submitted"], "note": ["", "of June"]
    }  # fmt: skip
    assert await store.annotations(ids) == {ids[0]: CALIB}
    store.close()
    assert check(tmp_path) == []


async def test_a_change_is_made_once_for_all_jobs_and_says_which_were_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = [first(store) for _ in range(3)]
    ids = [entry.event.job for entry in entries]
    full = Annotation(tuple(f"t{number}" for number in range(16)))
    await store.submit(replace(submission(entries), annotations={ids[1]: full}))
    wanted, done = store.annotate(OWNER, ids, change_of(["calib"], note="of June"))
    await done
    assert list(wanted.refused) == [ids[1]]
    assert await store.annotations(ids) == {ids[0]: CALIB, ids[1]: full, ids[2]: CALIB}
    last = store.position
    changed = await store.annotations_between(OWNER, entries[-1].event.position, last, 10)
    assert changed == [(last - 2, ids[0], "calib", "of June"), (last, ids[2], "calib", "of June")]
    assert await store.annotations_between("bob", 0, last, 10) == []
    store.close()
    store = open_store(tmp_path)
    assert store.position == last
    store.close()


async def test_tags_go_with_their_job_and_do_not_come_back(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = life(store)
    job = entries[0].event.job
    await store.submit(replace(submission(entries[:1]), annotations={job: CALIB}))
    await store.append(entries[1:])
    gone = store.append([step(store, entries[-1].record, EventType.PURGED)])
    late, done = store.annotate(OWNER, [job], change_of(["late"]))
    await gone
    await done
    again, done = store.annotate(OWNER, [job], change_of(["later"]))
    await done
    assert await store.annotations([job]) == {}
    assert again.refused == {job: "There is no such job."}
    assert late.change == AnnotationChange(("late",))
    store.close()


async def test_a_repair_keeps_tags_and_notes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = [first(store)]
    job = entries[0].event.job
    await store.submit(replace(submission(entries), annotations={job: CALIB}))
    store.close()
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE jobs SET state = 'Done'")
    assert repair(tmp_path, host="here", pid=1).findings
    store = open_store(tmp_path)
    assert await store.annotations([job]) == {job: CALIB}
    store.close()


_ANNOTATE = """
import asyncio, os, signal, sys
from dataclasses import replace
from pathlib import Path
from broker_core.jobs.annotations import Annotation, change_of
from tests.bookkeeping.made import OWNER, first, open_store, submission

async def main():
    store = open_store(Path(sys.argv[1]))
    entries = [first(store) for _ in range(200)]
    ids = [entry.event.job for entry in entries]
    await store.submit(replace(submission(entries), annotations=dict.fromkeys(ids, Annotation(("t0",)))))
    os.write(1, b"0\\n")
    for number in range(1, 100000):
        await store.annotate(OWNER, ids, change_of([f"t{number}"], [f"t{number - 1}"]))[1]
        os.write(1, b"%d\\n" % number)

asyncio.run(main())
"""


async def test_after_a_kill_all_jobs_have_the_tag_that_was_acknowledged_or_the_next(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _ANNOTATE, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(25)]
        child.kill()
        lines += child.stdout.readlines()
    assert child.returncode == -signal.SIGKILL
    told = int(lines[-1])
    store = open_store(tmp_path)
    tags = set((await store.jobs_page(columns=("tags",))).columns["tags"])
    assert tags in ({f"t{told}"}, {f"t{told + 1}"})
    store.close()
    assert check(tmp_path) == []
