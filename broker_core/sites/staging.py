"""Putting input files into a job's directory: copies, so that no job can change what the broker keeps."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from broker_core.sites.contract import InputFile


class StagingFailed(Exception):
    """An input file could not be put in place; the text says which, why and what to do."""


def stage(inputs: Sequence[InputFile], directory: str) -> None:
    """Copy files into `directory`; shares blocks where the file system can. Raises StagingFailed."""
    for file in inputs:
        check_name(file.name)
        try:
            _copy(file.path, f"{directory}/{file.name}", 0o700 if file.executable else 0o600)
        except OSError as error:
            raise StagingFailed(_words(file, error)) from error


def check_name(name: str) -> None:
    """Raise StagingFailed for what is no name of a file in a job's directory itself."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise StagingFailed(f"{name!r} is not a name for a file in a job's directory.")


def check_input(file: InputFile) -> None:
    """Raise StagingFailed for a file that could not be sent now."""
    check_name(file.name)
    try:
        with open(file.path, "rb"):
            return
    except OSError as error:
        raise StagingFailed(_words(file, error)) from error


def _copy(source: Path, target: str, mode: int) -> None:
    with open(source, "rb") as reading:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with open(descriptor, "wb", buffering=0) as writing:
            left = os.fstat(reading.fileno()).st_size
            try:
                while left > 0 and (done := os.copy_file_range(reading.fileno(), descriptor, left)):
                    left -= done
            except OSError as error:
                if error.errno not in (
                    errno.EXDEV,
                    errno.EINVAL,
                    errno.ENOSYS,
                    errno.EOPNOTSUPP,
                    errno.EBADF,
                ):
                    raise
            reading.seek(writing.tell())
            shutil.copyfileobj(reading, writing, 1 << 20)


def _words(file: InputFile, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The site's disk is full: the input file {file.name} could not be copied. Free some space."
    if error.errno == errno.ENOENT:
        return f"The content of the input file {file.name} is no longer in the broker's store. Submit again."
    if error.errno == errno.EEXIST:
        return f"Two input files are called {file.name}. Give them different names."
    return f"The input file {file.name} could not be copied: {error.strerror}."
