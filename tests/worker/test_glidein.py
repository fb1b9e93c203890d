"""A glidein on a node, with real payloads; what the broker writes there is written by hand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from broker_core.sites.glideins import SlotClaim
from broker_core.sites.shell import bundle
from broker_core.sites.shell.glideins import read_status
from broker_core.worker.script import glidein_path
from tests.waiting import wait_until
from tests.worker import break_out
from tests.worker.glidein_node import NAME, Node


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Payloads outlive their glidein by four seconds."""
    monkeypatch.setattr(bundle, "PAYLOAD_LEASE", 4)


def runs(node: Node, *claims: str) -> Callable[[], bool]:
    return lambda: node.status is not None and node.status.runs == frozenset(claims)


def test_a_batch_job_gives_way_to_the_job_beside_it_and_gets_its_priority_back(node: Node) -> None:
    node.start()
    node.renew(1)
    node.begin("batch", "c1", "sleep 600")
    wait_until(lambda: node.nice_of("batch") == 0)
    node.want("c1", "batch 10 run")
    node.begin("talk", "c2", "sleep 600")
    wait_until(lambda: node.nice_of("talk") == 0 and node.nice_of("batch") == 10)
    assert runs(node, "c1", "c2")()
    node.want("c2", "talk 0 end")
    wait_until(lambda: node.status is not None and "c2" in node.status.over)
    assert node.failure_of("talk") == "killed"
    node.want("c1", "batch 0 run")
    wait_until(lambda: node.nice_of("batch") == 0)


def test_a_claim_is_taken_once_and_never_after_its_end_was_asked_for(node: Node, tmp_path: Path) -> None:
    node.start()
    node.renew(1)
    node.begin("once", "c1", f"echo ran >>{tmp_path}/once")
    wait_until(lambda: node.status is not None and node.status.over == {"c1": 0})
    assert node.take("once", SlotClaim(NAME, "c1", 0)) == 0
    node.want("c1", "once 0 run")
    late = SlotClaim(NAME, "c2", 0)
    node.want("c2", "- 0 end")
    wait_until(lambda: node.status is not None and node.status.refused == {"c2"})
    node.stage("late", late, f"echo ran >>{tmp_path}/late")
    assert node.take("late", late) == 0
    beat = node.status.beat if node.status is not None else 0
    wait_until(lambda: node.status is not None and node.status.beat > beat + 2)
    assert (tmp_path / "once").read_text() == "ran\n"
    assert not (tmp_path / "late").exists()


def test_payloads_in_line_run_one_after_the_other_in_their_order(node: Node) -> None:
    node.start()
    node.renew(1)
    count = 6
    # The last ones come first: each waits for the one ahead of it.
    for number in range(count - 1, -1, -1):
        after = f"c{number - 1}" if number else ""
        script = f"echo begin {number} >>{node.root}/order; sleep 0.1; echo end {number} >>{node.root}/order"
        node.begin(f"j{number}", f"c{number}", script, after=after)
    ends = {f"c{number}": 0 for number in range(count)}
    wait_until(lambda: node.status is not None and node.status.over == ends)
    expected = [f"{word} {number}" for number in range(count) for word in ("begin", "end")]
    assert (node.root / "order").read_text().splitlines() == expected


@pytest.mark.parametrize("word", ["end", "back"])
def test_who_leaves_the_line_lets_nobody_begin_before_the_one_ahead_is_over(node: Node, word: str) -> None:
    node.start()
    node.renew(1)
    waits = f"while [ ! -e {node.root}/go ]; do sleep 0.1; done"
    node.begin("first", "c1", f"{waits}; echo first >>{node.root}/order")
    node.begin("second", "c2", f"echo second >>{node.root}/order", after="c1")
    node.begin("third", "c3", f"echo third >>{node.root}/order", after="c2")
    wait_until(runs(node, "c1"))
    node.want("c2", f"second 0 {word} c1")
    wait_until(lambda: node.status is not None and node.status.refused == {"c2"})
    assert not (node.root / "order").exists()
    (node.root / "go").touch()
    wait_until(lambda: node.status is not None and node.status.over == {"c1": 0, "c3": 0})
    assert (node.root / "order").read_text() == "first\nthird\n"


def test_what_has_begun_is_not_called_back(node: Node) -> None:
    node.start()
    node.renew(1)
    node.begin("batch", "c1", "sleep 600")
    wait_until(lambda: node.nice_of("batch") == 0)
    node.want("c1", "batch 0 back")
    beat = node.status.beat if node.status is not None else 0
    wait_until(lambda: node.status is not None and node.status.beat > beat + 3)
    assert runs(node, "c1")()
    node.want("c1", "batch 5 run")
    wait_until(lambda: node.nice_of("batch") == 5)


def test_nobody_in_line_begins_after_the_glidein_was_killed(node: Node, quick: None) -> None:
    glidein = node.start()
    node.renew(1)
    node.begin("first", "c1", f"while [ ! -e {node.root}/go ]; do sleep 0.1; done")
    node.begin("second", "c2", f"touch {node.root}/ran", after="c1")
    wait_until(lambda: node.nice_of("first") == 0)
    glidein.kill()
    glidein.wait(60)
    (node.root / "go").touch()
    wait_until(lambda: (node.own / "taken/c1/exit").exists())
    assert not (node.own / "taken/c2").exists()


def test_a_slot_is_free_after_its_payload_though_the_shell_that_minds_it_was_killed(node: Node) -> None:
    node.start()
    node.renew(1)
    node.begin("first", "c1", f"touch {node.root}/began-1")
    node.begin("second", "c2", f"while [ ! -e {node.root}/go ]; do sleep 0.1; done", after="c1")
    node.begin("third", "c3", f"touch {node.root}/began-3", after="c2")
    wait_until(lambda: node.nice_of("second") == 0)
    minder = int((node.own / "taken/c2/minder").read_text())
    assert minder == int((node.own / "taken/c1/minder").read_text())
    os.kill(minder, signal.SIGKILL)
    beat = node.status.beat if node.status is not None else 0
    wait_until(lambda: node.status is not None and node.status.beat > beat + 2)
    assert runs(node, "c2")(), "its program goes on"
    (node.root / "go").touch()
    wait_until(lambda: node.status is not None and node.status.over == {"c1": 0, "c2": 137, "c3": 0})
    assert node.failure_of("second") == "", "the job itself ended well"
    assert (node.root / "began-3").exists()


def test_a_claim_whose_end_was_heard_is_told_no_more_unless_it_is_asked_after(node: Node) -> None:
    node.start()
    node.renew(1)
    node.begin("once", "c1", f"echo ran >>{node.root}/once")
    wait_until(lambda: node.status is not None and node.status.over == {"c1": 0})
    (node.own / "heard" / "c1").touch()
    wait_until(lambda: node.status is not None and not node.status.over)
    assert not (node.own / "claims" / "c1").exists()
    assert node.take("once", SlotClaim(NAME, "c1", 0)) == 0
    wait_until(lambda: node.status is not None and node.status.over == {"c1": 0})
    assert (node.root / "once").read_text() == "ran\n"


def test_a_glidein_that_hears_nothing_ends_itself_and_what_runs_in_it(node: Node, quick: None) -> None:
    glidein = node.start(lease=4)
    node.renew(1)
    node.begin("batch", "c1", "sleep 600")
    wait_until(runs(node, "c1"))
    assert glidein.wait(60) == 0
    assert node.failure_of("batch") == "lease"
    slot = SlotClaim(NAME, "c2", 0)
    node.stage("late", slot, "true")
    assert node.take("late", slot) != 0


def test_what_runs_in_a_glidein_ends_soon_after_that_was_killed(node: Node, quick: None) -> None:
    glidein = node.start()
    node.renew(1)
    node.begin("batch", "c1", "sleep 600")
    wait_until(lambda: node.nice_of("batch") == 0)
    glidein.kill()
    wait_until(lambda: node.failure_of("batch") == "lease")


def test_payloads_in_boxes_cannot_reach_each_other_nor_their_glidein(node: Node) -> None:
    shutil.copy(break_out.__file__, node.root / "programs")
    glidein = node.start(boxes="possible")
    assert node.status is not None
    assert node.status.box == "bubblewrap"
    node.renew(1)
    node.begin("talk", "c2", "echo hers >secret; exec sleep 600")
    hers, his = (node.root / "attempts" / node.attempt(name) / "job" for name in ("talk", "batch"))
    wait_until(lambda: (hers / "secret").exists() and node.pid_of("talk") is not None)
    words = f"/usr/bin/python3 {node.root}/programs/break_out.py {hers} {node.own}/lease"
    links = f"ln -s {hers}/secret out2; ln -s made out3; echo own >made"
    outputs = ("made", "out2", "out3")
    node.begin("batch", "c1", f"{words} {glidein.pid} {node.pid_of('talk')}; {links}", outputs=outputs)
    wait_until(lambda: node.status is not None and "c1" in node.status.over)
    assert node.status.over["c1"] == 0, (his / "err").read_text()
    outcomes = json.loads((his / "out").read_text())
    assert {name: told for name, told in outcomes.items() if not told.startswith("refused")} == {}
    assert runs(node, "c2")()
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
