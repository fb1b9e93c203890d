"""Keyrings of the kernel that all processes of an account share in a user namespace.

Programs leave secrets there: Kerberos does in the persistent one where nothing else was configured.
"""

from __future__ import annotations

import os
from contextlib import suppress

from broker_core.worker.boxing.kernel_calls import system_call

_CALLS = {"x86_64": 250, "aarch64": 219}
_CLEAR, _LINK, _PERSISTENT = 7, 8, 22
_OF_PROCESS, _OF_USER, _OF_SESSIONS = -2, -4, -5
_OWN = -1


class Keyrings:
    """Those of this process's account in its user namespace."""

    def __init__(self) -> None:
        """Empties them; raises OSError on a kind of processor whose calls are not known."""
        number = _CALLS.get(os.uname().machine)
        if number is None:
            raise OSError("the calls of this processor are not known")
        self._number: int = number
        self._all = list[int]()
        self._has_persistent = False
        for one in (_OF_USER, _OF_SESSIONS):
            # What is refused here is refused to programs too: the kernel has none, or a container forbids it.
            with suppress(OSError):
                self._call(_CLEAR, one)
                self._all.append(one)
        with suppress(OSError):
            self._clear_persistent()
            self._has_persistent = True
        self.clear()

    def clear(self) -> None:
        """Leave nothing in them. Raises OSError if a program made that impossible."""
        for one in self._all:
            self._call(_CLEAR, one)
        if _OF_SESSIONS in self._all:
            # As the kernel has it: what is in the one is found by the other.
            self._call(_LINK, _OF_USER, _OF_SESSIONS)
        if self._has_persistent:
            self._clear_persistent()

    def _clear_persistent(self) -> None:
        self._call(_CLEAR, self._call(_PERSISTENT, _OWN, _OF_PROCESS))

    def _call(self, *words: int) -> int:
        return system_call(self._number, *words, *[0] * (5 - len(words)))
