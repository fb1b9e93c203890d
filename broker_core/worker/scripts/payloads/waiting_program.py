"""The process of a program that is to begin later: all is done, and a byte has it execute."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Mapping, Sequence

from broker_core.worker.boxing.call_chain import Call, CallChain
from broker_core.worker.scripts.plain.records import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_NOT_FOUND, _NOT_STARTED = 127, 126
"""Statuses of `env` for a program that is not there, and for one that cannot be started."""
_SHELL = "/bin/sh"
_MAGIC = (b"\x7fELF", b"#!")
"""How files begin that are never scripts for the shell, what the kernel may say of them."""
_DEFAULT = 0
"""As signal(2) has it."""


class WaitingProgram:
    """One that has not begun, in the namespaces and the directory where this process is now."""

    def __init__(
        self, words: list[str], known: Mapping[str, str], files: Sequence[int], reset: Sequence[int]
    ) -> None:
        """`known`: its environment; `files`: standard input, output and error; `reset`: signals that it does
        not ignore though this process does; it blocks those that this one blocks. Raises OSError."""
        words, is_script = _as_executed(words)
        failure = os.fsencode(f"box: {words[0]}: {os.strerror(errno.ENOENT)}\n")
        self._texts = [
            ctypes.create_string_buffer(text)
            for text in (os.fsencode(words[0]), b"", failure, os.fsencode(_SHELL))
        ]
        path, byte, message, shell = map(ctypes.addressof, self._texts)
        environment = [f"{name}={value}" for name, value in known.items()]
        self._lists = [_strings(words), _strings(environment), _strings([_SHELL, *words])]
        arguments, variables, script = map(ctypes.addressof, self._lists)
        # It has a copy of `gate`, so that what it waits for cannot be an end of the pipe.
        waits, self.gate = os.pipe()
        calls: list[Call] = [
            ("setsid", ()),
            *(("dup2", (file, number)) for number, file in enumerate(files)),
            ("read", (waits, byte, 1)),
            # Until then it heeds no more than this process does.
            *(("signal", (number, _DEFAULT)) for number in reset),
            ("execve", (path, arguments, variables)),
            ("execve", (shell, script, variables)) if is_script else ("write", (2, message, len(failure))),
            ("_exit", (_NOT_FOUND,)),
        ]
        try:
            self._chain = CallChain(calls)
            self.pid = self._chain.start()
        except OSError:
            os.close(self.gate)
            raise
        finally:
            os.close(waits)


def _as_executed(words: list[str]) -> tuple[list[str], bool]:
    """The words of a program as they are executed, or of one that tells why not; and whether it is a script
    for the shell if the kernel does not know its kind."""
    path = words[0]
    try:
        os.stat(path)
        if os.path.isdir(path) or not os.access(path, os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        status = _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_STARTED
        failure = f"box: {path}: {error.strerror}"
        return [_SHELL, "-c", 'echo "$0" >&2; exit "$1"', failure, str(status)], False
    try:
        with open(path, "rb") as file:
            return words, not file.read(len(_MAGIC[0])).startswith(_MAGIC)
    except OSError:
        return words, False  # it may be executed and not read


def _strings(words: Sequence[str]) -> ctypes.Array[Any]:
    """As of execve(2)."""
    return (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)
