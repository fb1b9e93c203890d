"""A payload that stands still while another job has its machine, goes on, or ends (CB-GLI-13)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tests.running import processes_of
from tests.waiting import wait_until
from tests.worker.glidein_node import Node

COUNTING = "while :; do echo >>count; sleep 0.05; done"


def halted(place: Path) -> bool:
    """True if all processes of the program stand still, and some of its starter do not."""
    states = list[str]()
    for pid in processes_of(place):
        with suppress(OSError):  # it has ended
            states.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return states.count("T") >= 2 and len(states) > states.count("T")


def test_a_payload_stands_still_goes_on_and_ends_while_it_stands_still(node: Node) -> None:
    node.start()
    node.begin("batch", "c1", f"({COUNTING}) & {COUNTING}")
    place = node.root / "attempts" / node.attempt("batch") / "job"
    count = place / "count"
    wait_until(lambda: count.exists() and count.stat().st_size > 2)
    node.want("c1", "batch 10 stop")
    wait_until(lambda: halted(place), what="all of it stands still")
    before = count.stat().st_size
    beat = node.root / "attempts" / node.attempt("batch") / "beat"
    sign = beat.read_text()
    wait_until(lambda: beat.read_text() != sign, what="its starter goes on")
    assert count.stat().st_size == before
    node.want("c1", "batch 0 run")
    wait_until(lambda: count.stat().st_size > before, what="it goes on")
    node.want("c1", "batch 10 stop")
    wait_until(lambda: halted(place), what="it stands still again")
    node.want("c1", "batch 10 end")
    wait_until(lambda: node.failure_of("batch") == "killed", what="it ends although it stood still")
