"""The first process of a new pid namespace, made without a copy of this one: that costs more than all mounts.

It shares the memory of this process and never runs Python.
"""

from __future__ import annotations

import ctypes
import os
import select

from broker_core.worker.boxing.call_chain import CallChain

_NEW_PIDS = 0x20000000
"""As clone(2) has it."""
_END_WITH_PARENT, _KILL = 1, 9
_IGNORE, _CHILD_ENDED = 1, 17
_READY = b"."


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
        self._chain = CallChain(
            (
                ("prctl", (_END_WITH_PARENT, _KILL, 0, 0, 0)),
                ("signal", (_CHILD_ENDED, _IGNORE)),
                ("mount", (kind, at, kind, flags, 0)),
                ("write", (tells, ready, len(_READY))),
                ("pause", ()),
            )
        )
        self._fresh = self._chain.copy()

    def start(self) -> tuple[int, int]:
        """Start one, and wait until it has mounted; its pid, and a descriptor of it. Raises OSError."""
        self._chain.restore(self._fresh)
        pid = self._chain.start(_NEW_PIDS)
        process = os.pidfd_open(pid)
        if self._ready not in select.select([self._ready, process], [], [])[0]:
            raise OSError("the first process of a box has ended")
        os.read(self._ready, len(_READY))
        return pid, process
