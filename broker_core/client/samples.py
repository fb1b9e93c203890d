"""The sample descriptions that come with the program (CB-APP-04)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker_core.client import package_data as shipped
from broker_core.errors import NotFound

_ABOUT = "sample.toml"


@dataclass(frozen=True, slots=True)
class Sample:
    """A folder of resources/samples: descriptions with their files, ready to be submitted."""

    name: str
    """Name of the folder."""
    title: str
    about: str
    """What it shows, in a sentence or two."""
    folder: Path
    descriptions: tuple[Path, ...]
    """The JDL files; one, except in a collection."""
    values: tuple[str, ...] | None
    """One job for each of these values, or None for a plain job."""
    opens: bool = False
    """Its page opens in the browser as soon as it is there."""

    @property
    def jdl(self) -> Path:
        """Its first description."""
        return self.descriptions[0]

    @property
    def runs_here(self) -> bool:
        """True for a sample that is submitted as a whole; a collection is for reading."""
        return len(self.descriptions) == 1


def samples() -> tuple[Sample, ...]:
    """All samples, in the order in which they are shown."""
    root = shipped.folder("samples")
    found = []
    for folder in root.iterdir():
        if (folder / _ABOUT).is_file():
            about = tomllib.loads((folder / _ABOUT).read_text(encoding="utf-8"))
            found.append((about.get("order", 100), _sample(folder, about)))
    return tuple(one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].name)))


def sample(name: str) -> Sample:
    """The sample of that name; raises NotFound."""
    for one in samples():
        if one.name == name:
            return one
    raise NotFound(
        f"There is no sample {name!r}.", code="unknown_sample", remedy="`crossdesk sample list` names them."
    )


def _sample(folder: Path, about: dict[str, Any]) -> Sample:
    names = about.get("descriptions", ["job.jdl"])
    values = about.get("values")
    return Sample(
        name=folder.name,
        title=about["title"],
        about=about["about"],
        folder=folder,
        descriptions=tuple(folder / name for name in names),
        values=tuple((folder / values).read_text(encoding="utf-8").split()) if values else None,
        opens=about.get("opens", False),
    )
