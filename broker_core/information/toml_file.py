"""Resources written by hand, as TOML: one `[[resources]]` table for each computing element.

    [defaults]
    GlueHostOperatingSystemName = "Debian"

    [[resources]]
    ce = "ce.example.org:2119/jobmanager-slurm-main"
    site = "example"
    GlueCEInfoTotalCPUs = 64
    GlueCEStateFreeCPUs = 12

    [[storage]]
    se = "se.example.org"
    GlueSAStateAvailableSpace = 500_000_000

All names but `ce`, `site` and `se` are attributes; those of `[defaults]` hold for every resource that has no
own. `[[storage]]` tells of storage elements, which expressions find in `other.storage.CloseSEs`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.information.glue.join_glue1 import domain_of
from broker_core.information.glue.join_storage import StorageElements
from broker_core.information.glue.python_values import accepted, attributes
from broker_core.information.glue.refusals import Refusals
from broker_core.information.glue.static_names import STATIC
from broker_core.resources.facts import Facts
from broker_core.system.file_errors import unusable


def described(path: Path, remarks: Refusals) -> tuple[tuple[Facts, ...], StorageElements]:
    """What the file says of computing elements and of storage; raises OSError, and
    BadRequest for what is not this kind of file."""
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8"))
    except ValueError as error:
        raise unusable("The file of resources cannot be read", path, error, "Correct it.") from error
    tables, defaults = document.get("resources"), document.get("defaults", {})
    if not isinstance(tables, list) or not isinstance(defaults, dict):
        raise BadRequest(
            "The file names no resources.",
            place=str(path),
            remedy='Write a table [[resources]] with ce = "host:port/jobmanager-system-queue" for each.',
        )
    named = [_named(number, table, defaults, remarks) for number, table in enumerate(tables, 1)]
    found = tuple(accepted([one for one in named if one is not None], remarks))
    return found, _storage(document.get("storage", []), remarks)


def _storage(tables: Any, remarks: Refusals) -> StorageElements:
    found: StorageElements = {}
    for number, table in enumerate(tables if isinstance(tables, list) else [tables], 1):
        name = table.get("se") if isinstance(table, dict) else None
        if isinstance(name, str):
            found[name] = attributes(name, {key: one for key, one in table.items() if key != "se"}, remarks)
        else:
            remarks.add(f"storage {number}", "refused: it has no se")
    return found


def _named(number: int, table: Any, defaults: dict[str, Any], remarks: Refusals) -> Facts | None:
    given = dict(table) if isinstance(table, dict) else {}
    ce = given.pop("ce", None) or given.get("GlueCEUniqueID")
    if not isinstance(ce, str):
        remarks.add(f"resource {number}", "refused: it has no ce")
        return None
    site = given.pop("site", None)
    values = {"GlueCEUniqueID": ce} | defaults | given
    return Facts(ce, site if isinstance(site, str) and site else domain_of(ce), values, STATIC)
