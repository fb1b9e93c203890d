"""Synthetic sites from a file: TOML with one table `[[sites]]` for each, or LDIF of an information system."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.information import resource_file
from broker_core.resources.facts import Facts
from broker_core.simulation.site import SiteFacts
from broker_core.system.file_errors import unusable

_TEXTS: Mapping[str, tuple[type, str]] = {"name": (str, "a text"), "attributes": (dict, "a table")}
_AT_LEAST = {"cpus": 1, "max_queue": 0, "busy": 0}
_CPUS = "GlueCEInfoTotalCPUs"
_EXAMPLE = 'Each site is a table: [[sites]], then name = "ifca", cpus = 20.'


def read_sites(path: Path) -> tuple[SiteFacts, ...]:
    """Read the sites of a file; raises BadRequest with the site and the value that is wrong."""
    if path.suffix.lower() == ".ldif":
        return _published(path)
    try:
        tables = tomllib.loads(path.read_text()).get("sites", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise unusable("The sites cannot be read", path, problem, _EXAMPLE) from None
    if not isinstance(tables, list) or not tables:
        raise BadRequest("The file has no sites.", place=str(path), remedy=_EXAMPLE)
    sites = tuple(_site(table, f"{path}, site {number}") for number, table in enumerate(tables, 1))
    names = [site.name for site in sites]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadRequest(f"Two sites are called {twice}.", place=str(path), remedy="Give each its own name.")
    return sites


def _published(path: Path) -> tuple[SiteFacts, ...]:
    """The computing elements that an information system told of, empty and with no delays."""
    found = tuple(site for facts in resource_file.read(path).facts if (site := _as_published(facts)))
    if not found:
        raise BadRequest(
            "The file has no computing element with CPUs.",
            place=str(path),
            remedy="Give the entries of a CE with GlueCEInfoTotalCPUs above 0.",
        )
    return found


def _as_published(facts: Facts) -> SiteFacts | None:
    cpus = facts.attributes.get(_CPUS)
    if not isinstance(cpus, int) or cpus < 1:
        return None
    return SiteFacts(facts.ce, cpus, attributes=facts.attributes, known_as=facts.ce)


def _site(table: Any, place: str) -> SiteFacts:
    if not isinstance(table, dict):
        raise BadRequest("This is no table.", place=place, remedy=_EXAMPLE)
    known = [field.name for field in fields(SiteFacts)]
    for name, value in table.items():
        if name not in known:
            raise BadRequest(f"A site has no {name!r}.", place=place, remedy=f"It has {', '.join(known)}.")
        _check(name, value, place)
    for name in ("name", "cpus"):
        if name not in table:
            raise BadRequest(f"The {name} of the site is missing.", place=place, remedy=_EXAMPLE)
    return SiteFacts(**table)


def _check(name: str, value: Any, place: str) -> None:
    if name in _TEXTS:
        if not isinstance(value, _TEXTS[name][0]):
            raise BadRequest(f"{name} = {value!r} is not {_TEXTS[name][1]}.", place=place, remedy=_EXAMPLE)
        return
    whole = name in _AT_LEAST
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        what = "a whole number" if whole else "a number"
        raise BadRequest(f"{name} = {value!r} is not {what}.", place=place, remedy=_EXAMPLE)
    if not _AT_LEAST.get(name, 0) <= value < float("inf") or (name == "speed" and not value):
        raise BadRequest(f"{name} = {value} is out of range.", place=place, remedy=_EXAMPLE)
