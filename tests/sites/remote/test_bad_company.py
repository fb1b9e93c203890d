"""One job that a site or its own description fails takes no other with it (cases 10 and 24)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from broker_core.sites.batch.host import Host
from broker_core.sites.contract import InputFile, SiteRefused
from tests.sites.remote.host_far import HostFar, released, script
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_what_cannot_be_released_keeps_nobody_from_being_canceled(folder: Path) -> None:
    far = await HostFar(folder, environment={"HOME": str(folder), "CROSSDESK_SLOTS": "2"}).start()
    other = await released(far, script("sleep 600"))
    await far.started(other.attempt)

    class Holding(Host):
        def release(self, ids: Sequence[str]) -> str:
            return "echo Access denied >&2; exit 1"

    far.site._adapter._system = Holding()  # type: ignore[attr-defined]
    await released(far, script("true"))
    await eventually(lambda: "Access denied" in far.log())
    await far.site.cancel(other.attempt)
    assert (await far.ended(other.attempt)).failure == "killed"
    await far.site.close()


async def test_one_that_cannot_be_handed_over_is_refused_alone(folder: Path) -> None:
    far = await HostFar(folder).start()
    good = script("echo good")
    bad = [
        script("true", environment=(("LONG", "x" * 140_000),)),
        script("true", inputs=(InputFile("data", folder / "gone", executable=False),)),
        script("true", inputs=(InputFile("../../data", Path(__file__), executable=False),)),
    ]
    answers = await asyncio.gather(*map(far.site.submit, [good, *bad]), return_exceptions=True)
    assert isinstance(answers[0], str), answers[0]
    assert [one.message.partition(":")[0] for one in answers[1:] if isinstance(one, SiteRefused)] == [
        "The variable __environment is too long",
        "The content of the input file data is no longer in the broker's store. Submit again.",
        "'../../data' is not a name for a file in a job's directory.",
    ]
    await far.site.confirm(good.attempt)
    assert (await far.ended(good.attempt)).exit_code == 0
    await far.site.close()


async def test_a_job_that_spoils_its_own_marks_harms_no_other(folder: Path) -> None:
    far = await HostFar(folder, environment={"HOME": str(folder), "CROSSDESK_SLOTS": "2"}).start()
    other = await released(far, script(f"until [ -e {folder}/go ]; do sleep 0.05; done"))
    await far.started(other.attempt)
    attempt = script("true").attempt
    spoil = 'printf "pid x\\\\n.\\\\n" >../started; printf "exit\\\\n.\\\\n" >../ended'
    text = f"{spoil}; ln -f ../ended ../../../news/{attempt.tag}.e; kill -9 $PPID 0"
    bad = await released(far, script(text, attempt=attempt))
    assert (await far.ended(bad.attempt)).failure == "lost"
    (folder / "go").touch()
    assert (await far.ended(other.attempt)).exit_code == 0
    await far.site.close()


async def test_a_number_that_was_given_again_ends_the_wrong_job_never(folder: Path) -> None:
    far = await HostFar(folder).start()
    first, second = script("true"), script(f"until [ -e {folder}/go ]; do sleep 0.05; done; exit 4")
    number = await far.site.submit(first)
    # As a batch system does that lost what it knew of its latest jobs.
    (queue,) = (folder / ".crossdesk" / "queue").glob("*.*-*")
    next(queue.glob(f"held/{number}:*")).unlink()
    (queue / "last").write_text("0\n")
    assert await far.site.submit(second) == number
    await far.site.confirm(second.attempt)
    await far.started(second.attempt)
    assert (await far.ended(first.attempt)).failure == "starter"
    assert list(queue.glob("canceled/*")) == []
    (folder / "go").touch()
    assert (await far.ended(second.attempt)).exit_code == 4
    await far.site.close()
