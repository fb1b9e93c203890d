"""Takes claims of slot1 from a glidein, and runs those in line behind them (`glidein.sh` does it else).

`main` runs in the broker's directory at a site. The glidein's shell writes lines to the FIFO `orders`:
`CLAIM TAG KNOWN SINCE CHECKED MOST`; the last four are what it knows of its lease, in seconds since the
machine started. Each line is run by a process of its own, which is the minder of its claims.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

from broker_core.worker.scripts.payloads.order_file import read_order
from broker_core.worker.scripts.payloads.run import DECLINED, PlainAttempt, be_heir, box_words

_PERIOD = 5.0
"""Seconds between looks whether the glidein is there."""
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

    def __init__(self, home: str, glidein: str, shell: int, lease: GlideinLease) -> None:
        self._home, self._own, self._shell, self._lease = home, f"{home}/glideins/{glidein}", shell, lease

    def run(self, claim: str, tag: str) -> None:
        """Run a claim and those behind it, until there is none, or the glidein leaves."""
        _write(f"{self._own}/taken/{claim}/minder", f"{os.getpid()} lasting\n")
        while True:
            mine = f"{self._own}/taken/{claim}"
            attempt = PlainAttempt(self._home, tag, f"{mine}/pid")
            status = attempt.run()
            if status == DECLINED:
                status = self._by_shell(mine, tag)
            _write(f"{mine}/exit", f"{status}\n")
            if attempt.terminated or not _runs(self._shell) or self._lease.is_over():
                return
            behind = self._follow(claim)
            if behind is None:
                return
            claim, tag = behind

    def _by_shell(self, mine: str, tag: str) -> int:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
        return found.returncode if found.returncode >= 0 else 128 - found.returncode

    def _follow(self, ahead: str) -> tuple[str, str] | None:
        """Take the claim behind another. The glidein looks at what is taken once it has made `over`, so that
        either of the two sees the other."""
        for claim in sorted(os.listdir(f"{self._own}/claims")):
            if claim.startswith("."):
                continue
            words = _read(f"{self._own}/claims/{claim}").split(" ")
            if len(words) != 4 or words[2:] != ["run", ahead]:
                continue
            mine = f"{self._own}/taken/{claim}"
            try:
                os.mkdir(mine)
            except OSError:
                return None
            if os.path.exists(f"{self._own}/over"):
                _write(f"{mine}/exit", "refused\n")
                return None
            _write(f"{mine}/tag", f"{words[0]}\n")
            _write(f"{mine}/as", f"{words[1]} run\n")
            _write(f"{mine}/minder", f"{os.getpid()} lasting\n")
            return claim, words[0]
        return None


def main(glidein: str, shell: int) -> None:
    """Run what is written to the FIFO, as long as the glidein is there."""
    os.close(os.pidfd_open(os.getpid()))  # a kernel, or Python, that is too old ends it
    os.umask(0o077)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    home = os.getcwd()
    own = f"{home}/glideins/{glidein}"
    number = os.open(f"{own}/orders", os.O_RDWR | os.O_CLOEXEC)
    _write(f"{own}/starter", f"{os.getpid()}\n")
    rest = b""
    while _runs(shell):
        if not select.select([number], [], [], _PERIOD)[0]:
            continue
        rest += os.read(number, 65536)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            claim, tag, known, *moments = line.decode().split(" ")
            _prepare_box(f"{home}/attempts/{tag}")
            if _forked() == 0:
                os.close(number)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                lease = GlideinLease(own, known, *map(float, moments))
                _begin(ClaimLine(home, glidein, shell, lease), claim, tag)


def _forked() -> int:
    """As os.fork, once there is room for one more process."""
    while True:
        try:
            return os.fork()
        except OSError:
            select.select([], [], [], _PERIOD)


def _begin(line: ClaimLine, claim: str, tag: str) -> None:
    """Does not return."""
    status = 1
    try:
        be_heir()
        line.run(claim, tag)
        status = 0
    finally:
        os._exit(status)


def _prepare_box(folder: str) -> None:
    """Know the words of a box before the process that wants them is there: they are asked for once."""
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        order = read_order(folder, os.environ)
        if order is not None:
            box_words(tuple(order["box"]))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _read(path: str) -> str:
    """The first line of a file; empty if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
