"""A box by Landlock: rules of the kernel that a process puts on itself and all its children."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from broker_core.worker.boxing.box import Box
from broker_core.worker.boxing.kernel_calls import give_up_new_privileges, system_call
from broker_core.worker.boxing.seccomp import forbid_calls_on_others, supported

NEEDED = 6
"""The first version of Landlock that keeps signals inside (Linux 6.12)."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = (
    1 << bit for bit in (0, 1, 2, 3, 14, 15)
)
_EVERYTHING = (1 << 16) - 1
"""All that version 5 and later can forbid about files."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/pts",
    "/dev/ptmx",
)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("directory", ctypes.c_int32))


def version() -> int:
    """The version of Landlock that the kernel has; 0: none."""
    try:
        return system_call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def trouble() -> str:
    """Why no such box can be made here, in words; empty: one can."""
    if not supported():
        return "seccomp filters are written for other processors than this one's"
    found = version()
    if found == 0:
        return "the kernel has no Landlock"
    return (
        ""
        if found >= NEEDED
        else f"Landlock is of version {found}, and {NEEDED} is the first that holds signals"
    )


def enter(box: Box) -> None:
    """Put this process, and all that it starts, into a box for good; raises OSError."""
    give_up_new_privileges()
    rules = system_call(
        _CREATE_RULESET, ctypes.byref(_Ruleset(_EVERYTHING, 0, _ABSTRACT_SOCKETS | _SIGNALS)),
        ctypes.sizeof(_Ruleset), 0,
    )  # fmt: skip
    try:
        for path in box.read_only():
            _allow(rules, path, _READ)
        _allow(rules, Path("/proc"), _READ_FILE | _READ_DIR)
        for device in filter(os.path.exists, _DEVICES):
            _allow(rules, Path(device), _READ | _WRITE_FILE | _IOCTL_DEV)
        for path in (box.directory, *box.writable):
            _allow(rules, path, _EVERYTHING)
        system_call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    forbid_calls_on_others()


def _allow(rules: int, path: Path, allowed: int) -> None:
    directory = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        mask = _EVERYTHING if path.is_dir() else _OF_FILES
        rule = _PathBeneath(allowed & mask, directory)
        system_call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(directory)
