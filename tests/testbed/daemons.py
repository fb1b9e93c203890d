"""Daemons of test beds: found where Debian puts them, and started in the foreground."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path


def spawn(words: list[str], log: Path, variables: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a daemon of a test bed in the foreground mode of its program."""
    with log.open("ab") as stream:
        return subprocess.Popen(
            [found_program(words[0]) or words[0], *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            # Daemons hand their environment to what they start, by which the guardian knows it.
            env={"PATH": f"{os.defpath}:/usr/sbin:/sbin", "TEST_BED": str(log.parent)}
            | dict(variables or {}),
            start_new_session=True,
        )


def found_program(program: str) -> str | None:
    """Path of a program, with the folders where daemons are; None where it is not installed."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def pause(process: subprocess.Popen[bytes]) -> None:
    """Stop a daemon, until SIGCONT.

    One thread of it takes the signal, and the others go on until that has had a processor: it is waited for.
    """
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
