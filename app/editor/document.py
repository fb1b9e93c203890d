"""The file behind an editor: reading it, writing it, and whether the text differs from it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.jdl.limits import DESCRIPTION_MAX


def read_description(path: Path) -> str:
    """The text of a description's file.

    Raises BadRequest, in words for a user, if it cannot be read, is far too large, or is no text.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(DESCRIPTION_MAX + 1)
    except OSError as problem:
        why = (problem.strerror or "input error").lower()
        raise BadRequest(f"{path.name} cannot be read: {why}.", place=str(path.parent)) from problem
    if len(raw) > DESCRIPTION_MAX:
        raise BadRequest(
            f"{path.name} is too large for a description.",
            remedy=f"A description has at most {DESCRIPTION_MAX:,} bytes; drop data on an editor instead.",
        )
    if b"\0" in raw:
        raise BadRequest(f"{path.name} is a binary file, not a description.")
    return raw.decode("utf-8-sig", "replace")


def write_description(path: Path, text: str) -> None:
    """Write a description's file at once or not at all; an existing one keeps its permissions.

    Raises BadRequest, in words for a user, if it cannot be written.
    """
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, fresh = tempfile.mkstemp(prefix=".crossdesk-", dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "surrogatepass"))
        os.chmod(fresh, mode)
        os.replace(fresh, target)
    except OSError as problem:
        why = (problem.strerror or "output error").lower()
        raise BadRequest(
            f"{path.name} was not saved: {why}.", place=str(path.parent), remedy="Save it in another folder."
        ) from problem


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
