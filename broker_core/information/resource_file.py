"""Files that describe resources, whatever their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.information import ldif_file, toml_file
from broker_core.information.glue.join_storage import StorageElements
from broker_core.information.glue.refusals import Refusals
from broker_core.information.updater import SourceAnswer
from broker_core.resources.facts import Facts
from broker_core.system.file_errors import unusable

FORMATS: Mapping[str, Callable[[Path, Refusals], tuple[tuple[Facts, ...], StorageElements]]] = {
    ".ldif": ldif_file.described,
    ".toml": toml_file.described,
}
"""Ending of the name to the reader of the format."""


def read(path: Path) -> SourceAnswer:
    """The resources of a file, with what of it was refused. Blocks for as long as the file is large.

    Raises BadRequest for a file that cannot be read, or is of no known format.
    """
    reader = FORMATS.get(path.suffix.lower())
    if reader is None:
        raise BadRequest(
            "The format of the file of resources is not known.",
            place=str(path),
            remedy="Give it a name that ends with " + " or ".join(FORMATS) + ".",
        )
    remarks = Refusals()
    try:
        found, storage = reader(path, remarks)
    except OSError as error:
        raise unusable("The file of resources cannot be read", path, error) from error
    told = tuple(remarks.shown)
    return SourceAnswer(found, remarks=told, refused=remarks.count, checked=True, storage=storage)
