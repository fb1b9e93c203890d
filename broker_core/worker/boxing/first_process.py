"""The first process of a new pid namespace, made without a copy of this one: that costs more than all mounts.

It shares the memory of this process and never runs Python. It is a chain of calls of the C library by
makecontext(3): each context has the next one as what follows, and the last call does not return.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct

from broker_core.worker.boxing.kernel_calls import library_call

_CONTEXT, _STACK = 8192, 32768
"""Bytes; a context of ARM64 has half of it."""
_PIECE = _CONTEXT + _STACK
_SHARED_MEMORY, _NEW_PIDS, _CHILD_ENDED = 0x100, 0x20000000, 17
"""As clone(2) has them; the last one is SIGCHLD."""
_END_WITH_PARENT, _KILL = 1, 9
_IGNORE = 1
_READY = b"."

Call = tuple[str, tuple[int, ...]]
"""Function of the C library and what it is called with: numbers and addresses."""


class FirstProcess:
    """Starts one after the other, each of which mounts /proc, and then waits to be killed.

    Of its children that nobody waits for nothing is left when they end.
    """

    def __init__(self, target: bytes, flags: int) -> None:
        """`target`, `flags`: where /proc is mounted, and how as of mount(2).

        Raises OSError, or AttributeError where the C library has no such functions.
        """
        self._ready, tells = os.pipe()
        self._texts = [ctypes.create_string_buffer(text) for text in (b"proc", target, _READY)]
        kind, at, ready = map(ctypes.addressof, self._texts)
        calls: tuple[Call, ...] = (
            ("prctl", (_END_WITH_PARENT, _KILL, 0, 0, 0)),
            ("signal", (_CHILD_ENDED, _IGNORE)),
            ("mount", (kind, at, kind, flags, 0)),
            ("write", (tells, ready, len(_READY))),
            ("pause", ()),
        )
        self._library = ctypes.CDLL(None)
        self._memory = ctypes.create_string_buffer(_PIECE * (len(calls) + 1))
        start = ctypes.addressof(self._memory)
        for number, (name, words) in enumerate(calls):
            self._prepare(start + number * _PIECE, name, words)
        self._top = (start + len(self._memory) - 64) & ~63
        # A chain that has run is no more what it was.
        self._fresh = self._memory.raw

    def _prepare(self, at: int, name: str, words: tuple[int, ...]) -> None:
        context = ctypes.c_void_p(at)
        if self._library.getcontext(context) != 0:
            raise OSError("this machine has no contexts")
        link, stack = at + _PIECE, at + _CONTEXT
        ctypes.memmove(at + 8, struct.pack("PPiP", link, stack, 0, _STACK), struct.calcsize("PPiP"))
        numbers = [ctypes.c_ulong(one) for one in words]
        function = ctypes.cast(getattr(self._library, name), ctypes.c_void_p)
        self._library.makecontext(context, function, len(words), *numbers)

    def start(self) -> tuple[int, int]:
        """Start one, and wait until it has mounted; its pid, and a descriptor of it. Raises OSError."""
        start = ctypes.addressof(self._memory)
        ctypes.memmove(start, self._fresh, len(self._fresh))
        begin = ctypes.cast(self._library.setcontext, ctypes.c_void_p)
        flags = ctypes.c_int(_SHARED_MEMORY | _NEW_PIDS | _CHILD_ENDED)
        pid = library_call("clone", begin, ctypes.c_void_p(self._top), flags, ctypes.c_void_p(start))
        process = os.pidfd_open(pid)
        if self._ready not in select.select([self._ready, process], [], [])[0]:
            raise OSError("the first process of a box has ended")
        os.read(self._ready, len(_READY))
        return pid, process
