"""Runs one plain attempt in the slot of a glidein, with the records of `job_records.sh` (CB-JS-01, 06)."""

from __future__ import annotations

import functools
import os
import resource
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from types import FrameType

from broker_core.worker.boxing.kernel_calls import process_control
from broker_core.worker.scripts.payloads.boxes import BoxWords, Files, OwnBox, Program, RunningBox, boxes
from broker_core.worker.scripts.payloads.order_file import read_order
from broker_core.worker.scripts.payloads.outputs import drop_links_out, is_soon_listed
from broker_core.worker.scripts.payloads.records import record_end, tell
from broker_core.worker.scripts.plain import programs, records
from broker_core.worker.scripts.plain.records import TYPE_CHECKING, EndOfProgram, Order

if TYPE_CHECKING:
    from subprocess import Popen

DECLINED = -1
"""Nothing was done: `job_records.sh` can, and says why where it cannot."""
_ALONE = 1.0
"""Seconds after which a program that still runs is attended by a shell: that ends, stops and measures it."""
_ROOM = 8192
"""Bytes on the disk that are given back for the record of the end."""
_CANCELED = "Canceled as its owner asked."
_DIRECTORY = "/directory-of-the-attempt"
"""Stands for it in the words of a box."""
_BOX_IGNORES = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
"""What programs in a box heed, and not what makes the box."""
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
_MOST_SECONDS = 20.0
"""Seconds; the shell of the glidein waits meanwhile."""
_BE_SUBREAPER = 36
"""Option of prctl(2)."""


class Termination:
    """Notes that the batch system asks to end."""

    def __init__(self) -> None:
        self.asked = False

    def heed(self) -> None:
        """Note it from now on."""
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, _: int, __: FrameType | None) -> None:
        self.asked = True


class PayloadRun(Enum):
    """How it went for a program that runs."""

    BRIEF = "nothing but a short wait"
    ATTENDED = "a shell looked at it too"
    LATE = "it was ended for its wall limit"


class PlainAttempt:
    """One attempt."""

    def __init__(self, home: str, tag: str, pid_file: str, termination: Termination) -> None:
        """`home`: the broker's directory at the site; `pid_file`: where the program's process is named."""
        self.tag = tag
        self._folder, self._pid_file, self._termination = f"{home}/attempts/{tag}", pid_file, termination
        self._work: tuple[Order, str, list[str]] | None = None
        """What is to be done, the path of the program, and the words of its box."""
        self._running: RunningBox | None = None
        self._unstarted: EndOfProgram | None = None
        self._run = PayloadRun.BRIEF

    @property
    def _job(self) -> str:
        return f"{self._folder}/job"

    @property
    def _order(self) -> Order:
        if self._work is None:
            raise ValueError("it did not begin")
        return self._work[0]

    def read(self, known: Mapping[str, str]) -> bool:
        """Read what is to be done, once; false if that is nothing for this process.

        `known`: the environment of the program beside its own.
        """
        if self._work is None:
            with suppress(OSError, ValueError):
                order = read_order(self._folder, known)
                program = "" if order is None else _find_program(order, self._job)
                words = box_words(tuple(order["box"])) if order is not None and program else []
                self._work = (order, program, words) if order is not None and words else None
        return self._work is not None

    def make_ready(self, known: Mapping[str, str]) -> None:
        """Do what can be done before it begins."""
        if self.read(known):
            with suppress(OSError):  # it is told when it is to begin
                boxes().make_ready(self._folder, *self._in_box(), self._files())

    def begin(self, known: Mapping[str, str]) -> int | None:
        """Start it; else, if there is nothing to `finish`, the exit status as of `job_records.sh`, or
        DECLINED."""
        if not self.read(known):
            return DECLINED
        try:
            os.mkdir(f"{self._folder}/claim")
        except FileExistsError:
            return 226
        except OSError:
            return DECLINED
        self._start()
        return None

    def enter(self) -> None:
        """Go to the directory of the job, as who records it must."""
        try:
            os.chdir(self._job)
        except OSError:  # the program forbids it, and has no results then: that one is empty
            with suppress(OSError):  # it has not begun
                os.chdir(f"{self._folder}/claim")

    def _start(self) -> None:
        folder = self._folder
        try:
            records.write(f"{folder}/room", " " * _ROOM)
            if os.path.exists(f"{folder}/cancel"):
                self._unstarted = EndOfProgram("-", "killed", records.escaped(_CANCELED))
                return
            self._running = running = self._begin()
        except OSError as error:
            why = records.escaped(f"It could not be started: {error.strerror}.")
            self._unstarted = EndOfProgram("-", "starter", why)
            return
        try:
            records.write(self._pid_file, f"{running.pid}\n")
            records.write(f"{folder}/started", records.start_text(running.pid, int(time.time())))
        except OSError:
            # What could not be told to have begun would be begun again.
            running.kill()
            running.wait()
            with suppress(OSError):
                os.unlink(f"{folder}/started")
            why = "The start could not be recorded, so nothing was started; the disk may be full."
            self._unstarted = EndOfProgram("-", "starter", records.escaped(why))
            return
        tell(self._order, "started", "s")

    @property
    def is_soon_recorded(self) -> bool:
        """The next program need not wait until `finish` is through: this one has ended by itself, within a
        moment, and left next to nothing."""
        running = self._running
        if self._unstarted is not None or running is None or not running.lets_next_begin:
            return False
        return self._run is PayloadRun.BRIEF and is_soon_listed(self._order)

    def finish(self) -> int:
        """Leave the records of its end, in the directory of the job; the exit status as of
        `job_records.sh`."""
        if self._unstarted is not None:
            return record_end(self._order, self._unstarted)
        if self._running is None:
            raise ValueError("it did not begin")
        return self._over(self._order, *self._running.wait())

    def _files(self) -> Files:
        return programs.redirections(self._order, self._job)

    def _in_box(self) -> tuple[BoxWords, Program]:
        """What its box and its program are told by."""
        if self._work is None:
            raise ValueError("it was not read")
        order, program, words = self._work
        return (words, _DIRECTORY), ([program, *order["arguments"]], order["environment"])

    def _begin(self) -> RunningBox:
        box, program = self._in_box()
        made = boxes().begin(self._folder, box, program, self._files)
        if made is not None:
            return made
        with suppress(FileExistsError):  # where a box was made for it before
            os.mkdir(f"{self._folder}/scratch")
        # What comes to all processes of a session is for the program in the box, which sees to that.
        for number in _BOX_IGNORES:
            signal.signal(number, signal.SIG_IGN)
        try:
            words = [*(word.replace(_DIRECTORY, self._folder) for word in box[0]), *program[0]]
            return OwnBox(programs.spawn(words[0], words, program[1], list(self._files()), _RESET))
        finally:
            self._termination.heed()
            for number in _BOX_IGNORES:
                if number != signal.SIGTERM:
                    signal.signal(number, signal.SIG_DFL)

    def mind(self) -> None:
        """Wait for the end of the program, or end it for its wall limit."""
        order, running = self._order, self._running
        if self._unstarted is not None or running is None:
            return
        limit, attendant = order["wall_limit"], None
        began = time.monotonic()
        try:
            while True:
                left = None if limit is None else began + limit - time.monotonic()
                if left is not None and left <= 0:
                    with suppress(OSError):  # the disk is full
                        records.write(f"{self._folder}/stopped", "wall-limit\n")
                    programs.end_all(order["tag"], order["kill_grace"])
                    self._run = PayloadRun.LATE
                    return
                pause = _ALONE if attendant is None else left
                if running.is_over(pause if left is None or pause is None else min(pause, left)):
                    return
                if attendant is None and time.monotonic() >= began + _ALONE:
                    self._run = PayloadRun.ATTENDED
                    with suppress(OSError):  # there is no room for one more process: it is tried again
                        attendant = self._attend(order, running.pid)
        finally:
            if attendant is not None:
                if not os.path.exists(f"{self._folder}/stopped"):
                    attendant.send_signal(signal.SIGUSR1)
                attendant.wait()

    def _attend(self, order: Order, pid: int) -> Popen[bytes]:
        import subprocess  # it takes longer to import than many jobs run

        known = {**os.environ, "__attended": str(os.getpid()), "__leader": str(pid)}
        words = ["/bin/sh", "-c", '. "$1"', "sh", f"{self._folder}/order"]
        nothing = subprocess.DEVNULL
        return subprocess.Popen(
            words, env=known, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )

    def _over(self, order: Order, status: int, usage: resource.struct_rusage | None) -> int:
        drop_links_out()
        _remove(f"{self._folder}/scratch")
        kind, reason = "-", ""
        if os.path.exists(f"{self._folder}/stopped"):
            with open(f"{self._folder}/stopped") as file:
                kind = file.read().strip()
            unheard = f"The broker was not heard from for {order['lease']} seconds."
            reason = records.escaped({"killed": _CANCELED, "lease": unheard}.get(kind, ""))
        if self._run is PayloadRun.LATE:
            kind, reason = "wall-limit", records.late_reason(order)
        elif kind == "-" and status:
            kind, reason = records.spent(order, status)
        end = EndOfProgram(status, kind, reason, usage)
        end.more = "terminated 1\n" if self._termination.asked else ""
        return record_end(order, end)


@functools.cache
def box_words(words: tuple[str, ...]) -> list[str]:
    """What becomes a box, in front of the program; nothing where boxes cannot be told in words."""
    script, _, *rest = words
    answer = programs.output_of(["/bin/sh", script, "tell", *rest, _DIRECTORY, ""], _MOST_SECONDS)
    found = os.fsdecode(answer).split("\0")[:-2]
    return [programs.find_program(found[0], os.environ.get("PATH", os.defpath)), *found[1:]] if found else []


def _find_program(order: Order, job: str) -> str:
    """Path of the program, or nothing if not all is there that it needs. Raises OSError."""
    found = programs.find_program(order["program"], order["environment"].get("PATH", os.defpath), job)
    programs.readable(order["stdin"] and os.path.join(job, order["stdin"]))
    is_all = os.path.isdir(job) and all(os.path.exists(os.path.join(job, one)) for one in order["inputs"])
    return found if is_all else ""


def be_minder() -> None:
    """Become the parent of what the processes of this one leave. Raises OSError."""
    # A shell cannot heed what is ignored when it begins: that which attends is one.
    for number in (*_BOX_IGNORES, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGTERM else signal.SIG_DFL)
    process_control(_BE_SUBREAPER, 1)


def _remove(folder: str) -> None:
    """A folder of which the program may have changed the modes."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return  # it was in the box alone
    except OSError:
        pass  # it is not empty
    import shutil  # as of `subprocess`

    shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder):
        for at, _, __ in os.walk(folder):
            with suppress(OSError):
                os.chmod(at, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
