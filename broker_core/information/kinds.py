"""Kinds of sources: those built in, and those of installed plug-ins (entry points, CB-UPD-01)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points

from broker_core.errors import BadRequest, CrossDeskError
from broker_core.information.file_updater import FileUpdater
from broker_core.information.ldap.updater import LdapUpdater
from broker_core.information.rgma_updater import RgmaUpdater
from broker_core.information.updater import SourceSettings, Updater

log = logging.getLogger("crossdesk.information")
GROUP = "crossdesk.updaters"
"""Entry points of this group name a kind and give what makes its updaters out of `SourceSettings`."""
Maker = Callable[[SourceSettings], Updater]
BUILT_IN: Mapping[str, Maker] = {"ldap": LdapUpdater, "file": FileUpdater, "rgma": RgmaUpdater}
"""Kind to what makes its updaters. A plug-in of the same name takes the place of a built-in kind."""
DISABLED = frozenset({"rgma"})
"""Kinds that are disabled unless a source of theirs is enabled by name (CB-UPD-03)."""
_METHODS = ("fetch",)


def installed() -> dict[str, EntryPoint]:
    """Kinds of installed plug-ins; nothing of them is loaded yet."""
    return {point.name: point for point in entry_points(group=GROUP)}


def known() -> tuple[str, ...]:
    """All kinds that there are."""
    return tuple(sorted({*BUILT_IN, *installed()}))


def make(settings: SourceSettings) -> Updater:
    """The updater of a source.

    Raises BadRequest with the source, the reason and the remedy if there is none, whatever a plug-in does.
    """
    maker = _maker(settings)
    try:
        updater = maker(settings)
    except CrossDeskError:
        raise
    except Exception as error:
        log.exception("The updater of %s cannot be made", settings.name)
        raise _unusable(settings, f"its plug-in fails: {type(error).__name__}: {error}") from error
    missing = [name for name in _METHODS if not callable(getattr(updater, name, None))]
    if missing:
        raise _unusable(settings, f"what its plug-in makes has no {missing[0]}")
    return updater


def _maker(settings: SourceSettings) -> Maker:
    point = installed().get(settings.kind)
    if point is None:
        if settings.kind in BUILT_IN:
            return BUILT_IN[settings.kind]
        raise BadRequest(
            f"The source {settings.name} has the unknown kind {settings.kind!r}.",
            place=f"sources.{settings.name}",
            remedy=f"Use {', '.join(known())}, or install the plug-in that brings this kind.",
        )
    try:
        found = point.load()
    except Exception as error:
        log.exception("The plug-in %s cannot be loaded", point.value)
        raise _unusable(settings, f"its plug-in {point.value} cannot be loaded: {error}") from error
    if not callable(found):
        raise _unusable(settings, f"its plug-in {point.value} is nothing that makes updaters")
    maker: Maker = found
    return maker


def _unusable(settings: SourceSettings, why: str) -> BadRequest:
    return BadRequest(
        f"The source {settings.name} cannot be used: {why}.",
        place=f"sources.{settings.name}",
        remedy="Correct or update the plug-in, or remove the source from the settings.",
    )
