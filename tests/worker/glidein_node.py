"""A node with a glidein; what the broker writes there is written by hand."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.glideins import GlideinStatus, SlotClaim
from broker_core.sites.shell.bundle import BundleContext, order_text
from broker_core.sites.shell.glideins import claim_line, read_status
from broker_core.sites.shell.workspace import Workspace
from broker_core.worker.markers import ended_mark, started_mark
from broker_core.worker.script import box_path, boxing_archive, glidein_path, hand_over_text, starter_path
from tests.running import end_all
from tests.waiting import wait_until

NAME = "pool-1"


class Node:
    """The broker's directory at a site, with one glidein."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.own = root / "glideins" / NAME
        self._id = secrets.token_hex(3)
        self._process: subprocess.Popen[bytes] | None = None
        self._status: GlideinStatus | None = None
        self.lasting = False
        """Payloads are run by what lasts, not by a shell for each."""
        self.writes: tuple[str, ...] = ()
        """Where payloads may write beside their directories."""
        self.starts_by: tuple[str, ...] = ()
        """Words in front of those of the glidein."""
        for folder in ("news", "programs", f"attempts/{NAME}.1/job"):
            (root / folder).mkdir(parents=True)
        shutil.copy(box_path(), root / "programs/box")
        (root / "programs/boxing").write_bytes(boxing_archive())

    def start(
        self, lease: int = 60, boxes: str = "never", more: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start the glidein; returns once it tells of itself. `more`: further words."""
        boxes = "possible" if self.lasting and boxes == "never" else boxes
        words = ["/bin/sh", str(glidein_path()), NAME, str(lease), "60", "box", "boxing", boxes, *more]
        words[:0] = self.starts_by
        self._process = subprocess.Popen(words, cwd=self.root / "attempts" / f"{NAME}.1" / "job")
        wait_until(lambda: self.status is not None)
        if self.lasting:
            self._start_starter()
        return self._process

    def _start_starter(self) -> None:
        """It serves when a first payload is over."""
        wait_until(lambda: (self.own / "starter").exists())
        self.renew(0)
        self.begin("warm-up", "warm-up", "true")
        wait_until(lambda: self.status is not None and "warm-up" in self.status.over)
        assert self.minder("warm-up")[1] == "", "the first payload is minded by the shell"
        (self.own / "heard" / "warm-up").touch()
        wait_until(lambda: self.status is not None and not self.status.over)

    def minder(self, claim: str) -> tuple[int, str]:
        """Pid and kind of what minds a claim; the kind is empty for a shell."""
        pid, _, kind = (self.own / "taken" / claim / "minder").read_text().strip().partition(" ")
        return int(pid), kind

    @property
    def status(self) -> GlideinStatus | None:
        """What it told last."""
        path = self.own / "state"
        found = read_status(path.read_text()) if path.exists() else None
        self._status = found or self._status
        return self._status

    def attempt(self, job: str) -> str:
        """Tag of the attempt of a job: processes of another node with that would count as of this one."""
        return f"{job}-{self._id}.1"

    def renew(self, value: int) -> None:
        (self.own / "lease").write_text(f"{value}\n")

    def stage(
        self, tag: str, slot: SlotClaim, script: str, outputs: tuple[str, ...] = (), stdin: str = ""
    ) -> None:
        """What a submission brings, without the claim."""
        attempt = Component(self.attempt(tag).removesuffix(".1"), 1)
        order = LaunchOrder(
            attempt, 1, "/bin/sh", f'-c "{script}"', (), stdin, "out", "err", (), outputs, slot=slot
        )  # fmt: skip
        home = Workspace(str(self.root), "", 0.0, 0.0)
        place = BundleContext(
            home, str(starter_path()), "", "m", (), {}, beat=1, lease=0.0,
            box=f"{self.root}/programs/box", boxing=f"{self.root}/programs/boxing",
        )  # fmt: skip
        folder = self.root / "attempts" / attempt.tag
        (folder / "job").mkdir(parents=True)
        (folder / "order").write_text(order_text(order, place))

    def take(self, tag: str, slot: SlotClaim) -> int:
        """Hand an attempt over to its slot; returns the exit status."""
        group = self.root / "groups" / slot.claim
        group.mkdir(parents=True, exist_ok=True)
        (self.root / "locks").mkdir(exist_ok=True)
        (group / "claim").write_text(f"{claim_line(slot, self.attempt(tag))}\n")
        script = f"exchange=of-a-test\n{hand_over_text()}give_slot {slot.claim}\n"
        words = ["/bin/sh", "-c", script]
        return subprocess.run(words, cwd=self.root, stderr=subprocess.DEVNULL).returncode

    def begin(
        self,
        tag: str,
        claim: str,
        script: str,
        outputs: tuple[str, ...] = (),
        after: str = "",
        stdin: str = "",
    ) -> None:
        slot = SlotClaim(NAME, claim, 0, after, writes=self.writes)
        self.stage(tag, slot, script, outputs, stdin)
        assert self.take(tag, slot) == 0

    def want(self, claim: str, line: str) -> None:
        """What becomes of a claim; the line begins with its job."""
        job, _, rest = line.partition(" ")
        fresh = self.own / "claims" / f".{claim}"
        fresh.write_text(f"{job if job == '-' else self.attempt(job)} {rest}\n")
        fresh.rename(self.own / "claims" / claim)

    def nice_of(self, tag: str) -> int | None:
        """Nice value of a program that runs."""
        pid = self.pid_of(tag)
        return os.getpriority(os.PRIO_PROCESS, pid) if pid is not None else None

    def pid_of(self, tag: str) -> int | None:
        """Of a program that runs."""
        path = self.root / "attempts" / self.attempt(tag) / "started"
        mark = started_mark(path.read_bytes(), 0.0) if path.exists() else None
        return mark.pid if mark is not None else None

    def failure_of(self, tag: str) -> str | None:
        path = self.root / "attempts" / self.attempt(tag) / "ended"
        mark = ended_mark(path.read_bytes(), 0.0) if path.exists() else None
        return mark.failure if mark is not None else None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
        end_all(self.root)
