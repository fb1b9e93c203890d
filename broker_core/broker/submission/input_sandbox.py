"""The input sandbox of a submission: every file there, named safely, and not too big (CB-UAM-07, 08)."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from broker_core.errors import BadRequest, Conflict
from broker_core.jdl.description import JobDescription
from broker_core.jdl.names import base_name, has_wildcard, scheme, wrong_name
from broker_core.launching.files import FileStore
from broker_core.wire.submission import SandboxFile


def check_sandbox(
    description: JobDescription, files: Sequence[SandboxFile], store: FileStore, limit: int, place: str
) -> None:
    """Refuse a sandbox whose files are missing, misnamed, doubled or too big; `place` names the item.

    Raises BadRequest, or Conflict (code `files_missing`) if content has to be uploaded first.
    """
    _names(files, place)
    size = _size(files, store, place)
    if size > limit:
        raise BadRequest(
            f"The input sandbox has {size:,} bytes; at most {limit:,} are accepted.",
            place=place,
            code="sandbox_too_big",
            remedy="Fetch larger data from storage during the run.",
        )
    names = {file.name for file in files}
    for entry in description.input_sandbox:
        if scheme(entry) in ("", "file") and not _sent(base_name(entry), names):
            raise BadRequest(
                f"The description names {entry!r} in InputSandbox, but it was not sent.",
                place=place,
                code="sandbox_file_not_sent",
                remedy="Submit it with the file, or take it out of InputSandbox.",
            )


def _names(files: Sequence[SandboxFile], place: str) -> None:
    seen: set[str] = set()
    for file in files:
        wrong = wrong_name(file.name)
        if wrong or "/" in file.name:
            sentence = wrong[1] if wrong else f"{file.name!r} is not a plain file name."
            raise BadRequest(sentence, place=place, code="bad_file_name")
        if file.name in seen:
            raise BadRequest(f"Two files are called {file.name}.", place=place, code="duplicate_file_name")
        seen.add(file.name)


def _size(files: Sequence[SandboxFile], store: FileStore, place: str) -> int:
    """Bytes of all files as they are in the store."""
    missing = [file for file in files if not store.has(file.sha256)]
    if missing:
        raise Conflict(
            f"The content of {missing[0].name} has not been uploaded"
            + (f", nor that of {len(missing) - 1} more files." if len(missing) > 1 else "."),
            place=place,
            code="files_missing",
            remedy="Upload it and submit again with the same key.",
        )
    return sum(store.path(file.sha256).stat().st_size for file in files)


def _sent(name: str, names: set[str]) -> bool:
    if not has_wildcard(name):
        return name in names or "_PARAM_" in name
    return name in names or any(fnmatchcase(sent, name) for sent in names) or "{" in name
