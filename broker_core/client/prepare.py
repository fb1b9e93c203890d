"""Making a submission ready: reading the description, finding its files, checking both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.client.programs.node_files import Complete, completed
from broker_core.client.sandbox import Found, find, hashed
from broker_core.errors import DescriptionRefused
from broker_core.jdl import check as language
from broker_core.jdl.description import JobDescription
from broker_core.jdl.diagnostics import Diagnostic
from broker_core.jdl.limits import DEFAULT, DESCRIPTION_MAX, Limits
from broker_core.wire import checks
from broker_core.wire.submission import SandboxFile


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file of the input sandbox as it was when it was read."""

    path: Path
    name: str
    sha256: str
    size: int
    executable: bool

    def wire(self) -> SandboxFile:
        """As a submission names it."""
        return SandboxFile(name=self.name, sha256=self.sha256, size=self.size, executable=self.executable)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A description with its files; `description` is None where an error refuses it."""

    text: str
    origin: str
    """The file it was read from, or empty."""
    base_dir: Path
    description: JobDescription | None
    diagnostics: tuple[checks.DiagnosticView, ...]
    files: tuple[PreparedFile, ...]
    whole: str = ""
    """The text that is submitted: with the descriptions of nodes that are in files of their own."""
    values: tuple[str, ...] | None = None
    """The values for which files were looked for; None: those of the description."""

    @property
    def ok(self) -> bool:
        """True if it can be submitted."""
        return self.description is not None and not self.errors

    @property
    def errors(self) -> tuple[checks.DiagnosticView, ...]:
        """What refuses it."""
        return tuple(one for one in self.diagnostics if one.severity == "error")

    @property
    def size(self) -> int:
        """Bytes of the whole input sandbox."""
        return sum(one.size for one in self.files)

    def refused(self) -> DescriptionRefused:
        """The error to raise when it is not `ok`."""
        count = len(self.errors)
        if count == 1 and not self.errors[0].line:  # about the file, or about what it lacks as a whole
            return DescriptionRefused(self.errors[0].message, self.diagnostics, place=self.origin)
        return DescriptionRefused(
            f"The description has {count} error{'s' if count != 1 else ''}.",
            self.diagnostics,
            place=self.origin,
            remedy="Correct what is marked and submit again.",
        )


async def prepare(
    source: Path | str,
    base_dir: Path | str | None = None,
    *,
    limits: Limits | None = None,
    values: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Prepared:
    """Read a description (a path, or its text), find and hash its files and check everything.

    Files are looked for relative to `base_dir`: the description's own folder, or for a text the current one.
    `values` stand for `_PARAM_` in the names of files; None: those that the description gives. Nothing is
    raised for what is wrong with the input: it becomes diagnostics. `progress` gets bytes hashed and bytes in
    all, in another thread.
    """
    return await asyncio.to_thread(
        prepare_now, source, base_dir, limits=limits, values=values, progress=progress
    )


def prepare_now(
    source: Path | str,
    base_dir: Path | str | None = None,
    *,
    limits: Limits | None = None,
    values: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Prepared:
    """`prepare`, in the calling thread."""
    origin = str(source) if isinstance(source, Path) else ""
    base = Path(base_dir) if base_dir is not None else _home_of(source)
    text, unreadable = _text(source)
    if unreadable is not None:
        return Prepared("", origin, base, None, (unreadable,), ())
    limits = limits or DEFAULT
    given = None if values is None else tuple(values)
    complete = completed(text, base, limits)
    found = find(complete.text, base, values)
    checked = language.check(complete.text, files=found.facts, limits=limits)
    shown = [_wire(one) for one in checked.diagnostics if not _told_better(one, found.diagnostics)]
    shown = _in_the_text([*shown, *found.diagnostics], text, complete)
    files: tuple[PreparedFile, ...] = ()
    if checked.description is not None and not any(one.severity == "error" for one in shown):
        files, late = _hash(found, Path(checked.description.executable).name, progress)
        shown += late
    ordered = tuple(sorted(shown, key=lambda one: (one.line, one.column)))
    return Prepared(text, origin, base, checked.description, ordered, files, complete.text, given)


def _in_the_text(
    shown: list[checks.DiagnosticView], text: str, complete: Complete
) -> list[checks.DiagnosticView]:
    """What to show of the text as it was written, where nodes of it were written in."""
    if complete.text == text:
        return [*shown, *complete.diagnostics]
    own = [_wire(one) for one in language.check(text).diagnostics]
    known = {(one.code, one.message) for one in own}
    named = {one.code for one in complete.diagnostics}
    # The rest is about what was written in, so it has no place in this text.
    rest = [one for one in shown if (one.code, one.message) not in known and one.code not in named]
    nowhere = {"line": 0, "column": 0, "start": 0, "end": 0, "fixes": []}
    return [*own, *complete.diagnostics, *(one.model_copy(update=nowhere) for one in rest)]


def _home_of(source: Path | str) -> Path:
    return source.absolute().parent if isinstance(source, Path) else Path.cwd()


def _text(source: Path | str) -> tuple[str, checks.DiagnosticView | None]:
    if isinstance(source, str):
        return source, None
    try:
        with source.open("rb") as stream:
            raw = stream.read(DESCRIPTION_MAX + 1)
    except FileNotFoundError:
        return "", _whole("description-unreadable", "There is no such file.")
    except OSError as error:
        return "", _whole("description-unreadable", f"The description cannot be read: {error.strerror}.")
    if len(raw) > DESCRIPTION_MAX:
        words = f"The file is larger than {DESCRIPTION_MAX:,} bytes, which no description needs to be."
        return "", _whole("description-too-large", words)
    try:
        return raw.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        words = f"The file is no text: byte {error.start} is not UTF-8."
        return "", _whole("description-not-text", words)


def _whole(code: str, message: str) -> checks.DiagnosticView:
    return checks.DiagnosticView(severity="error", code=code, message=message)


def _told_better(one: Diagnostic, others: tuple[checks.DiagnosticView, ...]) -> bool:
    """True if the look at the disk says the same about the same characters, and why."""
    return any((one.code, one.start, one.end) == (other.code, other.start, other.end) for other in others)


def _wire(one: Diagnostic) -> checks.DiagnosticView:
    fixes = [
        checks.FixView(title=fix.title, start=fix.start, end=fix.end, text=fix.text) for fix in one.fixes
    ]
    return checks.DiagnosticView(
        severity=one.severity,
        code=one.code,
        message=one.message,
        attribute=one.attribute,
        line=one.line,
        column=one.column,
        start=one.start,
        end=one.end,
        fixes=fixes,
    )


def _hash(
    found: Found, program: str, progress: Callable[[int, int], None] | None
) -> tuple[tuple[PreparedFile, ...], list[checks.DiagnosticView]]:
    total = sum(one.size for one in found.files)
    done = 0
    files, late = [], []

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done, total)

    for one in found.files:
        try:
            sha256, size = hashed(one.path, step)
        except OSError as error:
            late.append(_whole("sandbox-file-unreadable", f"{one.path} cannot be read: {error.strerror}."))
        else:
            runs = one.executable or program in (one.name, one.written)
            files.append(PreparedFile(one.path, one.name, sha256, size, runs))
    return tuple(files), late
