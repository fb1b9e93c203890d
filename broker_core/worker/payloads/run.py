"""Runs one plain attempt in the slot of a glidein, and leaves the records of `job_starter.sh` (CB-JS-01, 06)."""

from __future__ import annotations

import functools
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from types import FrameType

from broker_core.worker.boxing.kernel_calls import process_control
from broker_core.worker.payloads.order_file import Order, read_order
from broker_core.worker.payloads.outputs import drop_links_out, list_outputs
from broker_core.worker.scripts import lasting_starter as starter

DECLINED = -1
"""Nothing was done: `job_starter.sh` can, and says why where it cannot."""
_ALONE = 1.0
"""Seconds after which a program that still runs is attended by a shell: that ends, stops and measures it."""
_ROOM = 8192
"""Bytes on the disk that are given back for the record of the end."""
_OUR_FAILURE, _BEYOND = 227, 199
_EXITS = {"wall-limit": 224, "output-limit": 225, "out-of-memory": 230, "killed": 227, "lease": 227, "lost": 227}
"""Kinds of failure to the exit status of a Job Starter."""
_REASONS = {
    "lease": "The broker was not heard from for 10 seconds.",
    "killed": "Canceled as its owner asked.",
}
_LEFT = ("room", "kernel")
_PLACE = "/directory-of-the-attempt"
"""Stands for it in the words of a box."""
_BOX_IGNORES = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
_BE_SUBREAPER = 36
"""Option of prctl(2)."""


class Payload:
    """One attempt. `terminated` becomes true when the batch system asks to end."""

    def __init__(self, home: str, tag: str, pid_file: str) -> None:
        """`home`: the broker's directory at the site; `pid_file`: where the program's process is named."""
        self._folder, self._pid_file = f"{home}/attempts/{tag}", pid_file
        self.terminated = False

    def run(self) -> int:
        """Run it to its end; the exit status as of `job_starter.sh`, or DECLINED."""
        try:
            order = read_order(self._folder, os.environ)
            if order is None or not _can_start(order):
                return DECLINED
            words = box_words(tuple(order["box"]))
        except (OSError, ValueError, subprocess.SubprocessError):
            return DECLINED
        if not words:
            return DECLINED
        try:
            os.mkdir(f"{self._folder}/claim")
        except FileExistsError:
            return 226
        except OSError:
            return DECLINED
        return self._started(order, [word.replace(_PLACE, self._folder) for word in words])

    def _asked_to_end(self, _: int, __: FrameType | None) -> None:
        self.terminated = True

    def _started(self, order: Order, box: list[str]) -> int:
        folder = self._folder
        try:
            with open(f"{folder}/room", "wb") as room:
                room.write(b" " * _ROOM)
            os.mkdir(f"{folder}/scratch")
            if os.path.exists(f"{folder}/cancel"):
                return _record(order, _Ended("-", "killed", _REASONS["killed"]))
            pid = self._begin(order, box)
        except OSError as error:
            return _record(order, _Ended("-", "starter", f"It could not be started: {error.strerror}."))
        try:
            _write(self._pid_file, f"{pid}\n")
            about = f"pid {pid}\nstarter {os.getpid()}\nuptime {starter.uptime()}\ntime {int(time.time())}\n"
            _write(f"{folder}/started", f"{about}node {os.uname().nodename}\n.\n")
        except OSError:
            # What could not be told to have begun would be begun again.
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            with suppress(OSError):
                os.unlink(f"{folder}/started")
            reason = "The start could not be recorded, so nothing was started; the disk may be full."
            return _record(order, _Ended("-", "starter", reason))
        _tell(order, "started", "s")
        late = self._mind(order, pid)
        _, status, usage = os.wait4(pid, 0)
        _end_group(pid)
        code = os.waitstatus_to_exitcode(status)
        return self._over(order, 128 - code if code < 0 else code, usage, late)

    def _begin(self, order: Order, box: list[str]) -> int:
        # What comes to all processes of a session is for the program in the box, which sees to that.
        for number in _BOX_IGNORES:
            signal.signal(number, signal.SIG_IGN)
        words, known = [*box, _program(order), *order["arguments"]], order["environment"]
        pid = starter.spawn(box[0], words, known, starter.redirections(order), _RESET)
        signal.signal(signal.SIGTERM, self._asked_to_end)
        return pid

    def _mind(self, order: Order, pid: int) -> bool:
        """Wait for the end of the program; true if it was ended for its wall limit."""
        limit, attendant = order["wall_limit"], None
        began, number = time.monotonic(), os.pidfd_open(pid)
        try:
            while True:
                left = None if limit is None else began + limit - time.monotonic()
                if left is not None and left <= 0:
                    _write(f"{self._folder}/stopped", "wall-limit\n")
                    starter.end_all(order["tag"], order["kill_grace"])
                    return True
                pause = _ALONE if attendant is None else left
                if _ready(number, pause if left is None or pause is None else min(pause, left)):
                    return False
                if attendant is None:
                    attendant = self._attend(order, pid)
        finally:
            os.close(number)
            if attendant is not None:
                if not os.path.exists(f"{self._folder}/stopped"):
                    attendant.send_signal(signal.SIGUSR1)
                attendant.wait()

    def _attend(self, order: Order, pid: int) -> subprocess.Popen[bytes]:
        known = {**os.environ, "__attended": str(os.getpid()), "__leader": str(pid)}
        words = ["/bin/sh", "-c", '. "$1"', "sh", f"{self._folder}/order"]
        nothing = subprocess.DEVNULL
        return subprocess.Popen(
            words, env=known, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )

    def _over(self, order: Order, status: int, usage: resource.struct_rusage, late: bool) -> int:
        drop_links_out()
        _remove(f"{self._folder}/scratch")
        kind, reason = "-", ""
        if os.path.exists(f"{self._folder}/stopped"):
            with open(f"{self._folder}/stopped") as file:
                kind = file.read().strip()
            reason = _REASONS.get(kind, "")
        if late:
            seconds = f"{order['wall_limit']:.3f}".rstrip("0").rstrip(".")
            kind, reason = "wall-limit", f"The wall-time limit of {seconds} seconds was reached."
        elif kind == "-" and status and not self.terminated:
            kind, escaped = starter.failure(order, status)
            return _record(order, _Ended(status, kind, escaped, usage, is_escaped=True))
        return _record(order, _Ended(status, kind, reason, usage, terminated=self.terminated))


class _Ended:
    """How it ended: exit status or `-`, kind of failure or `-`, and why."""

    def __init__(
        self,
        status: int | str,
        kind: str,
        reason: str,
        usage: resource.struct_rusage | None = None,
        *,
        is_escaped: bool = False,
        terminated: bool = False,
    ) -> None:
        self.status, self.kind, self.usage, self.terminated = status, kind, usage, terminated
        self.reason = reason if is_escaped else starter.escaped(reason)

    @property
    def exit_status(self) -> int:
        """As of `job_starter.sh`."""
        if self.kind != "-":
            return _EXITS.get(self.kind, _OUR_FAILURE)
        code = int(self.status)
        return _BEYOND if code > 192 or 125 < code < 129 else code


def _record(order: Order, end: _Ended) -> int:
    """Write how it ended, tell the broker, and return the exit status."""
    here = order["directory"]
    missing: list[str] = []
    for name in (*starter.OWN_FILES,):
        if os.path.exists(name):
            os.unlink(name)
    with suppress(OSError):
        if end.status != "-":
            starter.limit_published()
            missing = [encoded for name, encoded in order["outputs"] if not starter.produced(name)]
            list_outputs(order)
    more = "terminated 1\n" if end.terminated else ""
    times = "0m0s 0m0s"
    if end.usage is not None:
        begins = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = max(end.usage.ru_maxrss if end.usage.ru_maxrss > begins else 0, *starter.sampled_memory())
        more += f"memory {peak}\n" if peak else ""
        times = f"0m{end.usage.ru_utime:.6f}s 0m{end.usage.ru_stime:.6f}s"
    for name in _LEFT:
        with suppress(OSError):
            os.unlink(f"{here}/{name}")
    with suppress(OSError):  # the disk is full: the broker finds out that nothing is told
        _write(
            f"{here}/ended",
            f"exit {end.status}\nfailure {end.kind}\nuptime {starter.uptime()}\ntime {int(time.time())}\n"
            f"missing {','.join(missing)}\nreason {end.reason}\n{more}times\n0m0s 0m0s\n{times}\n.\n",
        )
        _tell(order, "outputs", "o")
        _tell(order, "ended", "e")
    return end.exit_status


def _tell(order: Order, marker: str, letter: str) -> None:
    """Leave a marker where the broker looks for news."""
    path, news = f"{order['directory']}/{marker}", f"{order['news']}/{order['tag']}.{letter}"
    if not order["news"] or not os.path.exists(path):
        return
    try:
        os.link(path, news)
    except FileExistsError:
        pass
    except OSError:
        part = f"{order['news']}/.{order['tag']}.{letter}"
        shutil.copy2(path, part)
        os.rename(part, news)


@functools.cache
def box_words(words: tuple[str, ...]) -> list[str]:
    """What becomes a box, in front of the program; nothing where boxes cannot be told in words."""
    script, _, *rest = words
    told = subprocess.run(
        ["/bin/sh", script, "tell", *rest, _PLACE, ""],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    found = os.fsdecode(told.stdout).split("\0")[:-2]
    return [starter.find_program(found[0], os.environ.get("PATH", os.defpath)), *found[1:]] if found else []


def _can_start(order: Order) -> bool:
    """Go to the job's directory; true if all is there that the program needs. Raises OSError."""
    os.chdir(f"{order['directory']}/job")
    _program(order)
    starter.readable(order["stdin"])
    return all(map(os.path.exists, order["inputs"]))


def _program(order: Order) -> str:
    return starter.find_program(order["program"], order["environment"].get("PATH", os.defpath))


def _ready(number: int, seconds: float | None) -> bool:
    while True:
        try:
            return bool(select.select([number], [], [], seconds)[0])
        except InterruptedError:
            continue


def _end_group(pid: int) -> None:
    """Wait until nothing is left of the box, which the kernel ends with its program: it is ours then."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-pid, 0)


def be_heir() -> None:
    """Become the parent of what the processes of this one leave. Raises OSError."""
    process_control(_BE_SUBREAPER, 1)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _remove(folder: str) -> None:
    """A folder of which the program may have changed the modes."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder):
        for at, _, __ in os.walk(folder):
            with suppress(OSError):
                os.chmod(at, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
