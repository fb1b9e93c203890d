"""The file behind an editor: reading it, writing it, and whether the text differs from it."""

from __future__ import annotations

import os
import os.path
import tempfile
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from app.description.sandbox_files import as_entry
from app.description.statements import statements
from app.description.values import list_source, strings_of
from broker_core.errors import BadRequest
from broker_core.jdl.limits import DESCRIPTION_MAX
from broker_core.jdl.syntax.edit import set_attribute


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


def is_written(path: Path | None, text: str) -> bool:
    """True if the file at `path` has this text."""
    try:
        return path is not None and path.read_text("utf-8-sig", "replace") == text
    except OSError:
        return False


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


def changed_span(old: str, new: str) -> tuple[int, int, str] | None:
    """The smallest span of `old` to replace, and by what, to get `new`; None if they are equal."""
    if old == new:
        return None
    start = _alike(old, new)
    end = _alike(reversed(old[start:]), reversed(new[start:]))
    return start, len(old) - end, new[start : len(new) - end]


def _alike(one: Iterable[str], other: Iterable[str]) -> int:
    """How many characters agree before the first that differs."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def with_files(text: str, paths: list[Path], base: Path) -> str:
    """The text with these files in its input sandbox; those listed already are not listed twice.

    A sandbox that is not a plain list of names is left as it is.
    """
    listed = listed_files(text)
    if listed is None:
        return text
    known = {os.path.normpath(os.path.join(base, os.path.expanduser(name))) for name in listed}
    new = [as_entry(path, base) for path in paths if os.path.normpath(path) not in known]
    return set_attribute(text, sandbox_name(text), list_source(listed + new)) if new else text


def with_full_names(text: str, base: Path) -> str:
    """The text with its files below `base` named in full, so that it can be used from anywhere.

    Addresses and a sandbox that is not a plain list of names are left as they are.
    """
    listed = listed_files(text)
    if not listed or "inputsandboxbaseuri" in statements(text):
        return text
    full = [name if "://" in name else os.path.join(base, os.path.expanduser(name)) for name in listed]
    return set_attribute(text, sandbox_name(text), list_source(full)) if full != listed else text


def listed_files(text: str) -> list[str] | None:
    """Entries of the input sandbox as written; None if they are not written as plain strings."""
    found = statements(text).get("inputsandbox")
    return strings_of(found.value) if found and found.value else []


def sandbox_name(text: str) -> str:
    """How the text spells the attribute, so that its spelling stays."""
    found = statements(text).get("inputsandbox")
    return found.name if found else "InputSandbox"
