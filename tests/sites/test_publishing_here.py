"""This machine as a site: what programs publish can be read while they run and after their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.jobs.published.records import FILE
from broker_core.sites.attempt_directory import AttemptDirectory
from tests.sites.running_site import RunningSite, order, script
from tests.waiting import eventually
from tests.worker.publishing import is_whole, program, read


@pytest.mark.parametrize("kind", ["python", "c", "sh"])
async def test_what_a_program_publishes_is_there_while_it_runs_and_is_no_file_of_its_own(
    kind: str, here: RunningSite, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job = order(program(kind, tmp_path, gate), str(gate), outputs=(".",))
    await here.site.submit(job)
    await here.started(job.attempt)
    made = Path(AttemptDirectory(here.site.root, job.attempt.tag).job, FILE)
    await eventually(lambda: made.exists() and "loss" in read(made).curves)
    assert await here.site.open_path(job.attempt, FILE) == made
    gate.touch()
    assert (await here.ended(job.attempt)).exit_code == 0
    assert is_whole(read(made), table=kind != "c")
    assert FILE not in [file.path for file in await here.site.files(job.attempt)]
    assert FILE not in [file.path for file in (await here.site.left(job.attempt)).files]


async def test_a_limit_of_files_ends_what_is_published_and_not_the_program(here: RunningSite) -> None:
    text = (
        'python3 -c "import crossdesk_publish as publish\n'
        'while publish.array(\\"a\\", bytes(10000)): pass\n"; '
        "echo still here"
    )
    job = script(text, file_limit=200_000, outputs=("std.out",))
    await here.site.submit(job)
    ended = await here.ended(job.attempt)
    assert (ended.exit_code, ended.failure) == (0, "")
    made = Path(AttemptDirectory(here.site.root, job.attempt.tag).job, FILE)
    assert 180_000 < made.stat().st_size < 200_000
    assert len(read(made).arrays["a"].frames) == made.stat().st_size // 10_000
    assert here.text(job.attempt) == "still here\n"


async def test_beyond_the_most_that_may_be_published_is_cut_off_at_the_end(here: RunningSite) -> None:
    text = f"crossdesk-publish series a=1; truncate -s 2G {FILE}; crossdesk-publish series a=2 || echo full"
    job = script(text, outputs=("std.out",))
    await here.site.submit(job)
    assert (await here.ended(job.attempt)).exit_code == 0
    made = Path(AttemptDirectory(here.site.root, job.attempt.tag).job, FILE)
    assert made.stat().st_size == 1 << 30
    assert here.text(job.attempt) == "full\n"


async def test_a_link_in_the_place_of_the_records_is_not_cut_and_not_followed(
    here: RunningSite, tmp_path: Path
) -> None:
    (tmp_path / "other").write_text("whole")
    job = script(f"ln -s {tmp_path}/other {FILE}", outputs=("std.out",))
    await here.site.submit(job)
    assert (await here.ended(job.attempt)).exit_code == 0
    assert (tmp_path / "other").read_text() == "whole"
    listed = Path(AttemptDirectory(here.site.root, job.attempt.tag).path, "outputs")
    assert not listed.exists() or FILE not in listed.read_text()  # a lasting starter makes no list
