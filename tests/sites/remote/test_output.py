"""Output of remote jobs: proved, complete, and never from or to a place that is not the job's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from broker_core.errors import NotFound
from tests.sites.remote.far_site import MARK, Far, script
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
HOSTILE = r"""
import os
names = [b"new\nline", b"back\\slash", b"-dash", b"sp ace'quote\"", b"caf\xc3\xa9"]
names += [b"bytes\xff", b"*star", b"a/b c/d"]
for name in names:
    os.makedirs(os.path.dirname(b"out/" + name), exist_ok=True)
    open(b"out/" + name, "wb").write(name)
open("empty", "w")
"""


@pytest.mark.parametrize(
    "listed", [("out/*", "out/a/*/d", "empty"), ("out", "empty")], ids=["one by one", "folder"]
)
async def test_hostile_names_come_as_they_are(far: Far, tmp_path: Path, listed: tuple[str, ...]) -> None:
    program = tmp_path / "make.py"
    program.write_text(HOSTILE)
    one = script(f"python3 {program}", outputs=listed)
    assert (await far.run(one)).failure == ""
    found = {file.path for file in await far.site.files(one.attempt)}
    names = ["new\nline", "back\\slash", "-dash", "sp ace'quote\"", "café", "bytes\\xff", "*star"]
    assert found == {"std.out", "std.err", "empty", "out/a/b c/d", *(f"out/{name}" for name in names)}
    assert (await far.site.open_path(one.attempt, "out/new\nline")).read_bytes() == b"new\nline"
    assert (await far.site.open_path(one.attempt, "out/bytes\\xff")).read_bytes() == b"bytes\xff"


async def test_large_output_arrives_whole(far: Far) -> None:
    one = script("head -c 40000000 /dev/urandom >big; sha256sum big", outputs=("big",))
    assert (await far.run(one)).failure == ""
    place = await far.site.open_path(one.attempt, "big")
    told = (await far.text(one.attempt)).split()[0]
    assert hashlib.sha256(place.read_bytes()).hexdigest() == told


async def test_a_link_out_of_the_job_is_not_followed(far: Far, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    links = f"ln -s {secret} leak; ln -s {tmp_path} folder; ln -s std.out alias; echo said"
    one = script(links, outputs=("leak",))
    ended = await far.run(one)
    assert ended.failure == "upload"
    assert "leak" in ended.reason
    other = script(links, outputs=("folder/secret",))
    assert (await far.run(other)).failure == "upload"
    inside = script(links, outputs=("alias",))
    assert (await far.run(inside)).reason == ""
    assert await far.text(inside.attempt, "alias") == "said\n"
    for one_more in (one, other):
        kept = [
            place for place in far.folder.rglob("*") if place.is_file() and one_more.attempt.tag in str(place)
        ]
        assert not any("not yours" in place.read_text() for place in kept)


async def test_output_that_changes_after_its_proof_is_no_success(far: Far) -> None:
    late = "(trap : TERM; while [ ! -e ../ended ]; do sleep 0.01; done; echo more >>late) >/dev/null 2>&1 &"
    one = script(f"echo first >late; {late}", outputs=("late",))
    ended = await far.run(one)
    assert (ended.failure, ended.exit_code) == ("upload", 0)
    assert "late" in ended.reason
    left = Path(far.spec.directory) / MARK / "attempts" / one.attempt.tag
    assert left.is_dir(), "what could not be brought stays at the site"
    await far.site.forget([one.attempt])
    assert not left.exists()


async def test_growing_output_is_read_while_the_job_runs(far: Far) -> None:
    one = script(
        "echo one; until [ -e go ]; do sleep 0.05; done; echo two; until [ -e end ]; do sleep 0.05; done"
    )
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    await far.says(one.attempt, "one\n")
    job = Path(far.spec.directory) / MARK / "attempts" / one.attempt.tag / "job"
    (job / "go").touch()
    await far.says(one.attempt, "one\ntwo\n")
    assert {file.path for file in await far.site.files(one.attempt)} == {"std.out", "std.err", "go"}
    for path in ("../order", "/etc/passwd", "nothing"):
        with pytest.raises(NotFound):
            await far.site.open_path(one.attempt, path)
    (job / "end").touch()
    await far.ended(one.attempt)
    assert await far.text(one.attempt) == "one\ntwo\n"


async def test_of_a_huge_file_that_grows_only_the_end_is_brought(far: Far) -> None:
    one = script("head -c 3000000 /dev/zero; echo end; until [ -e end ]; do sleep 0.05; done")
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    job = Path(far.spec.directory) / MARK / "attempts" / one.attempt.tag / "job"
    # What is looked at while it is written is brought piece by piece.
    await eventually(lambda: (job / "std.out").exists() and (job / "std.out").stat().st_size == 3_000_004)
    place = await far.site.open_path(one.attempt, "std.out")
    assert place.read_bytes().endswith(b"end\n")
    assert place.stat().st_size == 3_000_004
    assert place.stat().st_blocks * 512 < 2_000_000, "the beginning was not brought"
    (job / "end").touch()
    assert (await far.ended(one.attempt)).failure == ""
    assert (await far.site.open_path(one.attempt, "std.out")).read_bytes() == bytes(3_000_000) + b"end\n"
