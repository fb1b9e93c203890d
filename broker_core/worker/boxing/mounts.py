"""Namespaces and mounts, for a process that has rights in a user namespace of its own. All raise OSError.

Numbers are those of Linux; what is newer than 5.12 is not used.
"""

from __future__ import annotations

import errno
import os
import struct

from broker_core.worker.boxing.kernel_calls import library_call, process_control, system_call

NEW_MOUNTS, NEW_CGROUPS, NEW_IPC, NEW_USERS, NEW_PIDS = 0x20000, 0x2000000, 0x8000000, 0x10000000, 0x20000000
"""What unshare(2) makes anew, and setns(2) enters."""
NO_SET_USER_ID, NO_DEVICES, NO_PROGRAMS = 2, 4, 8
_BIND, _DEEP, _SLAVE = 4096, 16384, 1 << 19
_DETACH = 2
_SET_ATTRIBUTES, _HERE, _RECURSIVE = 442, -100, 0x8000
_READ_ONLY = 1
_DROP_FROM_BOUNDS, _MOST_RIGHTS = 24, 64
_END_WITH_PARENT = 1


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    library_call("unshare", flags)


def be_account(inside: tuple[int, int], outside: tuple[int, int], processes: str = "/proc") -> None:
    """Name the one user and group of a new user namespace: as they are in it, and outside.

    `processes`: where /proc is.
    """
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside[0]} {outside[0]} 1"),
        ("gid_map", f"{inside[1]} {outside[1]} 1"),
    ):
        with open(f"{processes}/self/{name}", "w") as file:
            file.write(text)


def enter(file: int, kind: int) -> None:
    """Be in a namespace that is open as a file, of a kind as of `unshare`."""
    library_call("setns", file, kind)


def hear_from_outside_only() -> None:
    """What is mounted here is not seen outside."""
    library_call("mount", b"none", b"/", None, _SLAVE | _DEEP, None)


def make(kind: bytes, target: bytes, flags: int, settings: bytes | None = None) -> None:
    """Mount a new file system."""
    library_call("mount", kind, target, kind, flags, settings)


def bind(source: bytes, target: bytes) -> None:
    """Show a file or folder, with what is mounted in it, at another place too."""
    library_call("mount", source, target, None, _BIND | _DEEP, None)


def restrict(target: bytes, *, read_only: bool, devices: bool = False, deep: bool = True) -> None:
    """What is mounted at a place gives nobody's rights, and is not written to.

    `deep`: what is mounted in it neither.
    """
    bits = NO_SET_USER_ID | (_READ_ONLY if read_only else 0) | (0 if devices else NO_DEVICES)
    wanted = struct.pack("QQQQ", bits, 0, 0, 0)
    system_call(_SET_ATTRIBUTES, _HERE, target, _RECURSIVE if deep else 0, wanted, len(wanted))


def take_root(target: bytes, before: bytes = b"") -> None:
    """Make what is mounted at a place all there is; what was the root until then is at `before` in it."""
    os.chdir(target)
    library_call("pivot_root", b".", before or b".")
    if not before:
        forget(b".")
    os.chdir(b"/")


def forget(target: bytes) -> None:
    """Take away what is mounted at a place, with what is mounted in it."""
    library_call("umount2", target, _DETACH)


def end_with_parent() -> None:
    """Be killed as soon as the process that made this one is gone."""
    process_control(_END_WITH_PARENT, 9)


def leave_no_rights_to_programs() -> None:
    """A program that this process starts has no rights, also as root. For good."""
    for right in range(_MOST_RIGHTS):
        try:
            process_control(_DROP_FROM_BOUNDS, right)
        except OSError as error:
            if error.errno != errno.EINVAL or not right:
                raise
            return  # there are no more of them
    raise OSError("rights have no end")
