"""Rules for file names in a job's directory, and for the entries of a sandbox."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

WILDCARDS = frozenset("*?[]{}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_QUERY = re.compile(r"[?#]")
_FETCHABLE = re.compile(r"https?://[^/\s\"'\\`?#]+/[!#$%&()*+,./:;=?@\[\]_~0-9A-Za-z-]+", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


ALL_NEW = "."
"""The output sandbox of a description that names none: all files that the job made. No entry can be so."""


def base_name(path: str) -> str:
    """What stands behind the last `/`."""
    return path.rsplit("/", 1)[-1]


def input_name(entry: str) -> str:
    """Name that an entry of InputSandbox has in the job's directory; of an address without its query."""
    return base_name(_QUERY.split(entry, maxsplit=1)[0]) if is_fetched(entry) else base_name(entry)


def is_fetched(entry: str) -> bool:
    """True for an address that the Job Starter fetches (CB-JS-03)."""
    return scheme(entry) in ("http", "https")


def wrong_address(address: str) -> str:
    """Why the Job Starter cannot fetch from here, as a sentence; empty if it can."""
    if not _FETCHABLE.fullmatch(address):
        return (
            "An address in InputSandbox has a protocol, a host and a path, and no blanks, quotes, backslashes"
            " or characters beyond ASCII; write these as %20 and the like."
        )
    return ""


def scheme(path: str) -> str:
    """The protocol of an address in lower case; empty for a path."""
    found = _SCHEME.match(path) if "://" in path else None
    return found.group(1).lower() if found else ""


def local(path: str) -> str:
    """A path without the `file://` before it."""
    return path[7:] if path[:7].lower() == "file://" else path


def from_base(path: str, base: str) -> str:
    """Where a file of InputSandbox comes from: a name or relative path from `base`, where there is one."""
    if not base or path.startswith("/") or scheme(path):
        return path
    return f"{base.rstrip('/')}/{path}"


def has_wildcard(path: str) -> bool:
    """True if it holds one of * ? [ ] { }."""
    return not WILDCARDS.isdisjoint(path)


def is_listed(path: str, entry: str) -> bool:
    """True for a file that an entry of OutputSandbox names: itself, by wildcards, or by its folder."""
    return entry in (path, ALL_NEW) or fnmatchcase(path, entry) or path.startswith(f"{entry.rstrip('/')}/")


def wrong_output(path: str) -> tuple[str, str] | None:
    """Why a file of the job's directory cannot have this name: code and sentence; None if it can."""
    if path.startswith("/") or "://" in path:
        return "path-escapes", f"{path!r} is not inside the job's directory; give a name relative to it."
    if ".." in path and ".." in path.split("/"):
        return "path-escapes", f"{path!r} leads out of the job's directory; leave out `..`."
    return wrong_name(path)


def wrong_name(path: str) -> tuple[str, str] | None:
    """Why no file can have this name: code and sentence; None if it can."""
    name = path.rsplit("/", 1)[-1]
    if not name or name in (".", ".."):
        return "empty-name", f"{path!r} names no file; write the name of a file behind the `/`."
    if name[0] == "-":
        return (
            "leading-dash",
            f"{name!r} begins with a dash and would be taken for an option; rename the file.",
        )
    if not path.isprintable() and _CONTROL.search(path):
        return "control-character", f"{path!r} holds a line break or control character; rename the file."
    if len(name.encode("utf-8", "surrogatepass")) > 255:
        return (
            "name-too-long",
            f"{name[:40]}... is longer than the 255 bytes that a file name can have; shorten it.",
        )
    return None
