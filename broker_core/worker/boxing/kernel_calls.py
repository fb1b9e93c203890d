"""Calls of the kernel that Python has no names for; they raise OSError."""

from __future__ import annotations

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_NO_NEW_PRIVILEGES = 38
"""Option of prctl(2)."""


def system_call(number: int, *arguments: object) -> int:
    """Call the kernel by number; raises OSError."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(_LIBC.syscall(ctypes.c_long(number), *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def library_call(name: str, *arguments: object) -> int:
    """Call a function of the C library by name, which sets errno; raises OSError."""
    words = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    result = int(getattr(_LIBC, name)(*words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def process_control(option: int, *arguments: object) -> None:
    """prctl(2); raises OSError."""
    words = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    if _LIBC.prctl(option, *words, *[ctypes.c_ulong(0)] * (4 - len(words))) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def give_up_new_privileges() -> None:
    """No program that this process starts gets rights from set-user-ID files; cannot be taken back."""
    process_control(_NO_NEW_PRIVILEGES, 1)
