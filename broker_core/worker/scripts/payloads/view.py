"""What programs see in a box: read from the words of bubblewrap, and made as those say, without it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import islice

from broker_core.worker.boxing import mounts

_ALONE = frozenset(
    {"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try", "--die-with-parent"}
)
"""Options for what a lasting box always does."""
_BINDS = frozenset({"--ro-bind", "--ro-bind-try", "--bind", "--bind-try", "--dev-bind"})
_ONE, _TWO = frozenset({"--dev", "--proc", "--tmpfs", "--chdir", "--cap-drop"}), _BINDS | {"--symlink"}
_EMPTY = mounts.NO_SET_USER_ID | mounts.NO_DEVICES
OF_PROCESSES = _EMPTY | mounts.NO_PROGRAMS
"""How /proc is mounted, as of mount(2)."""
_MODE = b"mode=0755"
_DEVICES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty")
_LINKS = {
    b"stdin": b"/proc/self/fd/0",
    b"stdout": b"/proc/self/fd/1",
    b"stderr": b"/proc/self/fd/2",
    b"fd": b"/proc/self/fd",
    b"core": b"/proc/kcore",
    b"ptmx": b"pts/ptmx",
}
_CONTROLS = (b"sys", b"sysrq-trigger", b"irq", b"bus")
"""Of /proc, where root could write: also without rights, as they are root's files."""
_SETTINGS = "/proc/sys"
"""The first of them, which the words for root name too."""
_NEW, _ATTEMPTS, _DEVICE_FILES, _BEFORE = b"/new", b"/attempts", b"/devices", b"/before"
_READ, _WRITTEN = b"/read", b"/written"
"""What is seen of the node, by whether programs may write to it."""
PROCESSES = "/processes"
"""Where /proc is, outside of boxes, when a view was prepared."""

Step = tuple[str, str, str]
"""Option, source or empty, and where it is seen."""


def steps_of(words: Iterable[str], directory: str) -> list[Step] | None:
    """What the words of bubblewrap show to all programs of a line; None if they want something else.

    `directory`: what stands for that of the attempt, which may name nothing but `job` and `scratch`.
    """
    rest, found, own = iter(words), list[Step](), set[str]()
    for word in rest:
        if word == "--":
            return found if own == {f"{directory}/job", f"{directory}/scratch"} else None
        count = 1 if word in _ONE else 2 if word in _TWO else 0
        values = list(islice(rest, count))
        if (word not in _ALONE and not count) or len(values) < count:
            return None
        if word == "--cap-drop":
            if values != ["ALL"]:
                return None
        elif any(value.startswith(directory) for value in values):
            if word == "--bind" and values[0] == values[1]:
                own.add(values[0])
            elif word != "--chdir":
                return None
        elif count and values[-1] != _SETTINGS:
            found.append((word, values[0] if count > 1 else "", values[-1]))
    return None


class BoxView:
    """What the boxes of a line have in common."""

    def __init__(self, steps: list[Step], attempts: str) -> None:
        """`attempts`: the folder with those of the jobs."""
        self._attempts, self._wanted = os.fsencode(attempts), steps
        self._steps = list[Callable[[], None]]()
        """All of a box, but what is its own."""
        self.processes = b""
        """Where /proc of a box is to be mounted before `enter`, by a process of it."""

    def prepare(self) -> None:
        """Leave the file system of the node for one that has no more than boxes need. Raises OSError."""
        real = {source: os.path.realpath(source) for option, source, _ in self._wanted if option in _BINDS}
        attempts = os.path.realpath(self._attempts)
        mounts.hear_from_outside_only()
        mounts.make(b"tmpfs", b"/tmp", _EMPTY, _MODE)
        os.mkdir(b"/tmp" + _BEFORE)
        mounts.take_root(b"/tmp", _BEFORE[1:])
        for name in (_NEW, _ATTEMPTS, _DEVICE_FILES, _READ, _WRITTEN, os.fsencode(PROCESSES)):
            os.mkdir(name)
        for name in (_READ, _WRITTEN):
            mounts.make(b"tmpfs", name, _EMPTY, _MODE)
        mounts.bind(_BEFORE + b"/proc", os.fsencode(PROCESSES))
        _make_devices()
        self._steps.append(partial(mounts.make, b"tmpfs", _NEW, _EMPTY, _MODE))
        for option, source, target in self._wanted:
            self._prepare_step(option, os.fsencode(real.get(source, source)), os.fsencode(target))
        mounts.restrict(_DEVICE_FILES, read_only=True, devices=True, deep=False)
        mounts.bind(_BEFORE + attempts, _ATTEMPTS)
        mounts.restrict(_ATTEMPTS, read_only=False)
        mounts.forget(_BEFORE)

    def _prepare_step(self, option: str, source: bytes, target: bytes) -> None:
        at = _NEW + target
        if option in _BINDS:
            self._prepare_bind(option, _BEFORE + source, target)
        elif option == "--symlink":
            self._steps += [partial(_make_folder, os.path.dirname(at)), partial(os.symlink, source, at)]
        elif option == "--dev":
            shared = partial(mounts.make, b"tmpfs", at + b"/shm", _EMPTY, _MODE)
            self._steps += [partial(_make_folder, at), partial(mounts.bind, _DEVICE_FILES, at), shared]
        elif option == "--tmpfs":
            self._steps += [partial(_make_folder, at), partial(mounts.make, b"tmpfs", at, _EMPTY, _MODE)]
        else:
            self._steps.append(partial(_make_folder, at))
            self.processes = at

    def _prepare_bind(self, option: str, source: bytes, target: bytes) -> None:
        devices, read_only = option == "--dev-bind", option.startswith("--ro-")
        under = (b"" if devices else _READ if read_only else _WRITTEN) + b"/%d" % len(self._steps)
        if option.endswith("-try") and not os.path.exists(source):
            return
        make_room = _make_folder if os.path.isdir(source) else _make_file
        make_room(under)
        mounts.bind(source, under)
        if devices:
            mounts.restrict(under, read_only=False, devices=True)
        if target.startswith(b"/dev/"):
            make_room(_DEVICE_FILES + target[4:])
        at = _NEW + target
        self._steps += [partial(make_room, at), partial(mounts.bind, under, at)]

    def lay_out(self) -> None:
        """Mount what every box shows, but /proc, where nobody sees it yet. Raises OSError."""
        # The node may have mounted more there meanwhile.
        mounts.restrict(_READ, read_only=True)
        mounts.restrict(_WRITTEN, read_only=False)
        for step in self._steps:
            step()

    def show(self, tag: str) -> None:
        """Mount what is an attempt's own. Raises OSError."""
        at = b"/" + os.fsencode(tag)
        own = _NEW + self._attempts + at
        _make_folder(own + b"/job")
        mounts.bind(_ATTEMPTS + at + b"/job", own + b"/job")
        _make_folder(own + b"/scratch")  # it need not outlive the box, as /tmp

    def enter(self, tag: str) -> None:
        """Go there, into the directory of the job. Raises OSError."""
        os.stat(self.processes + b"/1")  # it is mounted
        for name in _CONTROLS:
            control = self.processes + b"/" + name
            # Nobody may write to the folder of the settings, but root to those.
            if os.access(control, os.W_OK) or (name == b"sys" and os.getuid() == 0):
                mounts.bind(control, control)
                mounts.restrict(control, read_only=True)
        mounts.take_root(_NEW)
        os.chdir(self._attempts + b"/" + os.fsencode(tag) + b"/job")


def _make_devices() -> None:
    """What a program finds in /dev; it cannot change what is there for the next one too."""
    mounts.make(b"tmpfs", _DEVICE_FILES, _EMPTY, _MODE)
    for name in _DEVICES:
        at = _DEVICE_FILES + b"/" + name
        _make_file(at)
        mounts.bind(_BEFORE + b"/dev/" + name, at)
        # That forbids to change modes, not to write to the device.
        mounts.restrict(at, read_only=True, devices=True)
    for name, target in _LINKS.items():
        os.symlink(target, _DEVICE_FILES + b"/" + name)
    for name in (b"/shm", b"/pts"):
        os.mkdir(_DEVICE_FILES + name)
    flags = mounts.NO_SET_USER_ID | mounts.NO_PROGRAMS
    mounts.make(b"devpts", _DEVICE_FILES + b"/pts", flags, b"newinstance,ptmxmode=0666,mode=620")
    mounts.restrict(_DEVICE_FILES + b"/pts", read_only=True, devices=True)


def _make_file(path: bytes) -> None:
    """A place for a file, if there is none."""
    _make_folder(os.path.dirname(path))
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))


def _make_folder(path: bytes) -> None:
    """A place for a folder, if there is none."""
    try:
        os.mkdir(path)
    except FileExistsError:
        pass
    except FileNotFoundError:
        os.makedirs(path, exist_ok=True)
