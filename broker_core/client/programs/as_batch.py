"""An interactive description as that of a batch job. Pure."""

from __future__ import annotations

from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Ad, Expression, ListOf, Literal

_OF_INTERACTIVE = (
    "Interactive",
    "InteractiveAgent",
    "InteractiveAgentArguments",
    "InteractiveX11",
    "InteractiveDisplay",
    "ListenerHost",
    "ListenerPort",
)
_STREAMS = (("StdOutput", '"output.txt"'), ("StdError", '"errors.txt"'))
"""What a console would have shown goes into files."""


def batch_changes(text: str) -> dict[str, str]:
    """What makes a batch job of a description: attribute to its new value, empty where it is taken out."""
    ad = parse(text).ad or Ad()
    changes = {name: "" for name in _OF_INTERACTIVE if name.lower() in ad.entries}
    changes |= _job_type(text, ad)
    return changes | {name: file for name, file in _STREAMS if name.lower() not in ad.entries}


def batch_text(text: str) -> str:
    """The description without what makes it interactive; everything else stays as it is written."""
    for name, value in batch_changes(text).items():
        text = set_attribute(text, name, value or None)
    return text


def _job_type(text: str, ad: Ad) -> dict[str, str]:
    """The type without its part "Interactive"; nothing where it has none."""
    entry = ad.entries.get("jobtype")
    if entry is None:
        return {}
    if not isinstance(entry.value, ListOf):
        return {"JobType": ""} if _interactive(entry.value) else {}
    left = [item for item in entry.value.items if not _interactive(item)]
    if len(left) == len(entry.value.items):
        return {}
    written = ", ".join(text[item.start : item.end] for item in left)
    return {"JobType": f"{{{written}}}" if left else ""}


def _interactive(value: Expression) -> bool:
    return isinstance(value, Literal) and str(value.value).lower() == "interactive"
