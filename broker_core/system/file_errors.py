"""Files that cannot be read or written, in words for people."""

from __future__ import annotations

import errno
import zlib

from broker_core.errors import BadRequest

_REMEDIES = {
    errno.ENOENT: "Check the name, and the folder it is looked for in.",
    errno.EISDIR: "Name a file, not a folder.",
    errno.ENOTDIR: "Check the name: a part of its path is no folder.",
    errno.EACCES: "Check the permissions of the file and its folder.",
    errno.ENOSPC: "Make room on the disk.",
}


def unusable(what: str, path: object, problem: Exception, remedy: str = "") -> BadRequest:
    """The error for a file. `what`: what does not go, e.g. `The trace cannot be read`; `remedy` is for
    contents that are wrong, the system's own reasons have theirs."""
    known = _REMEDIES.get(problem.errno or 0, "") if isinstance(problem, OSError) else ""
    return BadRequest(
        f"{what}: {_words(problem)}.",
        place=str(path),
        remedy=known or remedy or "Check the file.",
        code="file_unreadable",
    )


def _words(problem: Exception) -> str:
    if isinstance(problem, UnicodeDecodeError):
        line = bytes(problem.object[: problem.start]).count(b"\n") + 1
        return f"line {line} is no text in UTF-8"
    if isinstance(problem, EOFError | zlib.error):
        return "it is damaged or cut short"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror[:1].lower() + problem.strerror[1:]
    return str(problem).rstrip(".")
