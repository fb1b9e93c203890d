"""A description made a sweep, and back."""

from __future__ import annotations

from app.description.statements import statements
from app.description.values import list_source, string_source, strings_of
from broker_core.jdl.syntax.edit import set_attribute

_SWEEP = "Parametric"


def with_values(text: str, source: str | None) -> str:
    """The text with these values of a sweep, and with the kind of job that goes with them; None: one job."""
    found = statements(text).get("jobtype")
    kinds = strings_of(found.value) if found is not None and found.value else []
    if kinds is None:
        return set_attribute(text, "Parameters", source)  # an expression: whoever wrote it knows better
    others = [one for one in kinds if one.lower() not in (_SWEEP.lower(), "normal")]
    wanted = [_SWEEP, *others] if source is not None else others
    if source is None or not any(one.lower() == _SWEEP.lower() for one in kinds):
        kind = list_source(wanted) if len(wanted) > 1 else string_source(wanted[0]) if wanted else None
        text = set_attribute(text, "JobType", kind)
    return set_attribute(text, "Parameters", source)
