"""The sites that were added, kept as one file each in the state directory; none of them holds a secret."""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path

from pydantic import ValidationError

from broker_core.errors import Conflict, StorageFull
from broker_core.wire.sites import SiteSpec

log = logging.getLogger("crossdesk.sites")
FILE = "site.json"
MARK = ".mark"
"""File with a site's mark, beside its settings."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz"
_SIGNS = _LETTERS + "23456789"

_ELSEWHERE, _AGREED = "they would not be found", "they were started with the one before"
_FIXED = {
    "directory": ("directory", _ELSEWHERE),
    "user": ("account", _ELSEWHERE),
    "url": ("URL", _ELSEWHERE),
    "cluster": ("cluster", _ELSEWHERE),
    "lease": ("lease", _AGREED),
}
"""Settings on which jobs there depend, and why. A host may be another door to the same home directory."""


class SiteSpecs:
    """Reads and writes the settings of sites: `{directory}/{name}/site.json`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def all(self) -> list[SiteSpec]:
        """The sites that were kept, by name; one that cannot be read is told in the log and left as it is."""
        found = (self._read(path) for path in sorted(self._directory.glob(f"*/{FILE}")))
        return [spec for spec in found if spec is not None]

    def of(self, name: str) -> Path:
        """Folder with everything of one site on this machine."""
        return self._directory / name

    def keep(self, spec: SiteSpec) -> None:
        """Write the settings of a site whole or not at all; raises StorageFull."""
        folder = self.of(spec.name)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(folder / FILE, spec.model_dump_json(indent=1).encode())
        except OSError as error:
            raise _full(error, folder / FILE) from error

    def forget(self, name: str) -> None:
        """Remove the settings of a site; its folder stays, since output of its jobs may lie there."""
        try:
            (self.of(name) / FILE).unlink(missing_ok=True)
        except OSError as error:
            raise _full(error, self.of(name) / FILE) from error

    def mark(self, name: str) -> str:
        """What tells a site's jobs from those of others at the same account; made once, then kept.

        Each site has its own: several can have one home directory, or be one cluster, and a site takes what
        bears its mark and is not known to it for left behind. With another one jobs there would not be found
        and run twice, so one that cannot be read is never made anew: raises Conflict, and StorageFull.
        """
        path = self.of(name) / MARK
        if (known := _known_mark(path)) is not None:
            return known
        mark = secrets.choice(_LETTERS) + "".join(secrets.choice(_SIGNS) for _ in range(7))
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, mark.encode())
        except OSError as error:
            raise _full(error, path) from error
        return mark

    @staticmethod
    def _read(path: Path) -> SiteSpec | None:
        try:
            spec = SiteSpec.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            log.error("The settings of a site cannot be used, correct or remove %s: %s", path, error)
            return None
        if spec.name != path.parent.name:
            log.error("The site in %s calls itself %s; rename the folder or the site", path, spec.name)
            return None
        return spec


def _known_mark(path: Path) -> str | None:
    """The mark that was made before, if any; raises Conflict where it cannot be told."""
    try:
        known = path.read_text("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        known, why = "", (error.strerror or str(error)).lower()
    else:
        why = "it is damaged"
    if known.isascii() and known.isalnum() and known[:1].isalpha():
        return known
    raise Conflict(
        f"The file with the mark of this site's jobs cannot be used: {why}.",
        place=str(path),
        remedy="Restore it. If no job of yours is at the site, remove it; then start the broker again.",
    )


def _write(path: Path, content: bytes) -> None:
    fresh = path.with_suffix(".new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _full(error: OSError, path: Path) -> StorageFull:
    return StorageFull(
        f"The settings of the site cannot be kept: {(error.strerror or str(error)).lower()}.",
        place=str(path),
        remedy="Make room on the disk, then try again.",
    )


def fixed_setting(before: SiteSpec, after: SiteSpec) -> tuple[str, str] | None:
    """A setting that differs and on which the jobs of a site depend, in words, and why they do."""
    changed = (words for field, words in _FIXED.items() if getattr(before, field) != getattr(after, field))
    return next(changed, None)
