"""Runs a claim of slot1, and those in line behind it, as `glidein.sh` does where nothing lasts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress

from broker_core.worker.scripts.payloads.run import DECLINED, PlainAttempt, Termination
from broker_core.worker.scripts.payloads.slot_group import slot_group
from broker_core.worker.scripts.plain.records import read, write

_BY_SHELL = 'echo "$$" >"$1" && . "$2"; exit 227'


class GlideinLease:
    """Until when the glidein may begin something: as long as the broker renews its lease."""

    def __init__(self, folder: str, known: str, since: float, checked: float, most: float) -> None:
        """`since`: when it was renewed at the earliest; `checked`: when that was looked at last."""
        self._path, self._known = f"{folder}/lease", "" if known == "-" else known
        self._since, self._checked, self._most = since, checked, most

    def is_over(self) -> bool:
        """True if it was not renewed for long. What is another one now was renewed after the look before."""
        now = _uptime()
        renewed = _read(self._path)
        if renewed != self._known:
            self._known, self._since = renewed, self._checked
        self._checked = now
        return now - self._since >= self._most


class ClaimLine:
    """Claims that run one behind the other."""

    def __init__(
        self, home: str, glidein: str, shell: int, lease: GlideinLease, known: Mapping[str, str]
    ) -> None:
        """`known`: the environment of programs beside their own."""
        self._home, self._own, self._shell, self._lease = home, f"{home}/glideins/{glidein}", shell, lease
        self._known, self._termination = known, Termination()
        self._aheads = dict[str, tuple[str, str]]()
        """Of each claim that was read the one that it is behind, or nothing, and its attempt."""
        self._prepared: PlainAttempt | None = None
        """The attempt that is likely to be the next one."""

    def run(self, claim: str, tag: str) -> None:
        """Run a claim and those behind it, until there is none, or the glidein leaves."""
        write(f"{self._own}/taken/{claim}/minder", f"{os.getpid()} lasting\n")
        self._termination.heed()
        attempt: PlainAttempt | None = self._attempt(claim, tag)
        ended: tuple[str, PlainAttempt] | None = None
        while attempt is not None:
            if ended is None:
                attempt.enter()
            slot_group().begin()
            status = attempt.begin(self._known)
            if ended is not None:
                self._tell_end(ended[0], ended[1].finish())
                attempt.enter()
            ended, behind = None, None
            if status is None:
                self._prepare_behind(claim)
                attempt.mind()
                behind = self._next(claim) if attempt.is_soon_recorded else None
                if behind is None:
                    status = attempt.finish()
                else:
                    ended = claim, attempt
            if status is not None:
                os.chdir(self._home)
                if status == DECLINED:
                    status = self._by_shell(f"{self._own}/taken/{claim}", attempt.tag)
                    self._termination.heed()
                self._tell_end(claim, status)
                behind = self._next(claim)
            claim, attempt = behind or ("", None)

    def _attempt(self, claim: str, tag: str) -> PlainAttempt:
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared.tag == tag:
            return prepared
        return PlainAttempt(self._home, tag, f"{self._own}/taken/{claim}/pid", self._termination)

    def _prepare_behind(self, ahead: str) -> None:
        """Do what can be done for the attempt behind a claim before that is over."""
        claim, tag = self._behind(ahead)
        if claim:
            attempt = self._attempt(claim, tag)
            attempt.make_ready(self._known)
            self._prepared = attempt

    def _tell_end(self, claim: str, status: int) -> None:
        write(f"{self._own}/taken/{claim}/exit", f"{status}\n")

    def _next(self, ahead: str) -> tuple[str, PlainAttempt] | None:
        """Take the claim behind another, unless the glidein leaves."""
        if self._termination.asked or not is_there(self._shell) or self._lease.is_over():
            return None
        behind = self._follow(ahead)
        return None if behind is None else (behind[0], self._attempt(*behind))

    def _by_shell(self, mine: str, tag: str) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        import subprocess  # it takes longer to import than many jobs run

        words = ["/bin/sh", "-c", _BY_SHELL, "sh", f"{mine}/pid", f"./attempts/{tag}/order"]
        nothing, known = subprocess.DEVNULL, {**os.environ, "__warm": f"{self._own}/warm"}
        found = subprocess.run(
            words,
            cwd=self._home,
            env=known,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
            check=False,
        )
        if not os.path.exists(f"{self._home}/attempts/{tag}/ended"):
            _end_session(_read(f"{mine}/pid"))
        with suppress(ChildProcessError):  # none is left
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        return found.returncode if found.returncode >= 0 else 128 - found.returncode

    def _follow(self, ahead: str) -> tuple[str, str] | None:
        """Take the claim behind another. The glidein looks at what is taken once it has made `over`, so that
        either of the two sees the other."""
        claim, _ = self._behind(ahead)
        # It may be another one by now than it was when it was read.
        words = _read(f"{self._own}/claims/{claim}").split(" ") if claim else []
        if len(words) != 4 or words[1:] != ["0", "run", ahead]:
            return None  # with another nice value it is the glidein's, which can give it that
        mine = f"{self._own}/taken/{claim}"
        try:
            os.mkdir(mine)
        except OSError:
            return None
        if os.path.exists(f"{self._own}/over"):
            write(f"{mine}/exit", "refused\n")
            return None
        write(f"{mine}/tag", f"{words[0]}\n")
        write(f"{mine}/as", "0 run\n")
        write(f"{mine}/minder", f"{os.getpid()} lasting\n")
        return claim, words[0]

    def _behind(self, ahead: str) -> tuple[str, str]:
        """The claim behind another, and its attempt; empty if there is none. Each is read once: a line has
        many, and what is missed is the glidein's."""
        if all(ahead != other for other, _ in self._aheads.values()):
            names = sorted(name for name in os.listdir(f"{self._own}/claims") if not name.startswith("."))
            known = self._aheads
            self._aheads = {name: known[name] if name in known else self._ahead_of(name) for name in names}
        found = ((claim, tag) for claim, (other, tag) in self._aheads.items() if other == ahead)
        return next(found, ("", ""))

    def _ahead_of(self, claim: str) -> tuple[str, str]:
        words = _read(f"{self._own}/claims/{claim}").split(" ")
        return (words[3], words[0]) if len(words) == 4 and words[2] == "run" else ("", "")


def _end_session(leader: str) -> None:
    """Kill what a payload has left of its session, whose shell was killed itself."""
    found = True
    while found:  # others may have begun meanwhile
        found = False
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):  # it is gone, or another's
                if str(os.getsid(int(name))) == leader:
                    os.kill(int(name), signal.SIGKILL)
                    os.waitpid(int(name), 0)  # of those whose parent is gone this process is the heir
                    found = True


def is_there(pid: int) -> bool:
    """True for a process that has not ended, or whose end nobody has heard."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _read(path: str) -> str:
    """The first line of a file; empty if there is none."""
    try:
        return read(path).partition(b"\n")[0].decode("utf-8", "replace")
    except OSError:
        return ""


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
