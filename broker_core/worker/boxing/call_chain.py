"""A process that makes calls of the C library one after the other in the memory of this one, without Python.

It is a chain of contexts by makecontext(3): each has the next one as what follows, and the last call does not
return. A copy of this process would cost more than all that such a one does.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

from broker_core.worker.boxing.kernel_calls import library_call

_CONTEXT, _STACK = 8192, 32768
"""Bytes; a context of ARM64 has half of it."""
_PIECE = _CONTEXT + _STACK
_SHARED_MEMORY, _CHILD_ENDED = 0x100, 17
"""As clone(2) has them; the last one is SIGCHLD."""

Call = tuple[str, tuple[int, ...]]
"""Function of the C library and what it is called with: numbers and addresses."""


class CallChain:
    """Calls for one process after the other. What they are called with must be there until the process has
    ended, or is another program."""

    def __init__(self, calls: Sequence[Call]) -> None:
        """Raises OSError, or AttributeError where the C library has no such functions."""
        self._library = ctypes.CDLL(None)
        self._memory = ctypes.create_string_buffer(_PIECE * (len(calls) + 1))
        self._start = ctypes.addressof(self._memory)
        for number, (name, words) in enumerate(calls):
            self._prepare(self._start + number * _PIECE, name, words)
        self._top = (self._start + len(self._memory) - 64) & ~63

    def _prepare(self, at: int, name: str, words: tuple[int, ...]) -> None:
        context = ctypes.c_void_p(at)
        if self._library.getcontext(context) != 0:
            raise OSError("this machine has no contexts")
        link, stack = at + _PIECE, at + _CONTEXT
        ctypes.memmove(at + 8, struct.pack("PPiP", link, stack, 0, _STACK), struct.calcsize("PPiP"))
        numbers = [ctypes.c_ulong(one) for one in words]
        function = ctypes.cast(getattr(self._library, name), ctypes.c_void_p)
        self._library.makecontext(context, function, len(words), *numbers)

    def copy(self) -> bytes:
        """What `restore` wants, before a process begins: a chain that has run is no more what it was."""
        return self._memory.raw

    def restore(self, copy: bytes) -> None:
        """Be ready for the next process."""
        ctypes.memmove(self._start, copy, len(copy))

    def start(self, flags: int = 0) -> int:
        """Start a process; its pid. `flags`: more of clone(2). Raises OSError."""
        begin = ctypes.cast(self._library.setcontext, ctypes.c_void_p)
        top, start = ctypes.c_void_p(self._top), ctypes.c_void_p(self._start)
        return library_call("clone", begin, top, ctypes.c_int(_SHARED_MEMORY | _CHILD_ENDED | flags), start)
