"""Runs one plain attempt in the slot of a glidein, with the records of `job_records.sh` (CB-JS-01, 06)."""

from __future__ import annotations

import functools
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType

from broker_core.worker.boxing.kernel_calls import process_control
from broker_core.worker.scripts.payloads.boxes import OwnBox, RunningBox, boxes
from broker_core.worker.scripts.payloads.order_file import read_order
from broker_core.worker.scripts.payloads.outputs import drop_links_out
from broker_core.worker.scripts.payloads.records import record_end, tell
from broker_core.worker.scripts.plain import programs, records
from broker_core.worker.scripts.plain.records import EndOfProgram, Order

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


class PlainAttempt:
    """One attempt."""

    def __init__(self, home: str, tag: str, pid_file: str, termination: Termination) -> None:
        """`home`: the broker's directory at the site; `pid_file`: where the program's process is named."""
        self._folder, self._pid_file, self._termination = f"{home}/attempts/{tag}", pid_file, termination

    def run(self, known: Mapping[str, str], next_tag: Callable[[], str]) -> int:
        """Run it to its end; the exit status as of `job_records.sh`, or DECLINED.

        `known`: the environment of the program beside its own; `next_tag`: the attempt that is likely to be
        the next one, or nothing.
        """
        try:
            order = read_order(self._folder, known)
            program = "" if order is None else _find_program(order)
            if order is None or not program:
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
        return self._started(order, program, words, next_tag)

    def _started(self, order: Order, program: str, box: list[str], next_tag: Callable[[], str]) -> int:
        folder = self._folder
        try:
            records.write(f"{folder}/room", " " * _ROOM)
            if os.path.exists(f"{folder}/cancel"):
                return record_end(order, EndOfProgram("-", "killed", records.escaped(_CANCELED)))
            running = self._begin(order, program, box)
        except OSError as error:
            why = records.escaped(f"It could not be started: {error.strerror}.")
            return record_end(order, EndOfProgram("-", "starter", why))
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
            return record_end(order, EndOfProgram("-", "starter", records.escaped(why)))
        tell(order, "started", "s")
        if tag := next_tag():
            boxes().make_ahead(tag)
        late = self._mind(order, running)
        status, usage = running.wait()
        return self._over(order, status, usage, late)

    def _begin(self, order: Order, program: str, box: list[str]) -> RunningBox:
        words, known = [program, *order["arguments"]], order["environment"]
        actions = programs.redirections(order)
        made = boxes().begin(self._folder, (box, _DIRECTORY), (words, known), actions)
        if made is not None:
            return made
        os.mkdir(f"{self._folder}/scratch")
        # What comes to all processes of a session is for the program in the box, which sees to that.
        for number in _BOX_IGNORES:
            signal.signal(number, signal.SIG_IGN)
        try:
            words = [*(word.replace(_DIRECTORY, self._folder) for word in box), *words]
            return OwnBox(programs.spawn(words[0], words, known, actions, _RESET))
        finally:
            self._termination.heed()
            for number in _BOX_IGNORES:
                if number != signal.SIGTERM:
                    signal.signal(number, signal.SIG_DFL)

    def _mind(self, order: Order, running: RunningBox) -> bool:
        """Wait for the end of the program; true if it was ended for its wall limit."""
        limit, attendant = order["wall_limit"], None
        began = time.monotonic()
        try:
            while True:
                left = None if limit is None else began + limit - time.monotonic()
                if left is not None and left <= 0:
                    with suppress(OSError):  # the disk is full
                        records.write(f"{self._folder}/stopped", "wall-limit\n")
                    programs.end_all(order["tag"], order["kill_grace"])
                    return True
                pause = _ALONE if attendant is None else left
                if running.is_over(pause if left is None or pause is None else min(pause, left)):
                    return False
                if attendant is None and time.monotonic() >= began + _ALONE:
                    with suppress(OSError):  # there is no room for one more process: it is tried again
                        attendant = self._attend(order, running.pid)
        finally:
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

    def _over(self, order: Order, status: int, usage: resource.struct_rusage | None, late: bool) -> int:
        drop_links_out()
        _remove(f"{self._folder}/scratch")
        kind, reason = "-", ""
        if os.path.exists(f"{self._folder}/stopped"):
            with open(f"{self._folder}/stopped") as file:
                kind = file.read().strip()
            unheard = f"The broker was not heard from for {order['lease']} seconds."
            reason = records.escaped({"killed": _CANCELED, "lease": unheard}.get(kind, ""))
        if late:
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
    answer = subprocess.run(
        ["/bin/sh", script, "tell", *rest, _DIRECTORY, ""],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=_MOST_SECONDS,
    )
    found = os.fsdecode(answer.stdout).split("\0")[:-2]
    return [programs.find_program(found[0], os.environ.get("PATH", os.defpath)), *found[1:]] if found else []


def _find_program(order: Order) -> str:
    """Go to the job's directory; path of the program, or nothing if not all is there that it needs. Raises
    OSError."""
    os.chdir(f"{order['directory']}/job")
    found = programs.find_program(order["program"], order["environment"].get("PATH", os.defpath))
    programs.readable(order["stdin"])
    return found if all(map(os.path.exists, order["inputs"])) else ""


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
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder):
        for at, _, __ in os.walk(folder):
            with suppress(OSError):
                os.chmod(at, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
