"""A glidein on a node, with real payloads; what the broker writes there is written by hand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.sites.glideins import SlotClaim
from broker_core.sites.shell import bundle
from broker_core.sites.shell.glideins import read_status
from broker_core.worker.script import glidein_path
from tests.running import processes_of
from tests.waiting import wait_until
from tests.worker import break_out
from tests.worker.glidein_node import NAME, Node


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Payloads outlive their glidein by four seconds."""
    monkeypatch.setattr(bundle, "PAYLOAD_LEASE", 4)


def runs(node: Node, *claims: str) -> Callable[[], bool]:
    return lambda: node.status is not None and node.status.runs == frozenset(claims)


def test_a_batch_job_gives_way_to_the_job_beside_it_and_gets_its_priority_back(either: Node) -> None:
    either.start()
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    wait_until(lambda: either.nice_of("batch") == 0)
    either.want("c1", "batch 10 run")
    either.begin("talk", "c2", "sleep 600")
    wait_until(lambda: either.nice_of("talk") == 0 and either.nice_of("batch") == 10)
    assert runs(either, "c1", "c2")()
    either.want("c2", "talk 0 end")
    wait_until(lambda: either.status is not None and "c2" in either.status.over)
    assert either.failure_of("talk") == "killed"
    either.want("c1", "batch 0 run")
    wait_until(lambda: either.nice_of("batch") == 0)


def test_a_claim_is_taken_once_and_never_after_its_end_was_asked_for(either: Node) -> None:
    either.start()
    either.renew(1)
    either.begin("once", "c1", f"echo ran >>{either.root}/once")
    wait_until(lambda: either.status is not None and either.status.over == {"c1": 0})
    assert either.take("once", SlotClaim(NAME, "c1", 0)) == 0
    either.want("c1", "once 0 run")
    late = SlotClaim(NAME, "c2", 0)
    either.want("c2", "- 0 end")
    wait_until(lambda: either.status is not None and either.status.refused == {"c2"})
    either.stage("late", late, f"echo ran >>{either.root}/late")
    assert either.take("late", late) == 0
    beat = either.status.beat if either.status is not None else 0
    wait_until(lambda: either.status is not None and either.status.beat > beat + 2)
    assert (either.root / "once").read_text() == "ran\n"
    assert not (either.root / "late").exists()


def test_payloads_in_line_run_one_after_the_other_in_their_order(either: Node) -> None:
    either.start()
    either.renew(1)
    count = 6
    # The last ones come first: each waits for the one ahead of it.
    for number in range(count - 1, -1, -1):
        after = f"c{number - 1}" if number else ""
        log = either.root / "order"
        script = f"echo begin {number} >>{log}; sleep 0.1; echo end {number} >>{log}"
        either.begin(f"j{number}", f"c{number}", script, after=after)
    ends = {f"c{number}": 0 for number in range(count)}
    wait_until(lambda: either.status is not None and either.status.over == ends)
    expected = [f"{word} {number}" for number in range(count) for word in ("begin", "end")]
    assert (either.root / "order").read_text().splitlines() == expected


@pytest.mark.parametrize("word", ["end", "back"])
def test_who_leaves_the_line_lets_nobody_begin_before_the_one_ahead_is_over(either: Node, word: str) -> None:
    either.start()
    either.renew(1)
    waits = f"while [ ! -e {either.root}/go ]; do sleep 0.1; done"
    either.begin("first", "c1", f"{waits}; echo first >>{either.root}/order")
    either.begin("second", "c2", f"echo second >>{either.root}/order", after="c1")
    either.begin("third", "c3", f"echo third >>{either.root}/order", after="c2")
    wait_until(runs(either, "c1"))
    either.want("c2", f"second 0 {word} c1")
    wait_until(lambda: either.status is not None and either.status.refused == {"c2"})
    assert not (either.root / "order").exists()
    (either.root / "go").touch()
    wait_until(lambda: either.status is not None and either.status.over == {"c1": 0, "c3": 0})
    assert (either.root / "order").read_text() == "first\nthird\n"


def test_what_has_begun_is_not_called_back(either: Node) -> None:
    either.start()
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    wait_until(lambda: either.nice_of("batch") == 0)
    either.want("c1", "batch 0 back")
    beat = either.status.beat if either.status is not None else 0
    wait_until(lambda: either.status is not None and either.status.beat > beat + 3)
    assert runs(either, "c1")()
    either.want("c1", "batch 5 run")
    wait_until(lambda: either.nice_of("batch") == 5)


def test_who_is_in_line_has_the_nice_value_of_its_own_claim(either: Node) -> None:
    either.start()
    either.renew(1)
    either.begin("first", "c1", f"while [ ! -e {either.root}/go ]; do sleep 0.1; done")
    second = SlotClaim(NAME, "c2", 5, "c1", writes=either.writes)
    either.stage("second", second, "sleep 600")
    assert either.take("second", second) == 0
    wait_until(lambda: either.nice_of("first") == 0)
    (either.root / "go").touch()
    wait_until(lambda: either.nice_of("second") == 5)


def test_nobody_in_line_begins_after_the_glidein_was_killed(either: Node, quick: None) -> None:
    glidein = either.start()
    either.renew(1)
    either.begin("first", "c1", f"while [ ! -e {either.root}/go ]; do sleep 0.1; done")
    either.begin("second", "c2", f"touch {either.root}/ran", after="c1")
    wait_until(lambda: either.nice_of("first") == 0)
    glidein.kill()
    glidein.wait(60)
    (either.root / "go").touch()
    wait_until(lambda: (either.own / "taken/c1/exit").exists())
    assert not (either.own / "taken/c2").exists()


def test_a_slot_is_free_though_what_lasts_was_killed_with_its_payload(lasting: Node) -> None:
    lasting.start()
    lasting.renew(1)
    lasting.begin("first", "c1", f"while [ ! -e {lasting.root}/go ]; do sleep 0.1; done")
    lasting.begin("second", "c2", f"touch {lasting.root}/began-2", after="c1")
    wait_until(lambda: lasting.nice_of("first") == 0)
    program = lasting.pid_of("first")
    pid, kind = lasting.minder("c1")
    assert kind == "lasting"
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: lasting.status is not None and lasting.status.over == {"c1": 137, "c2": 0})
    wait_until(lambda: not Path(f"/proc/{program}").exists())
    assert lasting.failure_of("first") == "lost"
    # The next one begins though the process behind all of them is gone, too.
    os.kill(int((lasting.own / "starter").read_text()), signal.SIGKILL)
    lasting.begin("third", "c3", f"touch {lasting.root}/began-3")
    wait_until(lambda: lasting.status is not None and lasting.status.over.get("c3") == 0)
    assert sorted(one.name for one in lasting.root.glob("began-*")) == ["began-2", "began-3"]


def test_a_glidein_waits_for_the_bell_of_what_lasts_and_goes_on_without_it(lasting: Node) -> None:
    glidein = lasting.start()
    lasting.renew(1)
    bell = lasting.own / "bell"
    wait_until(lambda: hears(glidein.pid, bell))
    first = int((lasting.own / "starter").read_text())
    lasting.begin("before", "c1", "true")
    wait_until(lambda: lasting.status is not None and lasting.status.over.get("c1") == 0)
    # Nothing that the glidein starts may read what is for the glidein, or seem to ring.
    lasting.want("c2", "talk 5 run")
    lasting.begin("talk", "c2", "sleep 600")
    shell = SlotClaim(NAME, "c3", 5)
    lasting.stage("shell", shell, "sleep 600")
    assert lasting.take("shell", shell) == 0
    wait_until(lambda: lasting.pid_of("talk") is not None and lasting.nice_of("shell") == 5)
    held = [pid for pid in processes_of(lasting.root) if hears(pid, bell)]
    assert sorted(held) == sorted([glidein.pid, first])
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: int((lasting.own / "starter").read_text()) != first)
    beat = lasting.status.beat if lasting.status is not None else 0
    wait_until(lambda: lasting.status is not None and lasting.status.beat > beat + 2)
    wait_until(lambda: hears(glidein.pid, bell))


def hears(pid: int, bell: Path) -> bool:
    """True for a process that has a pipe open."""
    with suppress(OSError):
        return any(one.samefile(bell) for one in Path(f"/proc/{pid}/fd").iterdir() if one.exists())
    return False


def test_a_slot_is_free_after_its_payload_though_the_shell_that_minds_it_was_killed(node: Node) -> None:
    node.start()
    node.renew(1)
    node.begin("first", "c1", f"touch {node.root}/began-1")
    node.begin("second", "c2", f"while [ ! -e {node.root}/go ]; do sleep 0.1; done", after="c1")
    node.begin("third", "c3", f"touch {node.root}/began-3", after="c2")
    wait_until(lambda: node.nice_of("second") == 0)
    assert node.minder("c2") == node.minder("c1")
    os.kill(node.minder("c2")[0], signal.SIGKILL)
    beat = node.status.beat if node.status is not None else 0
    wait_until(lambda: node.status is not None and node.status.beat > beat + 2)
    assert runs(node, "c2")(), "its program goes on"
    (node.root / "go").touch()
    wait_until(lambda: node.status is not None and node.status.over == {"c1": 0, "c2": 137, "c3": 0})
    assert node.failure_of("second") == "", "the job itself ended well"
    assert (node.root / "began-3").exists()


def test_a_claim_whose_end_was_heard_is_told_no_more_unless_it_is_asked_after(either: Node) -> None:
    either.start()
    either.renew(1)
    either.begin("once", "c1", f"echo ran >>{either.root}/once")
    wait_until(lambda: either.status is not None and either.status.over == {"c1": 0})
    (either.own / "heard" / "c1").touch()
    wait_until(lambda: either.status is not None and not either.status.over)
    assert not (either.own / "claims" / "c1").exists()
    assert either.take("once", SlotClaim(NAME, "c1", 0)) == 0
    wait_until(lambda: either.status is not None and either.status.over == {"c1": 0})
    assert (either.root / "once").read_text() == "ran\n"


def test_a_glidein_that_hears_nothing_ends_itself_and_what_runs_in_it(either: Node, quick: None) -> None:
    glidein = either.start(lease=4)
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    wait_until(runs(either, "c1"))
    assert glidein.wait(60) == 0
    assert either.failure_of("batch") == "lease"
    slot = SlotClaim(NAME, "c2", 0)
    either.stage("late", slot, "true")
    assert either.take("late", slot) != 0


def test_what_runs_in_a_glidein_ends_soon_after_that_was_killed(either: Node, quick: None) -> None:
    glidein = either.start()
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    wait_until(lambda: either.nice_of("batch") == 0)
    glidein.kill()
    wait_until(lambda: either.failure_of("batch") == "lease")


def test_payloads_in_boxes_cannot_reach_each_other_nor_their_glidein(either: Node) -> None:
    shutil.copy(break_out.__file__, either.root / "programs")
    either.writes = ()
    glidein = either.start(boxes="possible")
    assert either.status is not None
    assert either.status.box == "bubblewrap"
    either.renew(1)
    either.begin("talk", "c2", "echo hers >secret; exec sleep 600")
    hers, his = (either.root / "attempts" / either.attempt(name) / "job" for name in ("talk", "batch"))
    wait_until(lambda: (hers / "secret").exists() and either.pid_of("talk") is not None)
    words = f"/usr/bin/python3 {either.root}/programs/break_out.py {hers} {either.own}/lease"
    links = f"ln -s {hers}/secret out2; ln -s made out3; echo own >made"
    outputs = ("made", "out2", "out3")
    either.begin("batch", "c1", f"{words} {glidein.pid} {either.pid_of('talk')}; {links}", outputs=outputs)
    wait_until(lambda: either.status is not None and "c1" in either.status.over)
    assert either.status.over["c1"] == 0, (his / "err").read_text()
    outcomes = json.loads((his / "out").read_text())
    assert {name: told for name, told in outcomes.items() if not told.startswith("refused")} == {}
    assert runs(either, "c2")()
    assert (hers / "secret").read_text() == "hers\n"
    brought = (his.parent / "outputs").read_text()
    assert "out3" in brought, "a link to the job's own file comes home"
    assert "out2" not in brought, "one to another job's does not"
    assert not (his.parent / "scratch").exists()


def test_a_node_without_boxes_takes_no_payloads_where_there_must_be_one(node: Node) -> None:
    (node.root / "programs/box").unlink()
    words = ["/bin/sh", str(glidein_path()), NAME, "60", "60", "box", "boxing", "always"]
    there = node.root / "attempts" / f"{NAME}.1" / "job"
    assert subprocess.run(words, cwd=there, stderr=subprocess.DEVNULL).returncode == 1
    assert node.status is not None
    assert node.status.faults == ("no box can be made on the node: programs/box is missing",)


def test_half_a_state_and_what_is_none_are_not_believed() -> None:
    whole = "node n1\npriorities both\nbeat 3\nruns c1\nover c2 300\n.\n"
    status = read_status(whole)
    assert status is not None
    assert (status.runs, status.over, status.both_ways) == ({"c1"}, {"c2": 255}, True)
    assert read_status(whole[:-2]) is None
    assert read_status(whole.replace("runs c1", "runs ../c1")) is None
    assert read_status("node n1\n.\n") is None
