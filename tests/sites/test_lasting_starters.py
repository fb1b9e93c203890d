"""Jobs by lasting starters: what a program finds is what the Job Starter gives it, and nothing runs twice."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import InputFile, LaunchOrder
from broker_core.sites.local import lasting
from broker_core.sites.local.run import Followed, Handed, Launched
from broker_core.sites.local.settings import LocalSettings
from broker_core.worker.scripts.lasting_starter import started_at
from tests.sites.running_site import QUICK, RunningSite, order, script
from tests.waiting import eventually

FINDS = (
    "env | grep -v ^OLDPWD= | sort; pwd; umask; ulimit -f; ulimit -Hf; id -u; cat; trap; "
    'echo "$0" "$@"; ls -A; echo no >&2'
)


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[tuple[RunningSite, RunningSite]]:
    """A site where each job has a starter of its own, and one where they last."""
    limits = replace(QUICK, file_limit=1 << 20)
    pair = (
        RunningSite(tmp_path / "each", settings=limits),
        RunningSite(tmp_path / "last", settings=limits, lasting=True),
    )
    for one in pair:
        await one.start()
    yield pair
    for one in pair:
        await one.close()


async def outcome(here: RunningSite, job: LaunchOrder) -> tuple[object, ...]:
    """How a job ends at a site, and what it wrote, with nothing in it that must differ."""
    await here.site.submit(job)
    ended = await here.ended(job.attempt)
    written = [here.text(job.attempt, name) for name in (job.stdout, job.stderr)]
    names = sorted(os.listdir(AttemptDirectory(here.site.root, job.attempt.tag).job))
    plain = [text.replace(str(here.directory), "HERE") for text in written]
    return ended.exit_code, ended.signal, ended.failure, ended.reason, plain, names


def by_lasting(here: RunningSite, job: LaunchOrder) -> bool:
    """True if a lasting starter has had it."""
    return os.path.islink(f"{AttemptDirectory(here.site.root, job.attempt.tag).path}/claim")


@pytest.mark.parametrize(
    "job",
    [
        order("sh", f"-c '{FINDS}' 'a b' '' 'ü\"'", stdin=""),
        order("sh", f"-c '{FINDS}' x", environment=(("A", "1 2\n3"), ("ODD-N", "x"), ("PYTHONPATH", "/p"))),
        order("sh", f"-c '{FINDS}' x", environment=(("PATH", "/usr/bin:/bin"), ("_", "x"), ("LANG", "C"))),
        script("exit 3"),
        script("exit 255"),
        script("kill -TERM $$"),
        script("kill -KILL $$"),
        script("ulimit -c 0; kill -SEGV $$"),
        script("echo to one; echo and the same >&2", stderr="std.out"),
        script("echo deep", stdout="a/b/out", stderr="a/err"),
        script("mkdir d && echo >d/x; echo >one.txt", outputs=("d", "*.txt", "*.dat", "no", "e e")),
        script("mkdir d; ln -s /etc etc", outputs=("d", "etc", "d/", "std.err")),
        script("head -c 3000000 /dev/zero >big"),
        script("head -c 3000000 /dev/zero >big; exit 0"),
        script("trap \"\" XFSZ; head -c 3000000 /dev/zero >big; exit 3"),
        script("exit 1; # nothing"),
        script("mkdir .crossdesk-services .crossdesk-parameters .crossdesk-use .crossdesk-data; exit 5"),
        script("exit 6", wall_limit=60.0),
        script("sleep 670", wall_limit=0.5),
        script('trap "" TERM; (trap "" TERM; setsid sleep 671) & sleep 672; sleep 673', wall_limit=1.25),
        script('trap "exit 4" TERM; echo asked; while :; do sleep 0.05; done', wall_limit=1.0),
    ],
)
async def test_a_plain_job_finds_and_leaves_what_it_would_by_a_starter_of_its_own(
    both: tuple[RunningSite, RunningSite], job: LaunchOrder
) -> None:
    each, last = both
    assert await outcome(last, job) == await outcome(each, job)
    assert (by_lasting(each, job), by_lasting(last, job)) == (False, True)


async def test_an_exit_code_above_128_is_never_taken_for_a_signal(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", lasting=True)
    await here.start()
    for code in (129, 130, 137, 143, 192):
        assert (await outcome(here, script(f"exit {code}")))[:3] == (code, None, "")
    await here.close()


async def test_a_program_reads_its_input_file(both: tuple[RunningSite, RunningSite], tmp_path: Path) -> None:
    each, last = both
    (tmp_path / "no interpreter named").write_text("cat; echo end \"'$0' '$1'\"; exit 4\n")
    (tmp_path / "in").write_text("typed\n")
    files = (
        InputFile("no interpreter named", tmp_path / "no interpreter named", True),
        InputFile("in", tmp_path / "in", False),
    )
    job = order("./no interpreter named", "'a b'", stdin="in", inputs=files)
    found = await outcome(last, job)
    assert found == await outcome(each, job)
    assert found[0] == 4
    assert found[4] == ["typed\nend './no interpreter named' 'a b'\n", ""]
    assert by_lasting(last, job)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (order("no-such-program"), "There is no program no-such-program"),
        (order("./absent"), "There is no program ./absent"),
        (script("true", stdin="absent"), "standard input cannot be read"),
        (script("true", stdout="std.err/x"), "for standard output cannot be made"),
        (order("/etc/passwd"), "is there, but it is not an executable file"),
    ],
)
async def test_what_cannot_be_started_is_told_in_the_starters_words(
    both: tuple[RunningSite, RunningSite], job: LaunchOrder, words: str
) -> None:
    each, last = both
    found = await outcome(last, job)
    assert found == await outcome(each, job)
    assert words in str(found[3])
    next_one = script("exit 7")
    await last.site.submit(next_one)
    assert (await last.ended(next_one.attempt)).exit_code == 7
    assert by_lasting(last, next_one)


@pytest.mark.parametrize(
    "more",
    [
        {"interactive": True},
        {"file_limit": 1 << 20},
        {"environment": (("CROSSDESK_BATCH_SCRIPT", "slurm 1 1"),)},
    ],
)
async def test_what_is_not_plain_has_a_starter_of_its_own(
    both: tuple[RunningSite, RunningSite], more: dict[str, object]
) -> None:
    _, last = both
    job = script("exit 5", **more)
    await last.site.submit(job)
    assert (await last.ended(job.attempt)).exit_code == 5
    assert not by_lasting(last, job)


async def test_they_are_begun_where_jobs_wait_and_end_when_none_come(
    here: RunningSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lasting, "IDLE", 0.2)
    jobs = [script(f"exit {number}") for number in range(40)]
    for job in jobs:
        await here.site.submit(job)
    assert [(await here.ended(job.attempt)).exit_code for job in jobs] == list(range(40))
    assert sum(by_lasting(here, job) for job in jobs) >= 20
    assert all(len(here.ends(job.attempt)) == 1 and len(here.starts(job.attempt)) == 1 for job in jobs)
    await eventually(lambda: not here.site.lasting.pids)


async def test_none_are_begun_where_that_is_not_wanted(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", settings=LocalSettings(lasting=False))
    await here.start()
    jobs = [script("true") for _ in range(8)]
    for job in jobs:
        await here.site.submit(job)
    for job in jobs:
        await here.ended(job.attempt)
    assert not any(by_lasting(here, job) for job in jobs)
    await here.close()


async def test_where_none_can_be_begun_each_job_has_a_starter_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    here = RunningSite(tmp_path / "site")
    await here.start()
    jobs = [script(f"exit {number}") for number in range(8)]
    for job in jobs:
        await here.site.submit(job)
    assert [(await here.ended(job.attempt)).exit_code for job in jobs] == list(range(8))
    assert not any(by_lasting(here, job) for job in jobs)
    await here.close()


async def test_an_order_that_is_too_long_for_one_goes_to_a_starter_of_its_own(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", lasting=True)
    await here.start()
    job = script('test ${#LONG} = 70000', environment=(("LONG", "x" * 70_000),))
    await here.site.submit(job)
    assert (await here.ended(job.attempt)).exit_code == 0
    assert not by_lasting(here, job)
    await here.close()


async def test_a_job_goes_on_without_its_site_and_is_followed_by_the_next(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", lasting=True)
    await here.start()
    gate = tmp_path / "gate"
    jobs = [script(f"while ! [ -e {gate} ]; do sleep 0.02; done; exit 9") for _ in range(3)]
    for job in jobs:
        await here.site.submit(job)
    starters = {here.starter((await here.started(job.attempt)).component) for job in jobs[:2]}
    other = await here.again([(job.attempt, job) for job in jobs])
    stages = [other.site.runs[job.attempt.tag].stage for job in jobs[:2]]
    assert {one.lasting for one in stages if isinstance(one, Handed)} == starters
    gate.touch()
    assert [(await other.ended(job.attempt)).exit_code for job in jobs] == [9, 9, 9]
    assert len(other.starts(jobs[0].attempt)) == 1
    await eventually(lambda: not any(os.path.exists(f"/proc/{pid}/root") for pid in starters))
    await other.close()


async def test_a_start_after_the_end_of_the_site_is_heard_of_by_the_next(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", cpus=1, lasting=True)
    await here.start()
    job = script("sleep 650")
    (starter,) = here.site.lasting.pids
    os.kill(starter, signal.SIGSTOP)
    await here.site.submit(job)
    await eventually(lambda: job.attempt.tag in here.site.runs and here.starter(job.attempt) == starter)
    other = RunningSite(here.directory, 1, QUICK)
    await here.site.close()
    # As if the claim had been made a moment before: the next site finds it, and no start.
    name = f"lasting.{starter}.{started_at(starter)}"
    claim = Path(AttemptDirectory(here.site.root, job.attempt.tag).path, "claim")
    claim.symlink_to(name)
    await other.start([(job.attempt, None)])
    assert isinstance(other.site.runs[job.attempt.tag].stage, Handed)
    assert not other.starts(job.attempt)
    claim.unlink()
    os.kill(starter, signal.SIGCONT)
    started = await other.started(job.attempt)
    await other.site.cancel(job.attempt)
    assert (await other.ended(job.attempt)).failure == "killed"
    assert not Path(f"/proc/{started.pid}/root").exists()
    await other.close()


@pytest.mark.parametrize("first", ["another", "one of its own"])
async def test_a_second_start_follows_the_first(tmp_path: Path, first: str) -> None:
    """A broker that was killed has handed an attempt over that the next one starts too."""
    here = RunningSite(tmp_path / "site", cpus=1, lasting=True)
    await here.start()
    job = script(f"echo x >>{tmp_path}/seen; while ! [ -e {tmp_path}/gate ]; do sleep 0.02; done")
    (starter,) = here.site.lasting.pids
    os.kill(starter, signal.SIGSTOP)
    await here.site.submit(job)
    await eventually(lambda: here.starter(job.attempt) == starter)
    await here.site.close()
    other = RunningSite(here.directory, 1, QUICK, lasting=first == "another")
    before = script("true")
    other.site.capacity.keep(before, [])
    await other.start([(job.attempt, job)])
    other.site.capacity.give_back(before)
    await other.site.submit(script("true"))
    await other.started(job.attempt)
    kind = Handed if first == "another" else Launched | Followed
    assert isinstance(other.site.runs[job.attempt.tag].stage, kind)
    os.kill(starter, signal.SIGCONT)
    await eventually(lambda: not Path(f"/proc/{starter}/root").exists(), what="it was refused, and ends")
    (tmp_path / "gate").touch()
    assert (await other.ended(job.attempt)).exit_code == 0
    assert (tmp_path / "seen").read_text() == "x\n"
    await other.close()


async def test_one_that_is_killed_loses_its_job_with_all_processes_and_another_comes(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", cpus=1, lasting=True)
    await here.start()
    job = script("setsid sleep 660 & sleep 660")
    await here.site.submit(job)
    await here.started(job.attempt)
    os.kill(here.starter(job.attempt), signal.SIGKILL)
    ended: AttemptEnded = await here.ended(job.attempt)
    assert (ended.failure, ended.exit_code) == ("lost", None)
    assert not here.left()
    more = [script("exit 2") for _ in range(6)]
    for one in more:
        await here.site.submit(one)
    assert [(await here.ended(one.attempt)).exit_code for one in more] == [2] * 6
    assert by_lasting(here, more[-1])
    await here.close()


async def test_a_cancel_before_the_program_began_is_kept(tmp_path: Path) -> None:
    here = RunningSite(tmp_path / "site", cpus=1, lasting=True)
    await here.start()
    job = script(f"echo x >>{tmp_path}/seen")
    (starter,) = here.site.lasting.pids
    os.kill(starter, signal.SIGSTOP)
    await here.site.submit(job)
    await eventually(lambda: here.starter(job.attempt) == starter)
    await here.site.cancel(job.attempt)
    os.kill(starter, signal.SIGCONT)
    assert (await here.ended(job.attempt)).failure == "killed"
    assert not (tmp_path / "seen").exists()
    assert here.site.capacity.free == 1
    await here.close()
