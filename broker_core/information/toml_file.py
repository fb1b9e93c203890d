"""Resources written by hand, as TOML: one `[[resources]]` table for each computing element.

    [defaults]
    GlueHostOperatingSystemName = "Debian"

    [[resources]]
    ce = "ce.example.org:2119/jobmanager-slurm-main"
    site = "example"
    GlueCEInfoTotalCPUs = 64
    GlueCEStateFreeCPUs = 12

All names but `ce` and `site` are attributes; those of `[defaults]` hold for every resource that has no own.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.file_errors import unusable
from broker_core.information.join_glue1 import domain_of
from broker_core.information.python_values import accepted
from broker_core.information.remarks import Remarks
from broker_core.information.static_names import STATIC
from broker_core.resources.facts import Facts


def facts(path: Path, remarks: Remarks) -> tuple[Facts, ...]:
    """What the file says; raises OSError, and BadRequest for what is not this kind of file."""
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
    return tuple(accepted([one for one in named if one is not None], remarks))


def _named(number: int, table: Any, defaults: dict[str, Any], remarks: Remarks) -> Facts | None:
    given = dict(table) if isinstance(table, dict) else {}
    ce = given.pop("ce", None) or given.get("GlueCEUniqueID")
    if not isinstance(ce, str):
        remarks.add(f"resource {number}", "refused: it has no ce")
        return None
    site = given.pop("site", None)
    attributes = {"GlueCEUniqueID": ce} | defaults | given
    return Facts(ce, site if isinstance(site, str) and site else domain_of(ce), attributes, STATIC)
