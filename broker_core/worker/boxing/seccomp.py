"""A filter of system calls for what Landlock lets through: acting on other processes of the same account."""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Mapping

from broker_core.worker.boxing.kernel_calls import process_control

_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUALS, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _KILL_PROCESS, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | 1
"""`_REFUSE` is EPERM."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where they are in what the kernel shows a filter."""
_X32_BIT = 0x40000000
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

ALWAYS: Mapping[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
}
"""Calls that are refused, with their numbers on x86-64 and ARM64."""
OTHERS: Mapping[str, tuple[int, int, int]] = {
    "prlimit64": (302, 261, 0),
    "setpriority": (141, 140, 1),
    "ioprio_set": (251, 30, 1),
    "sched_setparam": (142, 118, 0),
    "sched_setscheduler": (144, 119, 0),
    "sched_setaffinity": (203, 122, 0),
    "sched_setattr": (314, 274, 0),
    "migrate_pages": (256, 238, 0),
    "move_pages": (279, 239, 0),
}
"""Calls that are refused for any process but the one that calls: numbers as above, then which argument names
the process; 0 is the caller itself."""


def supported() -> bool:
    """True if the numbers of this processor's calls are known."""
    return platform.machine() in _ARCHITECTURES


def forbid_calls_on_others() -> None:
    """Filter the calls of this process and of all that it starts, for good; raises OSError."""
    text = program(platform.machine())
    block = ctypes.create_string_buffer(text, len(text))
    head = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(block))
    process_control(_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(head, len(head)))


def program(machine: str) -> bytes:
    """The filter for a kind of processor, as instructions of the kernel's."""
    column = list(_ARCHITECTURES).index(machine)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUALS, _ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _KILL_PROCESS),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        # Calls by their other numbers would pass every comparison below.
        steps += [_step(0x35, _X32_BIT, 0, 1), _step(_RETURN, _REFUSE)]
    for numbers in ALWAYS.values():
        steps += [_step(_EQUALS, numbers[column], 0, 1), _step(_RETURN, _REFUSE)]
    for *known, argument in OTHERS.values():
        steps += [
            _step(_EQUALS, known[column], 0, 4),
            _step(_LOAD, _ARGUMENTS + 8 * argument),
            _step(_EQUALS, 0, 0, 1),
            _step(_RETURN, _ALLOW),
            _step(_RETURN, _REFUSE),
        ]
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
